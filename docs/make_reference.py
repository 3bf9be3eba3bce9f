"""Writes the command line's help into the README; ``--check`` fails where it has drifted."""

import re
import sys
from pathlib import Path

import typer
from typer.testing import CliRunner

from toolscope_core.cli import app

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- cli: written by docs/make_reference.py -->", "<!-- /cli -->"


def reference() -> str:
    """The help of every command, as the README shows it."""
    runner = CliRunner()
    group = typer.main.get_command(app)
    parts = []
    for name in sorted(getattr(group, "commands", {})):
        told = runner.invoke(app, [name, "--help"], prog_name="toolscope", terminal_width=90)
        lines = (line.rstrip() for line in told.output.strip().splitlines())
        text = "\n".join(lines).replace("Usage: toolscope", "Usage: python -m toolscope_core")
        parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts)


def filled(readme: str) -> str:
    """The README with today's reference between the marks."""
    between = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    return between.sub(lambda _: f"{BEGIN}\n\n{reference()}\n\n{END}", readme)


if __name__ == "__main__":
    before = README.read_text("utf-8")
    after = filled(before)
    if "--check" in sys.argv and before != after:
        sys.exit("README.md has drifted from the command line; run `make docs`")
    README.write_text(after, "utf-8")

"""Writes the help of commands into docs/cli.md and the table of actions into its page of
docs/decisions; ``--check`` fails if either differs from the program.
"""

import re
import sys
from pathlib import Path

import typer
from typer.testing import CliRunner

from toolscope_core.cli import app
from toolscope_core.decisions.actions import ACTIONS

CLI = Path(__file__).with_name("cli.md")
DECISIONS = Path(__file__).with_name("decisions") / "021-decisions-are-appended.md"


def reference() -> str:
    """The help of every command, as Markdown."""
    runner = CliRunner()
    group = typer.main.get_command(app)
    parts = []
    for name in sorted(getattr(group, "commands", {})):
        help_page = runner.invoke(app, [name, "--help"], prog_name="toolscope", terminal_width=90)
        lines = (line.rstrip() for line in help_page.output.strip().splitlines())
        text = "\n".join(lines).replace("Usage: toolscope", "Usage: python -m toolscope_core")
        parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts)


def actions() -> str:
    """The table of actions, as Markdown."""
    rows = [
        f"| `{action}` | {rule.addresses} | {rule.implies} | {rule.undo} |"
        for action, rule in ACTIONS.items()
    ]
    head = "| action | addresses | implies | its undo |\n|---|---|---|---|"
    intro = "Every one is a row of the log, and `merge --decisions` replays every one."
    return "\n".join([intro, "", head, *rows])


def filled(text: str, mark: str, content: str) -> str:
    """The text with ``content`` between its marks. Raises ``ValueError`` if a mark is missing."""
    begin, end = f"<!-- {mark}: written by docs/make_reference.py -->", f"<!-- /{mark} -->"
    if begin not in text or end not in text:
        raise ValueError(f"no place for {mark!r}: put {begin} and {end} where it belongs")
    between = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    return between.sub(lambda _: f"{begin}\n\n{content}\n\n{end}", text)


PARTS = ((CLI, "cli", reference), (DECISIONS, "actions", actions))
"""Each generated part: its file, its mark and the function that writes it."""

if __name__ == "__main__":
    for path, mark, written in PARTS:
        before = path.read_text("utf-8")
        after = filled(before, mark, written())
        if "--check" in sys.argv and before != after:
            sys.exit(f"{path.name} differs from the program; run `make docs`")
        path.write_text(after, "utf-8")

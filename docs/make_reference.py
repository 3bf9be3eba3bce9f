"""Write the generated parts of the documents.

These are the help of the commands in docs/commands.md, the checks for CI in docs/cli.md, the kinds
of changes in docs/changes.md, the table of actions on its page of docs/decisions, and the rules of
targets in docs/targets.md. With ``--check``, it fails if one of them differs from the program.
"""

import re
import sys
from pathlib import Path

import typer
from typer.testing import CliRunner

from toolscope_core.catalog.formats.format_table import MATRIX, target_named
from toolscope_core.catalog.formats.record_format import Rules, Target
from toolscope_core.check.change_kinds import CHANGE_KINDS
from toolscope_core.check.comparison_report import CHECKS
from toolscope_core.cli import app
from toolscope_core.decisions.forms import ACTIONS

CLI = Path(__file__).with_name("cli.md")
COMMANDS = Path(__file__).with_name("commands.md")
CHANGES = Path(__file__).with_name("changes.md")
TARGETS = Path(__file__).with_name("targets.md")
DECISIONS = Path(__file__).with_name("decisions") / "024-decisions-are-appended.md"


def reference() -> str:
    """The help of every command, as Markdown."""
    runner = CliRunner()
    group = typer.main.get_command(app)
    parts = []
    for name in sorted(getattr(group, "commands", {})):
        help_page = runner.invoke(app, [name, "--help"], prog_name="toolscope", terminal_width=90)
        lines = (line.rstrip() for line in help_page.output.strip().splitlines())
        text = "\n".join(lines)
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


def checks() -> str:
    """The values that ``check --fail-on`` takes, as a Markdown table."""
    rows = (f"| `{one.name}` | {one.help} |" for one in CHECKS if one.singular)
    return "\n".join(["| `--fail-on` | fails for |", "|---|---|", *rows])


def changes() -> str:
    """The kinds of changes, as a Markdown table."""
    rows = (
        f"| `{one.name}` | {one.level} | {one.effect} | {one.reason} | {one.example} |"
        for one in CHANGE_KINDS.values()
    )
    head = "| kind | level | what it does | why this level | example |\n|---|---|---|---|---|"
    return "\n".join([head, *rows])


def targets() -> str:
    """The rules of each target, as a Markdown table."""
    columns = (
        *("target", "tools", "name", "description", "parameters"),
        *("instructions of a server", "source, as of"),
    )
    head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    return "\n".join([head, *(_target_row(target_named(name)) for name in MATRIX)])


def _target_row(target: Target) -> str:
    rules = target.rules
    counted = f", with `{rules.prefix}` before it" if rules.prefix else ""
    own = f", {rules.own_tools} of its own among them" if rules.own_tools else ""
    cells = (
        [target.title],
        [f"at most {rules.most_tools}{own}" if rules.most_tools else ""],
        [
            f"`{rules.name_rule}`" if rules.name_rule else "",
            f"up to {rules.longest_name} characters{counted}" if rules.longest_name else "",
            {"toolset": "each once", "server": "each once in a server", "none": ""}[rules.unique],
            "dots count as `_`" if rules.dots_fold else "",
        ],
        [f"up to {rules.longest_description:,} characters" if rules.longest_description else ""],
        _of_parameters(rules),
        [f"up to {rules.longest_instructions:,} bytes" if rules.longest_instructions else ""],
        [f"<{target.source}>", target.as_of] if target.source else ["ours"],
    )
    shown = ("; ".join(filter(None, cell)).replace("|", "&#124;") for cell in cells)
    return f"| {' | '.join(shown)} |"


def _of_parameters(rules: Rules) -> list[str]:
    depth = "at the top" if rules.top_parameters else "at every depth"
    return [
        f"names `{rules.parameter_rule}` {depth}" if rules.parameter_rule else "",
        "`properties`, be it none" if rules.declared_object else "",
        "no `anyOf`, `oneOf`, `allOf`, `enum`, `not` at the top" if rules.whole_object else "",
        "`items` in every array" if rules.typed_items else "",
        "what the SDKs of MCP read" if rules.mcp_record else "",
        "with `strict: true` what strict mode takes" if rules.strict_mode else "",
    ]


def filled(text: str, mark: str, content: str) -> str:
    """The text with ``content`` between the two marks. Raises ``ValueError`` if a
    mark is missing.
    """
    begin, end = f"<!-- {mark}: written by docs/make_reference.py -->", f"<!-- /{mark} -->"
    if begin not in text or end not in text:
        raise ValueError(f"no place for {mark!r}: put {begin} and {end} where it belongs")
    between = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    return between.sub(lambda _: f"{begin}\n\n{content}\n\n{end}", text)


PARTS = (
    (COMMANDS, "cli", reference),
    (CLI, "checks", checks),
    (CHANGES, "changes", changes),
    (DECISIONS, "actions", actions),
    (TARGETS, "targets", targets),
)
"""The generated parts. Each has its file, its mark, and the function that writes it."""

if __name__ == "__main__":
    for path, mark, written in PARTS:
        before = path.read_text("utf-8")
        after = filled(before, mark, written())
        if "--check" in sys.argv and before != after:
            sys.exit(f"{path.name} differs from the program; run `make docs`")
        path.write_text(after, "utf-8")

"""Compares a merge with the files of a person's own clients.

It reports servers that the files do not have under these names. It also rewrites permission rules
that would match nothing after the merge.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from toolscope_core.catalog.clients.configurations import configured_servers
from toolscope_core.catalog.clients.permission_rules import missing_servers, settings_after
from toolscope_core.cli.terminal import say, say_error
from toolscope_core.files.folders import read_named
from toolscope_core.mcp.servers.server_definitions import parsed_configuration
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import enumerated, listed, quantity
from toolscope_core.model.plan import MergePlan

_NAMED = 8

OwnFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--settings",
        help="Your client's configuration, or its settings with permission rules; repeatable. "
        "Reports the servers that have a different name there and the rules that would match "
        "nothing, and writes the settings with new rules beside the bundle.",
    ),
]


def read_own_files(paths: Sequence[Path]) -> dict[Path, Any]:
    """The files as parsed values.

    Raises ``ConfigError`` if a file cannot be read, or if two files have the same name, because
    both would be written under that name.
    """
    names = [path.name for path in paths]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"two files are named {twice[0]}; pass them in separate runs")
    return {
        path: parsed_configuration(path.name, read_named(path, "check the path")) for path in paths
    }


def tell_own_files(plan: MergePlan, values: dict[Path, Any], out: Path) -> None:
    """Report what the merge does to each file, and write settings with new rules beside ``out``."""
    for path, value in values.items():
        servers = configured_servers(value) if isinstance(value, dict) else ()
        after = settings_after(plan, value) if isinstance(value, dict) else None
        if not servers and after is None:
            say_error(f"{path} has neither servers nor permission rules")
        if servers and (missing := missing_servers(plan, servers)):
            say_error(
                f"{path} has no servers with these names: {listed(missing, _NAMED)}; what is "
                "exported for them has no effect there"
            )
        if after is None:
            continue
        new = out.with_name(f"{out.name}-{path.name}")
        text = json.dumps(after.settings, ensure_ascii=False, indent=2)
        new.write_text(f"{text}\n", "utf-8")
        say(f"{path}: {quantity(len(after.idle), 'rule')} would match nothing; new rules: {new}")
        for rule in after.idle:
            becomes = enumerated(rule.becomes) or "nothing"
            say(f"    {rule.list} {rule.rule} → {becomes}: {rule.why}")

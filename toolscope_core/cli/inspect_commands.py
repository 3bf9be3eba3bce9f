"""The commands that show a catalog's contents and the changes between two catalogs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from toolscope_core.catalog.isolation import read_files
from toolscope_core.catalog.tokens import ESTIMATE, tokenizer, tool_tokens, unused_tokens
from toolscope_core.check import version_changes
from toolscope_core.check.policy import read_policy
from toolscope_core.cli.advising import advice_json, advice_on, some, tell_advice
from toolscope_core.cli.machine_command import ASKS, MachineOptions, show_machine
from toolscope_core.cli.options import HERE, AsJson, EngineChoice, OwnQueries, PolicyFile
from toolscope_core.cli.terminal import command, fail_for, progress, say, say_json
from toolscope_core.judging.implied_servers import implied_servers
from toolscope_core.merging.server_choice import Advice
from toolscope_core.model.catalog import (
    SEVERITIES,
    Catalog,
    Finding,
    Severity,
    severity_counts,
    worst_first,
)
from toolscope_core.model.cluster import grouped
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import JsonObject

PARTS_SHOWN = ("server", "severity", "code", "field", "message", "excerpt")
FailOn = Literal["block", "warn"]
"""The lowest severity of findings for which ``inspect`` and ``merge`` fail."""


@command
def inspect(
    catalogs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Catalog files or folders; several are combined into one catalog. Without any: "
            "the MCP clients of this machine, as `overview` shows them."
        ),
    ] = None,
    as_json: AsJson = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            help="Exit with 1 if a finding is this severe or worse; 2 means the input is unusable."
        ),
    ] = None,
    with_findability: Annotated[
        bool,
        typer.Option(
            "--findability",
            help="Show how often each tool is among the first results of the clients' searches.",
        ),
    ] = False,
    queries: OwnQueries = None,
    on: EngineChoice = HERE,
    machine: MachineOptions = ASKS,
) -> None:
    """Show a catalog's contents: format, counts, tokens, needless servers, problems, findings.

    Example: toolscope inspect examples/catalog.json --fail-on block
    """
    if not catalogs and not (fail_on or with_findability or queries):
        show_machine(machine, as_json)
        return
    if not catalogs:
        raise ConfigError("--fail-on, --findability and --queries need a file; name one")
    if machine != ASKS:
        raise ConfigError(
            "--yes, --no-start and --fresh apply to the servers on this machine; leave out the file"
        )
    with on.start() as engine:
        catalog = on.read(catalogs, engine, progress())
        advice = advice_on(catalog, engine)
    findability: JsonObject = {}
    if with_findability:
        from toolscope_core.cli import findability_report as report  # loads the search

        by_search = report.findability_by_search(catalog, None, queries)
        findability = {"findability": report.findability_json(by_search)}
    if as_json:
        parts = {**inspection(catalog), **({"advice": advice_json(advice)} if advice else {})}
        say_json({**parts, **findability})
    else:
        _tell(catalog, advice)
        if with_findability:
            report.tell_findability(by_search)
    fail_for(why_failing(catalog.findings, fail_on) if fail_on else "")


@command
def diff(
    old: Annotated[Path, typer.Argument(help="The old catalog: a file or folder.")],
    new: Annotated[Path, typer.Argument(help="The new catalog: a file or folder.")],
    as_json: AsJson = False,
    config: PolicyFile = None,
) -> None:
    """Show what changed between two versions of a catalog; exit 1 if a change breaks callers, or a
    record could not be compared.

    Example: toolscope diff old.json new.json
    """
    policy = read_policy(config)
    before, after = (read_files([path]) for path in (old, new))
    changes = version_changes.diff(before, after, policy)
    versions = map(version_changes.file_versions, (before, after))
    changes = version_changes.with_missing_bumps(changes, before, after, *versions)
    if as_json:
        say_json(_changes(changes))
    else:
        for row in version_changes.table(changes):
            detail = f"{row.field}: {row.old} -> {row.new}" if row.field else ""
            parts = (
                f"{row.change:8} {row.tool}",
                detail,
                row.breaking and f"BREAKING: {row.breaking} [{row.rule} {row.fingerprint}]",
                row.warning and f"careful: {row.warning} [{row.rule} {row.fingerprint}]",
                row.accepted and f"accepted {row.accepted}",
            )
            say("; ".join(part for part in parts if part))
        say(version_changes.change_counts(changes))
    if changes.breaking:
        raise typer.Exit(1)


def why_failing(findings: Sequence[Finding], least: Severity) -> str:
    """The number of findings of this severity or worse, and the first one; empty if there are
    none.
    """
    bad = SEVERITIES[: SEVERITIES.index(least) + 1]
    failing = [item for item in findings if item.severity in bad]
    if not failing:
        return ""
    totals, worst = (
        severity_counts(Counter(item.severity for item in failing)),
        worst_first(failing)[0],
    )
    return f"found {totals}; the first: {worst.subject}, {worst.field}: {worst.message}"


def tell_files(catalog: Catalog) -> None:
    """Report the files that name no server, which therefore count as servers themselves."""
    made_up = grouped((file for file in catalog.files if file.server), lambda one: one.server)
    if made_up:
        servers = ", ".join(
            f"{files[0].label if len(files) == 1 else quantity(len(files), 'file')} → {server}"
            for server, files in made_up.items()
        )
        say(f"files that name no server count as servers: {servers}")


def tell_findings(findings: Iterable[Finding]) -> None:
    for item in findings:
        say(f"{item.severity:8} {item.subject}, {item.field}: {item.message}")


def inspection(catalog: Catalog) -> JsonObject:
    """Everything that is known about a catalog, as JSON values."""
    by_server: Counter[str] = Counter()
    for tool in catalog.tools:
        by_server[tool.server] += tool_tokens(tool)
    counter = tokenizer().label
    counts = Counter(finding.severity for finding in catalog.findings)
    return {
        "format": " and ".join(catalog.read_from),
        "tools": len(catalog.tools),
        "servers": len(catalog.servers),
        "records": len(catalog.tools) + len(catalog.problems),
        "problems": [{"position": p.position, "reason": p.reason} for p in catalog.problems],
        "findings": {
            "counts": {severity: counts[severity] for severity in SEVERITIES},
            "items": [
                {"tool": one.tool_id, **{part: getattr(one, part) for part in PARTS_SHOWN}}
                for one in catalog.findings
            ],
        },
        "tokens": {
            "estimate": counter == ESTIMATE.label,
            "counted": counter,
            "total": by_server.total(),
            "unused_definitions": sum(map(unused_tokens, catalog.tools)),
            "by_server": dict(sorted(by_server.items())),
        },
        "version": catalog.version,
    }


def _tell(catalog: Catalog, advice: Advice | None) -> None:
    unused = sum(map(unused_tokens, catalog.tools))
    beside = f", and {unused:,} of definitions that nothing uses" if unused else ""
    say(
        f"format {' and '.join(catalog.read_from)}: {quantity(len(catalog.tools), 'tool')} on "
        f"{quantity(len(catalog.servers), 'server')}, "
        f"about {sum(map(tool_tokens, catalog.tools)):,} tokens ({tokenizer().label}){beside}"
    )
    if advice:
        tell_advice(advice)
    if implied := [one.name for one in implied_servers(catalog.tools)]:
        say(f"names imply {quantity(len(implied), 'server')}: {some(implied)}")
    tell_files(catalog)
    for problem in catalog.problems:
        say(f"problem  {problem.position}: {problem.reason}")
    tell_findings(catalog.findings)


def _changes(changes: version_changes.CatalogDiff) -> JsonObject:
    """A diff as JSON values; ``old`` or ``new`` is left out if that side has no value."""
    return {
        "breaking": changes.breaking,
        "unread": [{"position": one.position, "reason": one.reason} for one in changes.unread],
        "removed": [tool.id for tool in changes.removed],
        "renamed": [
            {"from": change.old.id, "to": change.new.id}
            for change in changes.changed
            if change.is_renamed
        ],
        "added": [tool.id for tool in changes.added],
        "changed": [_change(row) for row in changes.rows if row.kind in ("renamed", "changed")],
    }


def _change(row: version_changes.DiffRow) -> JsonObject:
    change = row.change
    return {
        "tool": row.tool_id,
        "field": change.field,
        "kind": change.kind,
        **({} if change.kind == "added" else {"old": change.old}),
        **({} if change.kind == "removed" else {"new": change.new}),
        "rule": change.rule,
        "level": row.level,
        "fingerprint": row.fingerprint,
        "breaking": row.breaking,
        **({"warning": row.warning} if row.warning else {}),
        **({"accepted": row.accepted.in_words} if row.accepted else {}),
    }

"""The command that compares tools by their answers to the same calls."""

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.calls import sent_calls
from toolscope_core.calls.call_verdicts import CallComparison
from toolscope_core.calls.call_writing import SeenValues, calls_of_model
from toolscope_core.calls.recorded_results import recorded_comparisons
from toolscope_core.catalog.calls import read_call
from toolscope_core.catalog.isolation import read_files
from toolscope_core.cli import terminal
from toolscope_core.cli.connect_command import confirmed_servers
from toolscope_core.cli.options import SAVED, AnswerYes, AskRequest, CatalogPaths, ServerKeys
from toolscope_core.cli.usage_command import counted_calls
from toolscope_core.decisions.decision_lines import decision_lines, read_decisions
from toolscope_core.files.json_lines import read_rows, write_whole
from toolscope_core.mcp.servers.configured_servers import read_configurations
from toolscope_core.mcp.servers.launches import Launch, keys_given, launches_of
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration
from toolscope_core.merging.analysing import analyse, plan_merge
from toolscope_core.merging.group_syntheses import GroupSyntheses
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import enumerated, quantity
from toolscope_core.model.tool import JsonObject, canonical_json

REVIEWER = "toolscope compare-calls"
_DEFAULT = sent_calls.CallBudget()


@terminal.command
def compare_calls(
    catalogs: CatalogPaths,
    config: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONFIG",
            help="An MCP client's configuration with the servers to call, or the address of one; "
            "repeatable.",
        ),
    ] = None,
    recorded: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="LOG",
            help="Compare the results in these agents' messages, and call nothing; repeatable.",
        ),
    ] = None,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="TOOL TOOL", help="Compare these two tools, given by their ids."),
    ] = None,
    proposed: Annotated[
        bool,
        typer.Option(
            "--proposed", help="Compare the tools of each merge that is proposed or accepted."
        ),
    ] = False,
    calls: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSON Lines with `tool` and `arguments`: calls to send before those that are "
            "written from the schemas.",
        ),
    ] = None,
    reads_only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOOL",
            help="This tool only reads, whatever its server says; repeatable. Without it, only "
            "tools with readOnlyHint are called.",
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(
            help="A decisions.jsonl to which the verdicts are added, for `merge --decisions`; its "
            "decisions count for --proposed."
        ),
    ] = None,
    server: ServerKeys = None,
    start: Annotated[
        list[str] | None,
        typer.Option("--start", help="Start or contact this server without asking; repeatable."),
    ] = None,
    yes: AnswerYes = False,
    most_calls: Annotated[
        int, typer.Option(help="Maximum number of calls for each pair; each is sent twice to both.")
    ] = _DEFAULT.calls,
    seconds: Annotated[float, typer.Option(help="Maximum seconds for all calls.")] = (
        _DEFAULT.seconds
    ),
    per_minute: Annotated[
        float, typer.Option(help="Maximum number of requests to each server per minute.")
    ] = _DEFAULT.per_minute,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every call with its differences as JSON.")
    ] = False,
    ask: AskRequest = SAVED,
) -> None:
    """Send the same calls to two tools that only read, and compare the results.

    Exits with 1 if two tools do not answer alike. With --model, a model gives values to required
    arguments whose schema says nothing of their form.

    Example: toolscope compare-calls tools.json --config mcp.json --pair a/search b/search
    """
    budget = sent_calls.CallBudget(most_calls, seconds, per_minute)
    catalog = read_files(catalogs)
    log = read_decisions(catalog, decisions) if decisions and decisions.exists() else ()
    chosen = _chosen_pairs(catalog, log, pair, proposed)
    if bool(config) == bool(recorded):
        raise ConfigError("one source of results is needed; use either --config or --recorded")
    if recorded and ask.options:
        raise ConfigError("recorded results need no model; omit --model, or use --config")
    if recorded:
        trace = counted_calls(recorded, catalog.tools, with_results=True)[1]
        comparisons = recorded_comparisons(chosen, trace, catalog.tools)
    else:
        pairs = _callable(chosen, reads_only or (), _calls_in(catalog, calls) if calls else {})
        if ask.options:
            pairs = _with_guesses(pairs, ask, as_json)
        if not as_json:
            _tell_calls(pairs, budget)
        configuration, keys = read_configurations(config or ()), keys_given(server or ())
        launches = _launches(pairs, configuration, keys, start, yes)
        comparisons = sent_calls.compare_tools(
            pairs, launches, budget, progress=terminal.progress()
        )
    if decisions:
        new = _decisions(comparisons, log[-1].seq if log else 0)
        write_whole(decisions, decision_lines((*log, *new), catalog), "--decisions")
    if as_json:
        ids = ([tool.id for tool in one.tools] for one in comparisons)
        rows = zip(ids, comparisons, strict=True)
        terminal.say_json([{"tools": tools, **one.as_json()} for tools, one in rows])
    for comparison in () if as_json else comparisons:
        _tell(comparison)
    differing = sum(bool(one.differing) for one in comparisons)
    terminal.fail_for(f"{quantity(differing, 'pair')} did not answer alike" if differing else "")


def _chosen_pairs(
    catalog: Catalog, log: Sequence[Decision], pair: tuple[str, str] | None, proposed: bool
) -> Sequence[sent_calls.ComparedTools]:
    """The pairs to compare: each member of a merge with the tool that the merge keeps.

    A given ``pair`` counts as a merge. Calls are mapped by the argument maps of the merge.
    """
    if bool(pair) == proposed:
        raise ConfigError("tools must be chosen once; use either --pair TOOL TOOL or --proposed")
    if pair is None:
        clusters = plan_merge(analyse(catalog), log).clusters
        wanted = ("proposed", "accepted")
        clusters = tuple(c for c in clusters if c.state in wanted and c.relation != "family")
        return [two for one in clusters for two in sent_calls.merge_pairs(catalog, one)]
    unknown = [one for one in pair if one not in catalog.by_id]
    if unknown or len(set(pair)) < 2:
        raise ConfigError(
            f"--pair was given {' '.join(map(repr, pair))}; use the ids of two different tools"
        )
    synthesis = GroupSyntheses(catalog).synthesis(tuple(sorted(pair)), None)
    return sent_calls.merge_pairs(catalog, synthesis)


def _calls_in(catalog: Catalog, file: Path) -> Mapping[str, Sequence[JsonObject]]:
    """The arguments of the calls in a file, by tool id.

    Raises ``ConfigError`` for a line that is not a call to a tool of the catalog.
    """
    calls: defaultdict[str, list[JsonObject]] = defaultdict(list)
    for number, row in read_rows(file):
        call = read_call(row)
        if call is None or call[0] not in catalog.by_id:
            raise ConfigError(
                f"{file}, line {number}, is not a call of a tool in the catalog; use "
                '{"tool": ID, "arguments": {…}}'
            )
        calls[call[0]].append(call[1])
    return calls


def _tell_calls(pairs: Sequence[sent_calls.ComparedTools], budget: sent_calls.CallBudget) -> None:
    for one in pairs:
        terminal.say(f"{one.source.id} and {one.target.id}:")
        for arguments in one.new_calls(SeenValues(), budget.calls):
            terminal.say(f"  {canonical_json(arguments)}")
    terminal.say(
        f"These calls, and others with values found in results, at most {budget.calls} for each "
        f"pair, are for {enumerated(sent_calls.called_servers(pairs))}."
    )


def _callable(
    pairs: Sequence[sent_calls.ComparedTools],
    reads_only: Sequence[str],
    calls: Mapping[str, Sequence[JsonObject]],
) -> Sequence[sent_calls.ComparedTools]:
    """The pairs whose tools may be called, with a person's calls; the other pairs are reported."""
    allowed = []
    for one in pairs:
        unsure = [tool for tool in one.tools if tool.id not in reads_only]
        refusals = {tool.id: why for tool in unsure if (why := sent_calls.why_not_called(tool))}
        for tool_id, why in refusals.items():
            remedy = f"if it only reads, use --reads-only {tool_id}"
            terminal.say_error(f"{tool_id} is not called: {why}; {remedy}")
        if not refusals:
            allowed.append(replace(one, calls=tuple(calls.get(one.source.id, ()))))
    if not allowed:
        raise ConfigError("nothing was compared: in no pair may both tools be called")
    return allowed


def _with_guesses(
    pairs: Sequence[sent_calls.ComparedTools], ask: AskRequest, is_quiet: bool
) -> Sequence[sent_calls.ComparedTools]:
    """The pairs with a model's calls. The cost is reported before the model is asked."""
    from toolscope_core.cli.asking import asking, tell_cost  # loads the store

    write = partial(calls_of_model, [one.source for one in pairs])
    if not (ask.replay or is_quiet):
        tell_cost("calls", write, ask)
    with asking(ask) as (_, asker):
        answers = write(asker)
    if not is_quiet:
        terminal.tell_spent(asker.name, asker.costs)
    if dropped := sum(answer["dropped"] for answer in answers.values()):
        terminal.say_error(f"{quantity(dropped, 'call')} of the model did not fit the schema")
    guesses = {tool_id: tuple(answer["calls"]) for tool_id, answer in answers.items()}
    return [replace(one, guesses=guesses.get(one.source.id, ())) for one in pairs]


def _launches(
    pairs: Sequence[sent_calls.ComparedTools],
    configuration: ClientConfiguration,
    chosen_keys: Mapping[str, str],
    start: Sequence[str] | None,
    yes: bool,
) -> Mapping[str, Callable[[], Launch]]:
    """The launches of the pairs' servers. Raises ``ConfigError`` unless somebody allows each of
    them.
    """
    keys, launches = launches_of(
        sent_calls.called_servers(pairs), configuration, chosen_keys, os.environ
    )
    unticked = {*keys.values()} - {*(start or ())}
    servers = tuple(one for one in configuration.servers if one.name in unticked)
    if servers:
        part = replace(configuration, servers=servers, odd={})
        unticked -= {*confirmed_servers(part, yes, True, "--start")}
    if unticked:
        raise ConfigError(
            f"nothing was called, because {', '.join(sorted(unticked))} may not be started; allow "
            "the servers of both tools"
        )
    return launches


def _decisions(comparisons: Sequence[CallComparison], last: int) -> list[Decision]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return [
        Decision(
            "compare",
            tuple(tool.fingerprint for tool in one.tools),
            tuple(tool.id for tool in one.tools),
            *(REVIEWER, at, seq, one.as_json()),
        )
        for seq, one in enumerate((one for one in comparisons if one.calls), last + 1)
    ]


def _tell(comparison: CallComparison) -> None:
    terminal.say(f"{enumerated(one.id for one in comparison.tools)}: {comparison.verdict}")
    for left, right in comparison.names.items():
        terminal.say(
            f"  `{left}` in the first tool's results corresponds to `{right}` in the second tool's"
        )

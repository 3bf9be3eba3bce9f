"""The command that lets an agent work with a toolset, before and after its merge."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from toolscope_core import __version__
from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.cli.asking import model_access
from toolscope_core.cli.options import SAVED, AskRequest, BundlePath, Configurations, ServerKeys
from toolscope_core.cli.serve_command import tool_search
from toolscope_core.cli.terminal import command, fail_for, progress, say, say_error, say_json
from toolscope_core.evaluation.agent.agent_report import AgentReport, EpisodeFile, Episodes
from toolscope_core.evaluation.agent.agent_work import PaidTurns, WorkRow, work_rows
from toolscope_core.evaluation.agent.toolset_pair import (
    AgentEstimate,
    ConfiguredAgent,
    OriginalsConfigured,
    ToolsetPair,
    read_toolset_pair,
    work_with_both,
)
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.evaluation.results import result_json
from toolscope_core.files.archives import bundle_folder
from toolscope_core.files.folders import read_file
from toolscope_core.llm.run_configuration import prompts
from toolscope_core.llm.tool_calling import ToolCallingModel
from toolscope_core.mcp.servers.configured_servers import read_configurations
from toolscope_core.mcp.servers.launches import keys_given
from toolscope_core.model.configuration import AgentConfig, ConnectionLimits
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError, ModelStopError, PausedError
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.tool import digest

_DEFAULT = AgentConfig()
LABEL = 30
Side = Literal["as-it-is", "merged"]


@command
def agent_run(
    bundle: BundlePath,
    config: Configurations,
    queries: Annotated[
        Path,
        typer.Option(
            help="JSONL or CSV with `query`, `gold` (ids of the tools needed), and perhaps "
            "`expected` (the right answer) and `allowed` (ids of tools that are not wrong)."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="JSONL: what the agent did, a line as each request ends; goes on there."),
    ],
    server: ServerKeys = None,
    allow_changes: Annotated[
        bool,
        typer.Option(
            "--allow-changes",
            help="Carry out calls of tools that do not say that they only read. Without it they "
            "are noted, and the model is told to go on.",
        ),
    ] = False,
    k: Annotated[
        int | None,
        typer.Option(help="Give the agent the k tools found for each request; default all."),
    ] = None,
    turns: Annotated[int, typer.Option(help="Turns of the model for a request, at most.")] = (
        _DEFAULT.turns
    ),
    first: Annotated[
        int | None, typer.Option(min=1, help="Only so many queries, from the first on.")
    ] = None,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Leave out queries that need unknown tools.")
    ] = False,
    side: Annotated[
        Side | None, typer.Option(help="Work with one toolset only: as-it-is or merged.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="A model of the endpoint that grades answers where the query has no `expected`.",
        ),
    ] = None,
    reset: Annotated[
        str,
        typer.Option(
            metavar="COMMAND",
            help="Run this before each request with each toolset, and start the servers anew.",
        ),
    ] = "",
    request_deadline: Annotated[float, typer.Option(help="Seconds for a request, at most.")] = (
        _DEFAULT.seconds
    ),
    turn_tokens: Annotated[
        int, typer.Option(help="Tokens of a turn of the model, thoughts apart.")
    ] = _DEFAULT.turn_tokens,
    concurrency: Annotated[
        int | None,
        typer.Option(
            help=f"Requests worked on at a time; default {_DEFAULT.concurrency}, with --reset 1."
        ),
    ] = None,
    only_estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Say what it may take; starts, sends and writes nothing."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
    ask: AskRequest = SAVED,
    timeout: Annotated[float, typer.Option(help="Seconds until a server is ready.")] = 60.0,
    call_timeout: Annotated[float, typer.Option(help="Seconds for each call of a tool.")] = 60.0,
) -> None:
    """Let a model carry out queries with the merged toolset and with the original one."""
    if ask.answers is not None:
        raise ConfigError(
            f"--answers: agent-run keeps all that was answered in --out; commit {out}"
        )
    at_once = concurrency or (1 if reset else _DEFAULT.concurrency)
    agent = AgentConfig(turns, k, allow_changes, at_once, request_deadline, turn_tokens, reset)
    limits = ConnectionLimits(start_seconds=timeout, answer_seconds=call_timeout)
    pair = read_toolset_pair(
        bundle, read_queries(queries), agent, first, skip_unknown, side and side.replace("-", " ")
    )
    if only_estimate:
        _tell_estimate(pair.estimate(agent))
        return
    originals = OriginalsConfigured(
        read_configurations(config), keys_given(server or ()), os.environ, limits, say_error
    )
    report = _work(pair, originals, agent, _Run(bundle, out, ask, judge))
    if as_json:
        say_json(result_json(report))
    else:
        for line in _table(report):
            say(line)
    if all(one.unanswered == report.queries for one in report.sides):
        fail_for(f"no request came to an answer; {out} has the reason of each")


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run is of, and which models are asked."""

    bundle: Path
    out: Path
    ask: AskRequest
    judge: str | None


def _work(
    pair: ToolsetPair, originals: OriginalsConfigured, config: AgentConfig, run: _Run
) -> AgentReport:
    """Let the agent work on every query with each toolset; what is in ``run.out`` already is not
    done again.
    """
    settings = read_environment()
    with _paid_turns(run.ask, config) as turns, ExitStack() as stack:
        judging = replace(run.ask, model=run.judge)
        judge = stack.enter_context(_paid_turns(judging, config)) if run.judge else None
        file = EpisodeFile(run.out, _run_key(run, config, turns))
        if run.ask.replay:
            _refuse_open(pair, file.read(pair.by_id), run.out)
        agent = ConfiguredAgent(turns, config, lambda tools: tool_search(tools, settings), judge)
        try:
            return work_with_both(pair, originals, agent, file, __version__, progress())
        except (PausedError, ModelStopError) as error:
            done, total = len(file.read(pair.by_id)), len(pair.by_id) * len(pair.bundles)
            raise type(error)(
                f"{error}; {done} of {total} are kept in {run.out}: the same command goes on from "
                "there"
            ) from None


def _refuse_open(pair: ToolsetPair, episodes: Episodes, out: Path) -> None:
    """End with 1 where the file lacks an episode of a query and a toolset, and name each."""
    missing = [
        f"{for_terminal(query)}, {name}"
        for query in pair.by_id
        for name in pair.bundles
        if (query, name) not in episodes
    ]
    why = f"{out} has no episode of {quantity(len(missing), 'request')}: {listed(missing, 10)}"
    fail_for(why if missing else "")


@contextmanager
def _paid_turns(ask: AskRequest, config: AgentConfig) -> Iterator[PaidTurns]:
    with model_access(ask) as access:
        model = ToolCallingModel(access.model)
        yield PaidTurns(model, access.ledger, access.terms, config.turn_tokens)


def _run_key(run: _Run, config: AgentConfig, turns: PaidTurns) -> str:
    """The same for runs whose episodes may stand side by side."""
    with bundle_folder(run.bundle) as folder:
        manifest = read_file(folder / "manifest.json").decode("utf-8", "replace")
    models = turns.model.name, turns.model.origin, run.judge, prompts("agent")
    return digest(manifest, *models, asdict(replace(config, concurrency=1)))[:16]


def _tell_estimate(estimate: AgentEstimate) -> None:
    requests = quantity(estimate.queries, "request")
    say(f"{requests}, at most {quantity(estimate.most_calls, 'call')} of the model")
    for name, tools in estimate.tools.items():
        tokens = quantity(estimate.tokens[name], "token")
        say(f"{name}: {quantity(tools, 'tool')}, {tokens} of definitions")


def _table(report: AgentReport) -> list[str]:
    names = WorkRow("", tuple(side.name for side in report.sides))
    return [
        quantity(report.queries, "request"),
        *(
            f"{row.label:{LABEL}}"
            + "".join(f"{cell:>20}" for cell in row.cells)
            + ("" if row.p is None else f"   p {row.p:.3f}")
            for row in (names, *work_rows(report))
        ),
    ]

"""The command that runs an agent with a toolset, before and after its merge."""

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
            help="JSONL or CSV with `query` and `gold` (ids of the tools needed). Optional: "
            "`expected` (the right answer) and `allowed` (ids of other acceptable tools)."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="JSONL file for what the agent did, one line per request; later runs continue it."
        ),
    ],
    server: ServerKeys = None,
    allow_changes: Annotated[
        bool,
        typer.Option(
            "--allow-changes",
            help="Also carry out calls of tools that do not declare themselves read-only. By "
            "default these calls are only recorded, and the model is told to continue.",
        ),
    ] = False,
    k: Annotated[
        int | None,
        typer.Option(help="Give the agent only the k tools found for each request; default: all."),
    ] = None,
    turns: Annotated[int, typer.Option(help="Maximum number of model turns per request.")] = (
        _DEFAULT.turns
    ),
    first: Annotated[int | None, typer.Option(min=1, help="Use only the first N queries.")] = None,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown", help="Leave out queries that need tools the catalog does not have."
        ),
    ] = False,
    side: Annotated[
        Side | None, typer.Option(help="Use only one of the two toolsets: as-it-is or merged.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="A model of the endpoint that grades the answers of queries without `expected`.",
        ),
    ] = None,
    reset: Annotated[
        str,
        typer.Option(
            metavar="COMMAND",
            help="Command to run before each request with each toolset; the servers are restarted "
            "too.",
        ),
    ] = "",
    request_deadline: Annotated[float, typer.Option(help="Maximum seconds per request.")] = (
        _DEFAULT.seconds
    ),
    turn_tokens: Annotated[
        int, typer.Option(help="Maximum tokens per model turn, not counting thinking.")
    ] = _DEFAULT.turn_tokens,
    concurrency: Annotated[
        int | None,
        typer.Option(
            help=f"Number of requests in parallel; default {_DEFAULT.concurrency}, or 1 with "
            "--reset."
        ),
    ] = None,
    only_estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Show what the run may cost. Starts no server, sends nothing and writes nothing.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    ask: AskRequest = SAVED,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for a server to start.")] = 60.0,
    call_timeout: Annotated[float, typer.Option(help="Seconds to wait for each tool call.")] = 60.0,
) -> None:
    """Let a model carry out queries with the merged toolset and with the original one.

    Example: toolscope agent-run bundle --config mcp.json --queries queries.jsonl --out run.jsonl
    """
    if ask.answers is not None:
        raise ConfigError(
            "--answers does not apply here: agent-run keeps every answer in --out; commit "
            f"{out} instead"
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
        fail_for(f"no request was answered; {out} has the reason for each")


@dataclass(frozen=True, slots=True)
class _Run:
    """The files of a run, and the models that it asks."""

    bundle: Path
    out: Path
    ask: AskRequest
    judge: str | None


def _work(
    pair: ToolsetPair, originals: OriginalsConfigured, config: AgentConfig, run: _Run
) -> AgentReport:
    """Run the agent on every query with each toolset; work already in ``run.out`` is not
    repeated.
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
                f"{error}; {done} of {total} are saved in {run.out}; run the same command "
                "again to continue"
            ) from None


def _refuse_open(pair: ToolsetPair, episodes: Episodes, out: Path) -> None:
    """Exit with 1 and list each query and toolset for which the file has no episode."""
    missing = [
        f"{for_terminal(query)}, {name}"
        for query in pair.by_id
        for name in pair.bundles
        if (query, name) not in episodes
    ]
    why = f"{out} has no record of {quantity(len(missing), 'request')}: {listed(missing, 10)}"
    fail_for(why if missing else "")


@contextmanager
def _paid_turns(ask: AskRequest, config: AgentConfig) -> Iterator[PaidTurns]:
    with model_access(ask) as access:
        model = ToolCallingModel(access.model)
        yield PaidTurns(model, access.ledger, access.terms, config.turn_tokens)


def _run_key(run: _Run, config: AgentConfig, turns: PaidTurns) -> str:
    """A key that is the same for runs whose episodes can be compared."""
    with bundle_folder(run.bundle) as folder:
        manifest = read_file(folder / "manifest.json").decode("utf-8", "replace")
    models = turns.model.name, turns.model.origin, run.judge, prompts("agent")
    return digest(manifest, *models, asdict(replace(config, concurrency=1)))[:16]


def _tell_estimate(estimate: AgentEstimate) -> None:
    requests = quantity(estimate.queries, "request")
    say(f"{requests}, at most {quantity(estimate.most_calls, 'model call')}")
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

"""The command that lets an agent work with a toolset, before and after its merge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core import __version__
from toolscope_core.cli.model_options import SAVED, AskRequest, asks_model
from toolscope_core.cli.terminal import (
    BundlePath,
    ServerKeys,
    app,
    errors_as_sentences,
    progress,
    say,
    say_error,
    say_json,
)
from toolscope_core.files.whole_files import read_file
from toolscope_core.model.configuration import AgentConfig, ConnectionLimits
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ModelStopError, PausedError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest

if TYPE_CHECKING:
    from toolscope_core.evaluation.agent.agent_report import AgentReport
    from toolscope_core.evaluation.agent.toolset_pair import (
        AgentEstimate,
        OriginalsConfigured,
        ToolsetPair,
    )
    from toolscope_core.llm.tool_calling import ToolCallingModel

DEFAULT = AgentConfig()
LABEL = 30


@app.command()
@errors_as_sentences
@asks_model
def agent_run(
    bundle: BundlePath,
    config: Annotated[
        list[str],
        typer.Option(
            "--config",
            metavar="CONFIG",
            help="A client's configuration with the original servers, which are started; again "
            "for more.",
        ),
    ],
    queries: Annotated[
        Path, typer.Option(help="JSONL or CSV with `query` and `gold`: ids of the tools needed.")
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
        DEFAULT.turns
    ),
    first: Annotated[
        int | None, typer.Option(min=1, help="Only so many queries, from the first on.")
    ] = None,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Leave out queries that need unknown tools.")
    ] = False,
    concurrency: Annotated[int, typer.Option(help="Requests worked on at a time.")] = (
        DEFAULT.concurrency
    ),
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
    from toolscope_core.evaluation.agent.toolset_pair import OriginalsConfigured, read_toolset_pair
    from toolscope_core.evaluation.query_sets import read_queries
    from toolscope_core.mcp.gateway.configured_servers import keys_given
    from toolscope_core.mcp.servers.server_definitions import read_configurations

    agent = AgentConfig(turns, k, allow_changes, concurrency)
    limits = ConnectionLimits(start_seconds=timeout, answer_seconds=call_timeout)
    pair = read_toolset_pair(bundle, read_queries(queries), agent, first, skip_unknown)
    if only_estimate:
        _tell_estimate(pair.estimate(agent))
        return
    originals = OriginalsConfigured(
        read_configurations(config), keys_given(server or ()), os.environ, limits, say_error
    )
    report = _work(pair, originals, agent, ask, bundle, out)
    if as_json:
        say_json(report.as_json())
        return
    for line in _table(report):
        say(line)


def _work(
    pair: ToolsetPair,
    originals: OriginalsConfigured,
    config: AgentConfig,
    ask: AskRequest,
    bundle: Path,
    out: Path,
) -> AgentReport:
    """Let the agent work on every query with both toolsets; what is in ``out`` already is not done
    again.
    """
    from toolscope_core.cli.asking import model_access
    from toolscope_core.evaluation.agent.episode_rows import EpisodeFile
    from toolscope_core.evaluation.agent.paid_turns import PaidTurns
    from toolscope_core.evaluation.agent.toolset_pair import ConfiguredAgent, work_with_both
    from toolscope_core.llm.tool_calling import ToolCallingModel
    from toolscope_core.mcp.gateway.served_search import tool_search

    settings = read_environment()
    with model_access(ask, settings) as access:
        model = ToolCallingModel(access.model)
        file = EpisodeFile(out, _run_key(bundle, config, model))
        turns = PaidTurns(model, access.ledger, access.terms)
        agent = ConfiguredAgent(turns, config, lambda tools: tool_search(tools, settings))
        try:
            return work_with_both(pair, originals, agent, file, __version__, progress())
        except (PausedError, ModelStopError) as error:
            kept, total = len(file.read(pair.by_id)), len(pair.by_id) * len(pair.bundles)
            raise type(error)(
                f"{error}; {kept} of {total} are kept in {out}: the same command goes on from there"
            ) from None


def _run_key(bundle: Path, config: AgentConfig, model: ToolCallingModel) -> str:
    """The same for runs whose episodes may stand side by side."""
    from toolscope_core.files.archives import bundle_folder

    with bundle_folder(bundle) as folder:
        manifest = read_file(folder / "manifest.json").decode("utf-8", "replace")
    return digest(manifest, model.name, model.origin, config.turns, config.k, config.changes)[:16]


def _tell_estimate(estimate: AgentEstimate) -> None:
    requests = quantity(estimate.queries, "request")
    say(f"{requests}, at most {quantity(estimate.most_calls, 'call')} of the model")
    for name, tools in estimate.tools.items():
        tokens = quantity(estimate.tokens[name], "token")
        say(f"{name}: {quantity(tools, 'tool')}, {tokens} of definitions")


def _table(report: AgentReport) -> list[str]:
    from toolscope_core.evaluation.agent.agent_work import WorkRow, work_rows

    names = WorkRow("", tuple(side.name for side in report.sides))
    return [
        quantity(report.queries, "request"),
        *(
            f"{row.label:{LABEL}}"
            + "".join(f"{cell:>20}" for cell in row.cells)
            + ("" if row.p is None else f"   p {row.p:.3f}")
            for row in (names, *work_rows(report.as_json()))
        ),
    ]

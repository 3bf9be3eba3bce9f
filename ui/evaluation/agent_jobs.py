"""A background job in which an agent works on a query set, once with the original and once with the
merged toolset.

The result is kept as an experiment.
"""

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from toolscope_core import __version__
from toolscope_core.evaluation.agent import agent_report, toolset_pair
from toolscope_core.evaluation.agent.agent_loop import Episode
from toolscope_core.evaluation.agent.agent_work import PaidTurns
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.results import result_json
from toolscope_core.export.bundle import zipped
from toolscope_core.llm.run_configuration import RunKind
from toolscope_core.llm.tool_calling import ToolCallingModel
from toolscope_core.mcp.gateway.routing import FoundTools, Search
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration
from toolscope_core.model.configuration import AgentConfig
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import JsonObject, Tool, digest
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.store.experiment_rows import keep_result, open_experiment
from ui.evaluation import evaluations, experiment_requests
from ui.evaluation.experiment_requests import SYNTHETIC
from ui.evaluation.measured_sides import POLICIES
from ui.shared.kept import kept_under
from ui.shared.services import exports, model_runs
from ui.shared.services.experiments import ORIGINAL
from ui.shared.services.live_servers import TickedServers
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

AGENT: RunKind = "agent"
"""The kind of the job, of the run and of the experiment."""
LONGEST_ANSWER = 2_000
"""The maximum number of characters of an answer that are kept with the experiment."""


@dataclass(frozen=True, slots=True)
class AgentRunRequest:
    """A run to start: the ``first`` queries of a set that have gold answers.

    ``merges`` names the merged toolset, as in ``POLICIES``.
    """

    queries: str
    merges: str = "accepted and safe"
    first: int = 20
    config: AgentConfig = field(default_factory=AgentConfig)


def query_sets(snapshot: Snapshot) -> tuple[str, ...]:
    """The names of the query sets that have gold tools."""
    return tuple(one for one in evaluations.query_sets(snapshot) if one != SYNTHETIC)


def estimate(snapshot: Snapshot, run_request: AgentRunRequest) -> toolset_pair.AgentEstimate:
    """The maximum cost of a run. Nothing is started or sent. Raises the errors of
    ``read_toolset_pair``.
    """
    return _pair(snapshot, run_request).estimate(run_request.config)


def servers(snapshot: Snapshot, run_request: AgentRunRequest) -> tuple[str, ...]:
    """The catalog's servers that a run calls. Raises the errors of ``estimate``."""
    return _pair(snapshot, run_request).servers


def start(
    snapshot: Snapshot, run_request: AgentRunRequest, ticked: TickedServers, is_shared: bool = False
) -> str:
    """Start the servers and run the agent in the background. Returns the job's id.

    If a run is already active, its id is returned. Raises ``ConfigError`` if servers may not be
    started, if one of them is not ticked, or if no model is set up.
    """
    needed = replace(ticked, names=servers(snapshot, run_request))
    configuration = needed.required(snapshot.work.settings, is_shared)

    def work(progress: Progress) -> None:
        run(snapshot, run_request, configuration, ticked.keys, progress)

    return model_runs.in_background(snapshot, AGENT, work)


def run(
    snapshot: Snapshot,
    run_request: AgentRunRequest,
    configuration: ClientConfiguration,
    keys: Mapping[str, str],
    progress: Progress = silent,
) -> int:
    """Run the agent now, or continue an interrupted run. Returns the number of the experiment.

    Raises ``PausedError`` or ``ModelStopError`` if the model is not asked everything, and
    ``ConfigError`` if a server cannot be started.
    """
    pair = _pair(snapshot, run_request)
    about = _about(snapshot, run_request, pair)
    numbers: list[int] = []

    def work(access: model_runs.RunAccess) -> None:
        model = ToolCallingModel(access.model)
        configured = {**about, "model": model.name, "origin": model.origin}
        experiment = open_experiment(snapshot.work.store, snapshot.id, AGENT, configured)
        numbers.append(experiment.number)
        started = time.monotonic() - experiment.seconds
        folder = snapshot.work.vectors.folder / "agent"
        folder.mkdir(parents=True, exist_ok=True)
        key = digest(experiment.number, experiment.at, configured)[:16]
        file = agent_report.EpisodeFile(folder / f"{key}.jsonl", key)
        turns = PaidTurns(model, access.ledger, access.terms, run_request.config.turn_tokens)
        agent = toolset_pair.ConfiguredAgent(
            turns, run_request.config, partial(_search_of, snapshot.work)
        )
        originals = toolset_pair.OriginalsConfigured(configuration, keys, os.environ)
        report = toolset_pair.work_with_both(pair, originals, agent, file, __version__, progress)
        requests = result_json(_requests(pair, file.read(pair.by_id)))
        result = {**result_json(report), "requests": requests}
        seconds = time.monotonic() - started
        keep_result(snapshot.work.store, experiment.number, result, seconds, is_done=True)

    model_runs.in_run(snapshot, AGENT, work, about)
    return numbers[0]


def _pair(snapshot: Snapshot, run_request: AgentRunRequest) -> toolset_pair.ToolsetPair:
    queries = experiment_requests.queries_of(snapshot, run_request.queries)
    config = replace(POLICIES[run_request.merges], gateway=True)

    def read() -> toolset_pair.ToolsetPair:
        archive = zipped(exports.bundle(snapshot, config))
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "toolset.zip"
            path.write_bytes(archive)
            return toolset_pair.read_toolset_pair(
                path, queries, run_request.config, run_request.first, skip_unknown=True
            )

    return kept_under(snapshot, "toolset pairs", run_request, read, limit=2)


def _search_of(work: Workspace, tools: Sequence[Tool]) -> Search:
    retriever = Retriever(tools, work.embedder, work.vectors, RetrievalConfig())

    def search(request: str, limit: int) -> FoundTools:
        ranking = retriever.search(ToolRequest(request, decompose(request)), limit)
        return FoundTools([place.tool_id for place in ranking])

    return search


def _about(
    snapshot: Snapshot, run_request: AgentRunRequest, pair: toolset_pair.ToolsetPair
) -> JsonObject:
    """Everything that affects the figures, except the model."""
    questions = [(query.id, query.text) for query in pair.by_id.values()]
    return {
        "queries": run_request.queries,
        "before": ORIGINAL,
        "after": run_request.merges,
        "query_count": len(questions),
        "query_digest": digest(questions),
        "decisions": evaluations.decisions_hash(snapshot),
        "agent": asdict(run_request.config),
    }


def _requests(
    pair: toolset_pair.ToolsetPair, episodes: agent_report.Episodes
) -> list[agent_report.WorkedRequest]:
    """What was done for each request with each toolset."""
    return [
        agent_report.WorkedRequest(
            id=query.id,
            query=query.text,
            gold=tuple(tuple(sorted(need)) for need in query.gold),
            sides=tuple(
                _side(episodes[query.id, name], name, pair.queries[name][at])
                for name in pair.bundles
            ),
        )
        for at, query in enumerate(pair.by_id.values())
    ]


def _side(episode: Episode, toolset: str, query: Query) -> agent_report.RequestWork:
    return agent_report.RequestWork(
        toolset=toolset,
        called=tuple(call.name for call in episode.calls),
        right=agent_report.chose_right(episode, query),
        grade=episode.grade,
        answer=(episode.answer or episode.reason)[:LONGEST_ANSWER],
    )

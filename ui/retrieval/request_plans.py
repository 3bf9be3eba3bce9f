"""Plans of a request on the screen: on the toolset as it is and as the merge leaves it.

A model's plan is made of the answers that are known; ``start`` asks for the others, as a run within
the budget, and the plan is made again.
"""

import time
from dataclasses import dataclass

from toolscope_core.evaluation.metrics import Gold
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.run_configuration import RunKind
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.rps import planner
from toolscope_core.rps.workers import RequestPlan
from ui.shared.kept import kept_under
from ui.shared.services import judging, model_runs, searches
from ui.shared.services.searches import Lookup, OpenToolset
from ui.shared.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PlanSide:
    """A plan on one toolset of ``size`` tools. ``tokens`` are those of the definitions of its
    tools, ``tokens_shown`` of all that a worker reads; ``needs`` are the known answers, if any;
    ``open_questions`` are those that the model was not asked yet.
    """

    plan: RequestPlan
    size: int
    tokens: int
    tokens_shown: int
    needs: Gold
    questions: int
    open_questions: int
    seconds: float

    @property
    def served(self) -> int:
        """How many needs a tool of the plan serves."""
        return sum(not set(self.plan.tool_ids).isdisjoint(need) for need in self.needs)

    @property
    def answers(self) -> frozenset[str]:
        """The ids of all known answers."""
        return frozenset(one for need in self.needs for one in need)


KIND: RunKind = "plan"


def look(
    snapshot: Snapshot, asked: Lookup, options: planner.PlanOptions, k: int = planner.WORKER_K
) -> tuple[PlanSide, PlanSide] | None:
    """The plan on the tools as they are, and on those that the merge leaves; ``None`` where
    an index has to be built: ``searches.start``. Raises ``JobError`` before the analysis is
    finished, ``ConfigError`` for a model where none is set up.
    """
    opened = searches.opened(snapshot, asked)
    if opened is None:
        return None
    request, toolsets = opened

    def made() -> tuple[PlanSide, PlanSide]:
        before, after = (_side(snapshot, toolset, request, options, k) for toolset in toolsets)
        return before, after

    if options.worker == "model":  # an answer may have come since
        return made()
    return kept_under(snapshot, "plans", (asked, options, k), made, most=4)


def start(snapshot: Snapshot, asked: Lookup, options: planner.PlanOptions, k: int) -> str:
    """Do what ``run`` does in the background; returns the job's id."""
    return snapshot.start(KIND, lambda progress: run(snapshot, asked, options, k, progress))


def run(
    snapshot: Snapshot,
    asked: Lookup,
    options: planner.PlanOptions,
    k: int = planner.WORKER_K,
    progress: Progress = silent,
) -> None:
    """Ask here and now. Raises as ``model_runs.ask``."""
    searches.run(snapshot, asked, progress)
    opened = searches.opened(snapshot, asked)
    request, toolsets = opened or (ToolRequest(asked.text), ())

    def work(asker: Asker) -> None:
        for toolset in toolsets:
            _planner(toolset, options, k, asker).plans([request])

    model_runs.ask(snapshot, KIND, work, progress)


def _side(
    snapshot: Snapshot,
    toolset: OpenToolset,
    request: ToolRequest,
    options: planner.PlanOptions,
    k: int,
) -> PlanSide:
    asker = judging.known_answers(snapshot) if options.worker == "model" else None
    started = time.perf_counter()
    (plan,) = _planner(toolset, options, k, asker).plans([request])
    seconds = time.perf_counter() - started
    spent = asker.spent if asker else ()
    tools, tokens = toolset.catalog.by_id, snapshot.work.catalogs.definition_tokens
    return PlanSide(
        plan=plan,
        size=len(tools),
        tokens=sum(tokens(tools[one]) for one in plan.tool_ids),
        tokens_shown=sum(tokens(one.tool) for step in plan.steps for one in step.candidates),
        needs=toolset.answers,
        questions=sum(one.questions for one in spent),
        open_questions=sum(one.questions - one.reused for one in spent),
        seconds=seconds,
    )


def _planner(
    toolset: OpenToolset, options: planner.PlanOptions, k: int, asker: Asker | None
) -> planner.Planner:
    if asker is None:
        return planner.offline_planner(toolset.catalog, toolset.retriever, k, options)
    return planner.model_planner(toolset.catalog, toolset.retriever, k, options, asker)

"""What an agent has to do as a model plans it, request by request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from toolscope_core.evaluation.query_sets import Query
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.profiles.intent_cover import Intent, same_job
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.rps.planner import WIDEST, PlanOptions, model_planner
from toolscope_core.rps.plans import RequestPlan


def intents_by_model(
    queries: Sequence[Query],
    plan: MergePlan,
    retriever: SearchableTools,
    asker: Asker,
    progress: Progress = silent,
) -> tuple[Intent, ...]:
    """Requests with the needs that a model plans for each, in one round: a job for which it takes
    none of the best tools has none. The retriever is of the tools of the plan.
    """
    toolset = Catalog(tuple(item.tool for item in plan.tools))
    requests = [ToolRequest(one.text, decompose(one.text)) for one in queries]
    options = PlanOptions("model", iterative=False, is_filtered=True)
    planner = model_planner(toolset, retriever, WIDEST, options, asker)
    return planned_intents(planner.plans(requests, progress), plan)


def planned_intents(plans: Iterable[RequestPlan], plan: MergePlan) -> tuple[Intent, ...]:
    """Requests with the needs that their plans name: every tool that they call, or any other of
    the same job; a job without a call has none.
    """
    equal = same_job(plan)

    def needs(request: RequestPlan) -> Iterator[frozenset[str]]:
        for step in request.steps:
            calls = [call.tool_id for call in step.calls if call.tool_id not in request.dropped]
            yield from (equal.get(one, frozenset({one})) for one in calls)
            if not step.calls:
                yield frozenset()

    return tuple(Intent(one.request, tuple(dict.fromkeys(needs(one)))) for one in plans)

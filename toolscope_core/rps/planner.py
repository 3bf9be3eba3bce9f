"""Plans requests: search for each job, let a worker choose, widen, fall back, filter.

In one round, a worker sees the K best tools for a job. The iterative variant
(Retrieval–Plan–Select, §4.6) searches a job in several phrasings. If a worker chooses none of the
first K, it sees the next ones until ``widest``; in the end the best is taken, since a tool that is
left out cannot be called. A worker sees only new candidates in each round, so going from K = 5 to
15 shows as many tools as one round of 15.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from toolscope_core.evaluation.intervals import Interval, interval
from toolscope_core.evaluation.metrics import Gold, set_metrics
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.selection import is_correct, jobs_of
from toolscope_core.llm.model_requests import Asker
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import Tool
from toolscope_core.profiles.intent_cover import Intent, same_job
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.rps import workers

WORKER_K = 5
"""K: the tools that a worker sees for a job (Retrieval–Plan–Select, §3.2)."""
STEP = 5
"""The number of additional tools per round (table 9)."""
WIDEST = 15
"""The total number of tools shown in the iterative variant (table 9)."""
LOOKED_AT = 50
"""The places of each phrasing; a tool further down has the last one's score."""


@dataclass(frozen=True, slots=True)
class PlannerConfig:
    """How a plan is made.

    Tools are chosen by the ranking or by a model. With ``iterative`` each job is searched in
    several phrasings and widened until a tool is chosen. With ``is_filtered`` the whole plan is
    checked.
    """

    worker: Literal["best", "model"] = "best"
    iterative: bool = True
    is_filtered: bool = False


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans on a retriever's ``tools``, by id. It is iterative unless ``widest`` is 0."""

    tools: Mapping[str, Tool]
    retriever: SearchableTools
    worker: workers.Worker
    k: int = WORKER_K
    widest: int = 0
    rephraser: workers.Rephraser | None = None
    plan_filter: workers.PlanFilter | None = None

    def plans(
        self, requests: Sequence[ToolRequest], progress: Progress = silent
    ) -> tuple[workers.RequestPlan, ...]:
        """A plan for each request; its jobs are its sub-queries, or itself if not split.

        Raises ``ConfigError`` for k below 1.
        """
        if self.k < 1:
            raise ConfigError(f"k is {self.k}; use at least 1")
        texts = list(map(jobs_of, requests))
        jobs = [
            workers.PlanJob(request.text, text, ())
            for request, own in zip(requests, texts, strict=True)
            for text in own
        ]
        steps = iter(self._steps(jobs, progress))
        plans = [
            workers.RequestPlan(request.text, tuple(next(steps) for _ in own))
            for request, own in zip(requests, texts, strict=True)
        ]
        if self.plan_filter is None:
            return tuple(plans)
        dropped = self.plan_filter(plans, self.tools)
        return tuple(
            replace(plan, dropped=left_out) for plan, left_out in zip(plans, dropped, strict=True)
        )

    def _steps(
        self, jobs: Sequence[workers.PlanJob], progress: Progress
    ) -> list[workers.PlannedStep]:
        """The step of each job."""
        phrasings = self.rephraser(jobs) if self.rephraser else [()] * len(jobs)
        everything = self._candidates(jobs, phrasings, progress)
        steps = [
            workers.PlannedStep(job.text, (), (), "nothing was found", other, rounds=0)
            for job, other in zip(jobs, phrasings, strict=True)
        ]
        widest = max(self.k, self.widest)
        for end in (*range(self.k, widest, STEP), widest):
            waiting = {
                at: replace(job, candidates=everything[at][len(steps[at].candidates) : end])
                for at, job in enumerate(jobs)
                if not steps[at].calls and len(everything[at]) > len(steps[at].candidates)
            }
            choices = self.worker(list(waiting.values())) if waiting else ()
            for (at, job), (calls, reason) in zip(waiting.items(), choices, strict=True):
                steps[at] = replace(
                    steps[at],
                    candidates=steps[at].candidates + job.candidates,
                    calls=calls,
                    reason=reason,
                    rounds=steps[at].rounds + 1,
                )
        return [self._or_the_best(job, step) for job, step in zip(jobs, steps, strict=True)]

    def _candidates(
        self,
        jobs: Sequence[workers.PlanJob],
        phrasings: Sequence[tuple[str, ...]],
        progress: Progress,
    ) -> list[tuple[workers.Candidate, ...]]:
        """For each job the best tools of its phrasings, by mean score.

        A phrasing that does not find a tool counts with its lowest score.
        """
        wordings = [(job.text, *other) for job, other in zip(jobs, phrasings, strict=True)]
        texts = list(dict.fromkeys(text for own in wordings for text in own))
        most = max(self.k, self.widest)
        rankings = self.retriever.search_each(
            [ToolRequest(one) for one in texts], max(most, LOOKED_AT), progress
        )
        scores = {
            text: {place.tool_id: place.score for place in ranking}
            for text, ranking in zip(texts, rankings, strict=True)
        }
        candidates = []
        for own in wordings:
            best = _mean_scores([scores[text] for text in own])
            ranked = sorted(best.items(), key=lambda one: -one[1])[:most]
            candidates.append(
                tuple(workers.Candidate(self.tools[name], score) for name, score in ranked)
            )
        return candidates

    def _or_the_best(self, job: workers.PlanJob, step: workers.PlannedStep) -> workers.PlannedStep:
        """The step with a call, because iterative plans leave no job without one."""
        if step.calls or not step.candidates or not self.widest:
            return step
        ((calls, _),) = workers.by_score([replace(job, candidates=step.candidates[:1])])
        return replace(step, calls=calls, reason=f"{step.reason}; the best tool found is taken")


def offline_planner(
    catalog: Catalog, retriever: SearchableTools, k: int, config: PlannerConfig
) -> Planner:
    """The planner without a model; if iterative, it also searches each job together with its
    request.
    """
    return Planner(
        catalog.by_id,
        retriever,
        workers.by_score,
        k,
        rephraser=workers.in_request if config.iterative else None,
        plan_filter=partial(workers.filtered_by_request, retriever) if config.is_filtered else None,
    )


def model_planner(
    catalog: Catalog, retriever: SearchableTools, k: int, config: PlannerConfig, asker: Asker
) -> Planner:
    """The planner with a model as worker, rephraser and filter."""
    return Planner(
        catalog.by_id,
        retriever,
        partial(workers.by_model, asker),
        k,
        widest=max(k, WIDEST) if config.iterative else 0,
        rephraser=partial(workers.rephrased_by_model, asker) if config.iterative else None,
        plan_filter=partial(workers.filtered_by_model, asker) if config.is_filtered else None,
    )


def _mean_scores(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    lowest = [min(one.values(), default=0.0) for one in scores]
    tool_ids = dict.fromkeys(tool_id for one in scores for tool_id in one)
    return {
        tool_id: sum(one.get(tool_id, least) for one, least in zip(scores, lowest, strict=True))
        / len(scores)
        for tool_id in tool_ids
    }


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """The results and cost of plans.

    ``precision``, ``recall`` and ``f1`` are macro averages of the called tools S against the needs
    R (§4.1: |R∩S|/|S|, |R∩S|/|R|, 2PR/(P+R)). ``exact`` is the share of queries for which S is
    exactly what is needed. The others are means per query: ``jobs``, ``searches`` (rankings),
    ``tools_called``, ``tools_shown`` to the worker, and ``tokens_shown`` of their definitions.
    """

    queries: int
    precision: Interval
    recall: Interval
    f1: Interval
    exact: Interval
    jobs: float
    searches: float
    tools_called: float
    tools_shown: float
    tokens_shown: float


def plan_figures(
    plans: Sequence[workers.RequestPlan], golds: Sequence[Gold], tokens: Callable[[Tool], int]
) -> PlanFigures:
    """The figures of plans and their needs, in the same order; ``tokens`` counts those of a
    definition.
    """
    called = [frozenset(plan.tool_ids) for plan in plans]
    rows = [set_metrics(set(ids), gold) for ids, gold in zip(called, golds, strict=True)]
    exact = [float(is_correct(ids, gold)) for ids, gold in zip(called, golds, strict=True)]
    shown = [[one.tool for step in plan.steps for one in step.candidates] for plan in plans]
    precision, recall, f1 = map(interval, zip(*rows, strict=True))
    return PlanFigures(
        len(plans),
        precision,
        recall,
        f1,
        interval(exact),
        jobs=_mean(len(plan.steps) for plan in plans),
        searches=_mean(plan.searches for plan in plans),
        tools_called=_mean(map(len, called)),
        tools_shown=_mean(map(len, shown)),
        tokens_shown=_mean(sum(map(tokens, tools)) for tools in shown),
    )


def _mean(counts: Iterable[int]) -> float:
    numbers = list(counts)
    return sum(numbers) / len(numbers)


def intents_by_model(
    queries: Sequence[Query],
    plan: MergePlan,
    retriever: SearchableTools,
    asker: Asker,
    progress: Progress = silent,
) -> tuple[Intent, ...]:
    """Requests with the needs from a model's plan in one round.

    A job for which it chooses none of the best tools has no tools. The retriever is over the plan's
    tools.
    """
    toolset = Catalog(tuple(item.tool for item in plan.tools))
    requests = [ToolRequest(one.text, decompose(one.text)) for one in queries]
    config = PlannerConfig("model", iterative=False, is_filtered=True)
    planner = model_planner(toolset, retriever, WIDEST, config, asker)
    return planned_intents(planner.plans(requests, progress), plan)


def planned_intents(plans: Iterable[workers.RequestPlan], plan: MergePlan) -> tuple[Intent, ...]:
    """Requests with the needs in their plans: every called tool, or any other of the same job.

    A job without a call has no tools.
    """
    equal = same_job(plan)

    def needs(request: workers.RequestPlan) -> Iterator[frozenset[str]]:
        for step in request.steps:
            calls = [call.tool_id for call in step.calls if call.tool_id not in request.dropped]
            yield from (equal.get(one, frozenset({one})) for one in calls)
            if not step.calls:
                yield frozenset()

    return tuple(Intent(one.request, tuple(dict.fromkeys(needs(one)))) for one in plans)

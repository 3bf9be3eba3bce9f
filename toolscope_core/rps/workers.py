"""The plan of a request, and the workers that decide in it: the ranking alone, or a model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from toolscope_core.evaluation.selection import Lists, jobs_of
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.selection_prompt import (
    FILTER_TASK,
    REPHRASING_TASK,
    WORKER_TASK,
    FilterQuestion,
    SelectionQuestion,
    in_shown_order,
)
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool found for a job, with its score in [0, 1]."""

    tool: Tool
    score: float


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool to call for a job.

    ``arguments`` says where the values of its parameters come from: the request, an earlier tool,
    or unknown; empty if nobody was asked.
    """

    tool_id: str
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A job of a request.

    It has the candidates that the worker saw in ``rounds``, best first, the calls and the reason.
    ``phrasings`` are the other texts that were searched.
    """

    job: str
    candidates: tuple[Candidate, ...]
    calls: tuple[PlannedCall, ...]
    reason: str
    phrasings: tuple[str, ...] = ()
    rounds: int = 1


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """The jobs of a request in order.

    ``dropped`` are tools removed by the check of the whole plan, each with the reason.
    """

    request: str
    steps: tuple[PlannedStep, ...]
    dropped: Mapping[str, str] = field(default_factory=dict)

    @property
    def called_tools(self) -> tuple[str, ...]:
        """The tools that the steps call, without repeats, in the order of the steps."""
        return tuple(dict.fromkeys(call.tool_id for step in self.steps for call in step.calls))

    @property
    def tool_ids(self) -> tuple[str, ...]:
        """The tools of the plan: those called and not dropped."""
        return tuple(one for one in self.called_tools if one not in self.dropped)

    @property
    def searches(self) -> int:
        """The number of rankings in its steps."""
        return sum(1 + len(step.phrasings) for step in self.steps)

    @property
    def tools_shown(self) -> int:
        """The number of tools shown to the worker, over all steps."""
        return sum(len(step.candidates) for step in self.steps)

    def as_json(self) -> JsonObject:
        """The plan as a trace in JSON values."""
        return {
            "request": self.request,
            "tools": list(self.tool_ids),
            "dropped": dict(self.dropped),
            "steps": [_step_json(step) for step in self.steps],
        }


def _step_json(step: PlannedStep) -> JsonObject:
    return {
        "job": step.job,
        "phrasings": list(step.phrasings),
        "rounds": step.rounds,
        "candidates": [
            {"tool": one.tool.id, "score": round(one.score, 6)} for one in step.candidates
        ],
        "calls": [{"tool": call.tool_id, "arguments": dict(call.arguments)} for call in step.calls],
        "reason": step.reason,
    }


_MARGIN = 0.05
"""Offline, a job takes the tools whose score is this close to the best."""
WITHIN = 20
"""Offline, a plan keeps the tools that the whole request finds among this many."""


@dataclass(frozen=True, slots=True)
class PlanJob:
    """A worker's input: a job, its request, and the candidates."""

    request: str
    text: str
    candidates: tuple[Candidate, ...]


_Choice = tuple[tuple[PlannedCall, ...], str]
"""The calls of a job, and why these."""


Worker = Callable[[Sequence[PlanJob]], Sequence[_Choice]]
"""Chooses the calls of jobs, in their order."""
Rephraser = Callable[[Sequence[PlanJob]], Sequence[tuple[str, ...]]]
"""Says jobs in other words, in their order; candidates are ignored."""
PlanFilter = Callable[[Sequence[RequestPlan], Mapping[str, Tool]], Sequence[Mapping[str, str]]]
"""Says which chosen tools each plan does not need, with the reason."""


def by_score(jobs: Sequence[PlanJob]) -> list[_Choice]:
    """The worker without a model: the best tool of each job, and those within ``_MARGIN`` of it."""
    return [_best(job.candidates) for job in jobs]


def _best(candidates: Sequence[Candidate]) -> _Choice:
    if not candidates:
        return (), "nothing was found"
    least = candidates[0].score - _MARGIN
    near = [one for one in candidates if one.score > least or one is candidates[0]]
    reason = (
        f"the best, ahead by {candidates[0].score - candidates[1].score:.2f}"
        if len(near) == 1 and len(candidates) > 1
        else f"the best {len(near)}, less than {_MARGIN:g} apart"
        if len(near) > 1
        else "the only one found"
    )
    return tuple(PlannedCall(one.tool.id) for one in near), reason


def by_model(asker: Asker, jobs: Sequence[PlanJob]) -> list[_Choice]:
    """A model's calls for jobs; a job without a usable answer gets none."""
    questions = [
        SelectionQuestion(job.request, job.text, tuple(one.tool for one in job.candidates))
        for job in jobs
    ]
    answers = asker(WORKER_TASK, questions)
    choices: list[_Choice] = []
    for question, answer in zip(questions, answers, strict=True):
        if answer is None or answer.value is None:
            choices.append(((), (answer.reason if answer else asker.message) or "not asked"))
            continue
        tools = in_shown_order(question.tools)
        calls = tuple(
            PlannedCall(tools[call["tool"] - 1].id, call["arguments"])
            for call in answer.value["calls"]
        )
        reason = f"chosen by {asker.name}" if calls else f"{asker.name} says that none fits"
        choices.append((calls, reason))
    return choices


def tools_of_pools(
    tools: Iterable[Tool], requests: Sequence[ToolRequest], asker: Asker, pools: Lists
) -> list[frozenset[str]]:
    """For each request, the ids of the tools that a model calls for its jobs.

    Each job sees the whole pool of the request (§4.4, table 8).
    """
    by_id = {tool.id: tool for tool in tools}
    jobs = [
        (at, PlanJob(request.text, job, tuple(Candidate(by_id[one], 0.0) for one in pool)))
        for at, (request, pool) in enumerate(zip(requests, pools, strict=True))
        for job in jobs_of(request)
    ]
    tool_ids: list[set[str]] = [set() for _ in requests]
    choices = by_model(asker, [job for _, job in jobs])
    for (at, _), (calls, _) in zip(jobs, choices, strict=True):
        tool_ids[at] |= {call.tool_id for call in calls}
    return list(map(frozenset, tool_ids))


def in_request(jobs: Sequence[PlanJob]) -> list[tuple[str, ...]]:
    """The rephraser without a model: a job followed by its request, which has the words lost in
    splitting.
    """
    return [(f"{job.text} {job.request}",) if job.text != job.request else () for job in jobs]


def rephrased_by_model(asker: Asker, jobs: Sequence[PlanJob]) -> list[tuple[str, ...]]:
    """Other words for jobs by a model; none without a usable answer."""
    questions = [SelectionQuestion(job.request, job.text, ()) for job in jobs]
    answers = asker(REPHRASING_TASK, questions)
    return [tuple(one.value["phrasings"]) if one and one.value else () for one in answers]


def filtered_by_request(
    retriever: SearchableTools, plans: Sequence[RequestPlan], tools: Mapping[str, Tool]
) -> list[Mapping[str, str]]:
    """The filter without a model.

    A plan keeps its tools among the first ``WITHIN`` that the whole request finds, or all tools if
    none is there.
    """
    requests = [ToolRequest(plan.request) for plan in plans]
    dropped: list[Mapping[str, str]] = []
    for plan, ranking in zip(plans, retriever.search_each(requests, WITHIN), strict=True):
        near = {place.tool_id for place in ranking}
        far = [one for one in plan.called_tools if one not in near]
        reason = f"not among the first {WITHIN} results for the whole request"
        dropped.append(dict.fromkeys(far, reason) if len(far) < len(plan.called_tools) else {})
    return dropped


def filtered_by_model(
    asker: Asker, plans: Sequence[RequestPlan], tools: Mapping[str, Tool]
) -> list[Mapping[str, str]]:
    """A model's filter of the whole plan; without a usable answer, all tools stay."""
    questions = [_filter_question(plan, tools) for plan in plans]
    choices = [one for one in questions if len(one.tools) > 1]
    answers = iter(asker(FILTER_TASK, choices))
    dropped: list[Mapping[str, str]] = []
    for question in questions:
        answer = next(answers) if len(question.tools) > 1 else None
        if answer is None or answer.value is None:
            dropped.append({})
            continue
        shown, needed = in_shown_order(question.tools), set(answer.value["needed"])
        dropped.append(
            {
                tool.id: f"not needed for the whole request, according to {asker.name}"
                for number, tool in enumerate(shown, 1)
                if number not in needed
            }
        )
    return dropped


def _filter_question(plan: RequestPlan, tools: Mapping[str, Tool]) -> FilterQuestion:
    jobs = {
        tool_id: tuple(
            step.job for step in plan.steps if tool_id in [call.tool_id for call in step.calls]
        )
        for tool_id in plan.called_tools
    }
    return FilterQuestion(plan.request, tuple(tools[one] for one in plan.called_tools), jobs)

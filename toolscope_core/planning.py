"""Plan and select: for each job of a request candidates, and of these the tools to call
(Retrieval–Plan–Select, algorithm 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from toolscope_core.backends import Progress, silent
from toolscope_core.datamodel import JsonObject, Tool
from toolscope_core.errors import ConfigError
from toolscope_core.prompts.selection_prompt import SelectionQuestion, in_order
from toolscope_core.prompts.worker_prompt import WorkerTask
from toolscope_core.questioning import Asker
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import Retriever

WORKER_K = 5
"""K: the tools that a worker sees for a job (Retrieval–Plan–Select, §3.2)."""
MARGIN = 0.05
"""Offline a job takes the tools whose score is that close to the best one's."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool found for a job, with its score in [0, 1]."""

    tool: Tool
    score: float


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool to call for a job. ``arguments`` says of its parameters where their values come from:
    the request, an earlier tool, or unknown; empty where nobody was asked.
    """

    tool_id: str
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A job of a request: what was found for it, the best first, what is called, and why."""

    job: str
    candidates: tuple[Candidate, ...]
    calls: tuple[PlannedCall, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """The jobs of a request in order."""

    request: str
    steps: tuple[PlannedStep, ...]

    @property
    def tool_ids(self) -> tuple[str, ...]:
        """The tools of all steps, each once, in the order of the steps."""
        return tuple(dict.fromkeys(call.tool_id for step in self.steps for call in step.calls))

    def as_json(self) -> JsonObject:
        """The trace."""
        return {
            "request": self.request,
            "tools": list(self.tool_ids),
            "steps": [
                {
                    "job": step.job,
                    "candidates": [
                        {"tool": one.tool.id, "score": round(one.score, 6)}
                        for one in step.candidates
                    ],
                    "calls": [
                        {"tool": call.tool_id, "arguments": dict(call.arguments)}
                        for call in step.calls
                    ],
                    "reason": step.reason,
                }
                for step in self.steps
            ],
        }


@dataclass(frozen=True, slots=True)
class PlanJob:
    """What a worker sees: a job, the request that it is part of, and the candidates."""

    request: str
    text: str
    candidates: tuple[Candidate, ...]


Choice = tuple[tuple[PlannedCall, ...], str]
"""The calls of a job, and why these."""


class Worker(Protocol):
    """Whoever chooses the calls of jobs, in their order."""

    def __call__(self, jobs: Sequence[PlanJob]) -> Sequence[Choice]: ...


def plans_of(
    requests: Sequence[ToolRequest],
    tools: Mapping[str, Tool],
    retriever: Retriever,
    worker: Worker,
    k: int = WORKER_K,
    progress: Progress = silent,
) -> tuple[RequestPlan, ...]:
    """A plan for each request: its sub-queries, or itself where it is not split, are searched each
    by itself, the ``k`` best are candidates, and ``worker`` takes some of them. Raises
    ``ConfigError`` for k below 1.
    """
    if k < 1:
        raise ConfigError(f"k is {k}; give at least 1")
    jobs_of = [one.texts[1:] or (one.text,) for one in requests]
    texts = list(dict.fromkeys(text for jobs in jobs_of for text in jobs))
    rankings = retriever.search_each([ToolRequest(text) for text in texts], k, progress)
    candidates = {
        text: tuple(Candidate(tools[place.tool_id], place.score) for place in ranking)
        for text, ranking in zip(texts, rankings, strict=True)
    }
    asked = [
        PlanJob(request.text, text, candidates[text])
        for request, jobs in zip(requests, jobs_of, strict=True)
        for text in jobs
    ]
    chosen = iter(zip(asked, worker(asked), strict=True))
    plans = []
    for request, jobs in zip(requests, jobs_of, strict=True):
        steps = []
        for _ in jobs:
            job, (calls, reason) = next(chosen)
            steps.append(PlannedStep(job.text, job.candidates, calls, reason))
        plans.append(RequestPlan(request.text, tuple(steps)))
    return tuple(plans)


def by_score(jobs: Sequence[PlanJob], margin: float = MARGIN) -> list[Choice]:
    """The worker without a model: for each job the best of its ranking, and what is as good by
    less than ``margin``.
    """
    return [_best(job.candidates, margin) for job in jobs]


def _best(candidates: Sequence[Candidate], margin: float) -> Choice:
    if not candidates:
        return (), "nothing was found"
    least = candidates[0].score - margin
    near = [one for one in candidates if one.score > least or one is candidates[0]]
    reason = (
        f"the best by {candidates[0].score - candidates[1].score:.2f}"
        if len(near) == 1 and len(candidates) > 1
        else f"the best {len(near)}, which are less than {margin:g} apart"
        if len(near) > 1
        else "the only one found"
    )
    return tuple(PlannedCall(one.tool.id) for one in near), reason


def by_model(asker: Asker) -> Worker:
    """A model as the worker; a job takes nothing where it gives no usable answer."""

    def worker(jobs: Sequence[PlanJob]) -> Sequence[Choice]:
        questions = [
            SelectionQuestion(job.request, job.text, tuple(one.tool for one in job.candidates))
            for job in jobs
        ]
        answers = asker(WorkerTask(), questions)
        chosen: list[Choice] = []
        for question, answer in zip(questions, answers, strict=True):
            if answer is None or answer.value is None:
                chosen.append(((), (answer.reason if answer else asker.message) or "not asked"))
                continue
            tools = in_order(question.tools)
            calls = tuple(
                PlannedCall(tools[call["tool"] - 1].id, call["arguments"])
                for call in answer.value["calls"]
            )
            chosen.append((calls, f"chosen by {asker.name}"))
        return chosen

    return worker

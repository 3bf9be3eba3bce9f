"""Measures whether an agent would choose the right ones of k tools: Correct Selection Rate
(ToolScope, eq. 6).

The agent sees one list of k tools for the whole request (eq. 5) and takes one tool for each job. A
job is a sub-query (appendix G.4). Without a model, the tool for a job is the listed tool that ranks
highest in a separate search for the job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from toolscope_core.evaluation.intervals import interval
from toolscope_core.evaluation.measured_toolsets import Ranker
from toolscope_core.evaluation.metrics import Gold, MetricRow
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest

if TYPE_CHECKING:
    from toolscope_core.llm.model_requests import Asker

_PLACES = 50
"""Tools that rank below this in the search for a job are not taken."""

Lists = Sequence[Sequence[str]]
"""For each request, the ids of the tools that an agent gets."""
ListChooser = Callable[[Lists], Sequence[frozenset[str]]]
"""A function that chooses, for each request, tools from its list."""


def jobs_of(request: ToolRequest) -> tuple[str, ...]:
    """The sub-queries of a request, or the request itself if it is not split."""
    return request.texts[1:] or (request.text,)


def job_rankings(
    tools: Sequence[Tool],
    requests: Sequence[ToolRequest],
    ranker: Ranker,
    progress: Progress = silent,
) -> dict[str, tuple[str, ...]]:
    """The ids of the best tools for each job in the requests; each job is searched for
    separately.
    """
    jobs = list(dict.fromkeys(job for request in requests for job in jobs_of(request)))
    rankings = ranker.rankings(tools, [ToolRequest(job) for job in jobs], _PLACES, progress)
    return dict(zip(jobs, rankings, strict=True))


def best_for_jobs(
    requests: Sequence[ToolRequest], by_job: Mapping[str, Sequence[str]], lists: Lists
) -> tuple[frozenset[str], ...]:
    """For each request, the tools in its list that rank highest for its jobs.

    A job takes no tool if none of the listed tools is in its ranking.
    """
    return tuple(
        frozenset(next((one for one in by_job[job] if one in ids), "") for job in jobs_of(request))
        - {""}
        for request, ids in zip(requests, lists, strict=True)
    )


def none_by_model(request: str, nearest: Sequence[Tool], asker: Asker) -> bool | None:
    """Whether a model that sees the nearest tools says that none of them fits.

    ``None`` if there is no usable answer.
    """
    from toolscope_core.llm.tasks import selection_prompt  # loads all prompts

    question = selection_prompt.SelectionQuestion(request, request, tuple(nearest))
    (answer,) = asker(selection_prompt.SELECTION_TASK, [question])
    return answer.value["tool"] == selection_prompt.NOBODY if answer and answer.value else None


def selected_by_model(
    tools: Sequence[Tool], requests: Sequence[ToolRequest], asker: Asker, lists: Lists
) -> tuple[frozenset[str], ...]:
    """For each request, the ids of the tools that a model chooses for its jobs from one list.

    A job takes no tool if the model chooses none or gives no usable answer.
    """
    from toolscope_core.llm.tasks.selection_prompt import (  # loads all prompts
        NOBODY,
        SELECTION_TASK,
        SelectionQuestion,
        in_shown_order,
    )

    by_id = {tool.id: tool for tool in tools}
    questions = [
        (at, SelectionQuestion(request.text, job, tuple(by_id[one] for one in candidates)))
        for at, (request, candidates) in enumerate(zip(requests, lists, strict=True))
        for job in jobs_of(request)
        if candidates
    ]
    selections: list[set[str]] = [set() for _ in requests]
    answers = asker(SELECTION_TASK, [question for _, question in questions])
    for (at, question), answer in zip(questions, answers, strict=True):
        number = answer.value["tool"] if answer and answer.value else NOBODY
        if number != NOBODY:
            selections[at].add(in_shown_order(question.tools)[number - 1].id)
    return tuple(map(frozenset, selections))


def selection_rates(
    choice: ListChooser, rankings: Lists, golds: Sequence[Gold], cutoffs: Sequence[int]
) -> tuple[MetricRow, ...]:
    """CSR@k (ToolScope, eq. 6) at each cut-off.

    It is the share of requests for which exactly the needed tools were chosen from the first k.
    """
    return tuple(
        _rate("csr", k, choice([ids[:k] for ids in rankings]), golds) for k in sorted(set(cutoffs))
    )


def offline_rates(
    requests: Sequence[ToolRequest],
    by_job: Mapping[str, Sequence[str]],
    rankings: Lists,
    golds: Sequence[Gold],
    cutoffs: Sequence[int],
) -> tuple[MetricRow, ...]:
    """CSR@k without a model, and the rate *parts*.

    *parts* is the share of requests for which the best tools for the jobs are exactly the needed
    ones, if each job is searched for alone among all tools.
    """
    best = [frozenset(one for job in jobs_of(own) for one in by_job[job][:1]) for own in requests]
    rates = selection_rates(partial(best_for_jobs, requests, by_job), rankings, golds, cutoffs)
    return (*rates, _rate("parts", 1, best, golds))


def _rate(
    metric: str, k: int, selections: Sequence[frozenset[str]], golds: Sequence[Gold]
) -> MetricRow:
    correct = [float(is_correct(ids, gold)) for ids, gold in zip(selections, golds, strict=True)]
    return MetricRow(metric, k, interval(correct), tuple(correct))


def is_correct(selection: frozenset[str], gold: Gold) -> bool:
    """Whether the selection is exact: one tool for each need and no others."""
    needs = list(dict.fromkeys(frozenset(need) for need in gold))
    return len(selection) == len(needs) and _can_match(needs, selection)


def _can_match(needs: Sequence[frozenset[str]], selection: frozenset[str]) -> bool:
    """Whether each need can be matched with a chosen tool of its own."""
    if not needs:
        return True
    need, *others = needs
    return any(_can_match(others, selection - {one}) for one in need & selection)

"""Which tools an agent would take of those it is given: Correct Selection Rate (ToolScope, eq. 6).

Without a model the selector is the search itself: the best tool of each job, a job being a
sub-query. A model chooses among the k best of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolscope_core.evaluation.intervals import interval
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.evaluation.ranking import Ranker
from toolscope_core.evaluation.reports import MetricRow
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.tasks.selection_prompt import (
    NOBODY,
    SELECTION_TASK,
    SelectionQuestion,
    in_order,
)
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest


def selected(
    tools: Sequence[Tool],
    requests: Sequence[ToolRequest],
    ranker: Ranker,
    progress: Progress = silent,
) -> tuple[frozenset[str], ...]:
    """For each request the ids of the best tool of each of its jobs."""
    by_job = found_for_jobs(tools, requests, ranker, 1, progress)
    return tuple(
        frozenset(one for job in jobs_of(request) for one in by_job[job]) for request in requests
    )


def selected_by_model(
    tools: Sequence[Tool],
    requests: Sequence[ToolRequest],
    found: Mapping[str, Sequence[str]],
    asker: Asker,
) -> tuple[frozenset[str], ...]:
    """For each request the ids of the tools that a model takes of those ``found`` for each of its
    jobs; none for a job where it takes none, or gave no usable answer.
    """
    by_id = {tool.id: tool for tool in tools}
    asked = [
        (at, SelectionQuestion(request.text, job, tuple(by_id[one] for one in found[job])))
        for at, request in enumerate(requests)
        for job in jobs_of(request)
        if found[job]
    ]
    chosen: list[set[str]] = [set() for _ in requests]
    answers = asker(SELECTION_TASK, [question for _, question in asked])
    for (at, question), answer in zip(asked, answers, strict=True):
        number = answer.value["tool"] if answer and answer.value else NOBODY
        if number != NOBODY:
            chosen[at].add(in_order(question.tools)[number - 1].id)
    return tuple(map(frozenset, chosen))


def found_for_jobs(
    tools: Sequence[Tool],
    requests: Sequence[ToolRequest],
    ranker: Ranker,
    k: int,
    progress: Progress = silent,
) -> dict[str, tuple[str, ...]]:
    """By job of the requests the ids of its k best tools, each job searched by itself."""
    jobs = list(dict.fromkeys(job for request in requests for job in jobs_of(request)))
    rankings = ranker.rankings(tools, [ToolRequest(job) for job in jobs], k, progress)
    return dict(zip(jobs, rankings, strict=True))


def jobs_of(request: ToolRequest) -> tuple[str, ...]:
    """The sub-queries of a request, or itself where it is not split."""
    return request.texts[1:] or (request.text,)


def selection_rate(chosen: Sequence[frozenset[str]], golds: Sequence[Gold], k: int) -> MetricRow:
    """CSR@k with its interval: the share of requests of which exactly what is needed was chosen."""
    correct = [float(is_correct(ids, gold)) for ids, gold in zip(chosen, golds, strict=True)]
    return MetricRow("csr", k, interval(correct), tuple(correct))


def is_correct(chosen: frozenset[str], gold: Gold) -> bool:
    """Whether exactly what is needed was chosen: each need is served, by one tool, and nothing else
    was taken.
    """
    needs = list(dict.fromkeys(frozenset(need) for need in gold))
    return len(chosen) == len(needs) and _matched(needs, chosen)


def _matched(needs: Sequence[frozenset[str]], chosen: frozenset[str]) -> bool:
    """Whether the needs can be given one chosen tool each."""
    if not needs:
        return True
    need, *others = needs
    return any(_matched(others, chosen - {one}) for one in need & chosen)

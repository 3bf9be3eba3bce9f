"""Queries that a model writes, on the screen: requested as a job, reviewed, and saved as a query
set.

No query is used until a person keeps it. Searches, measurements and training read query sets, and
the set of generated queries contains only those that were kept.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from toolscope_core.evaluation.query_sets import example_requests
from toolscope_core.llm import estimates
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.run_configuration import RunKind
from toolscope_core.llm.tasks.query_draft_prompt import DraftQuestion
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import QueryGeneration
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import JsonObject, digest
from toolscope_core.store.named_rows import (
    SET_NAME,
    GeneratedQuery,
    GeneratedState,
    clear_generated,
    decide_generated,
    edit_generated,
    keep_generated,
    list_generated,
)
from toolscope_core.store.runs import ModelRun
from toolscope_core.tool2vec import query_checks, query_writing
from ui.shared.kept import kept, kept_under
from ui.shared.services import loaded_queries, model_runs
from ui.shared.snapshot import Snapshot

UNUSABLE = frozenset({"length", "hidden"})
"""Flaws that make a text unusable. A person judges the other flaws."""


@dataclass(frozen=True, slots=True)
class GeneratedView:
    """A generated query, and the objections to its text as it is now."""

    query: GeneratedQuery
    flaws: tuple[query_checks.QueryFlaw, ...] = ()


_KIND: RunKind = "queries"


def estimate(snapshot: Snapshot, generation: QueryGeneration) -> estimates.Estimates:
    """The cost of ``start`` if it were called now. Nothing is sent. Raises the
    errors of ``run``.
    """
    questions = _questions(snapshot, generation)
    return model_runs.estimate_of(snapshot, partial(query_writing.queries_of_model, questions))


def start(snapshot: Snapshot, generation: QueryGeneration) -> str:
    """Ask in the background. Returns the id of the job, or of one that is already running.

    Raises ``ConfigError`` without an endpoint, and ``JobError`` before the analysis is done.
    """
    _ = snapshot.analysis  # raises JobError if there is no analysis
    return model_runs.in_background(
        snapshot, _KIND, lambda progress: run(snapshot, generation, progress)
    )


def run(snapshot: Snapshot, request: QueryGeneration, progress: Progress = silent) -> ModelRun:
    """Ask now, and store the queries for review.

    Raises the errors of ``model_runs.run`` and ``draft_questions``.
    """
    questions = _questions(snapshot, request)

    def work(asker: Asker) -> None:
        queries = [
            one for one in query_writing.queries_of_model(questions, asker) if not one.is_open
        ]
        offers = [
            GeneratedQuery(one.key, one.tools, one.draft, one.text, one.reason) for one in queries
        ]
        keep_generated(snapshot.work.store, snapshot.id, asker.name, offers)

    generation: JsonObject = {
        "count": request.count,
        "seed": request.seed,
        "examples": digest(*sorted({one.text for item in questions for one in item.examples})),
    }
    return model_runs.ask(snapshot, _KIND, work, progress, generation)


def views(snapshot: Snapshot) -> tuple[GeneratedView, ...]:
    """The generated queries in the order in which they came.

    A query counts as a copy if it repeats an earlier one that was not dropped, or a query of
    another query set.
    """
    rows = list_generated(snapshot.work.store, snapshot.id)
    people = (*loaded_queries.queries(snapshot, SET_NAME), *example_requests())
    texts = (*(one.text for one in people), *(row.text for row in rows))
    near = kept_under(
        snapshot.catalog, "near copies", texts, lambda: query_checks.near_copies(texts)
    )
    queries, checks = [_query_of(row) for row in rows], _checks(snapshot.catalog)
    dropped = [row.key for row in rows if row.state == "dropped"]
    copied = query_writing.first_copies(queries, near, dropped)
    return tuple(
        GeneratedView(row, query_writing.flaws_of(one, checks, copied.get(row.key), texts))
        for row, one in zip(rows, queries, strict=True)
    )


def decide(snapshot: Snapshot, queries: Iterable[GeneratedQuery], state: GeneratedState) -> int:
    """Keep queries, drop them, or let them wait again. Returns how many have changed.

    If a query no longer equals its version in ``queries``, it stays unchanged. The query set
    contains the queries that are kept.
    """
    return decide_generated(
        snapshot.work.store, snapshot.id, queries, state, partial(_query_file, snapshot.catalog)
    )


def keep_clean(snapshot: Snapshot) -> int:
    """Keep every waiting query without objections. Returns how many there are."""
    clean = [
        view.query for view in views(snapshot) if view.query.state == "waiting" and not view.flaws
    ]
    return decide(snapshot, clean, "kept")


def edit(snapshot: Snapshot, query: GeneratedQuery, text: str) -> None:
    """Give a query another text and keep the query.

    Raises ``ConfigError`` if the text is too short, is too long or has hidden characters, and
    ``StoreError`` if somebody else has changed the query.
    """
    line = " ".join(text.split())
    for flaw in flaws(snapshot, query, line):
        if flaw.code in UNUSABLE:
            raise ConfigError(f"the query cannot be kept: {flaw.message}; change its text")
    edit_generated(
        snapshot.work.store, snapshot.id, query, line, partial(_query_file, snapshot.catalog)
    )


def flaws(
    snapshot: Snapshot, query: GeneratedQuery, text: str
) -> tuple[query_checks.QueryFlaw, ...]:
    """The objections to a text for the tools of a query, except that it is a copy."""
    return _checks(snapshot.catalog).flaws(text, query.tools)


def clear(snapshot: Snapshot) -> int:
    """Delete the dropped and failed queries for good. Returns how many there were."""
    return clear_generated(snapshot.work.store, snapshot.id, ("dropped", "failed"))


def file(snapshot: Snapshot) -> bytes:
    """The queries that were kept, as a query file."""
    rows = list_generated(snapshot.work.store, snapshot.id)
    return _query_file(snapshot.catalog, [one for one in rows if one.state == "kept"])


def covered_count(snapshot: Snapshot, with_waiting: bool = False) -> int:
    """How many tools are answers to a query that is kept or, ``with_waiting``, also to one that
    waits.
    """
    catalog, states = snapshot.catalog, {"kept"}
    states |= {"waiting"} if with_waiting else set()
    rows = [one for one in list_generated(snapshot.work.store, snapshot.id) if one.state in states]
    counts = query_writing.query_counts(query_writing.as_queries(catalog, map(_query_of, rows)))
    return sum(counts[tool.id] > 0 for tool in catalog.tools)


def _questions(snapshot: Snapshot, generation: QueryGeneration) -> tuple[DraftQuestion, ...]:
    analysis = snapshot.analysis
    people = loaded_queries.queries(snapshot, SET_NAME)
    return query_writing.draft_questions(
        analysis.catalog, analysis.vectors, people, generation, example_requests()
    )


@kept()
def _checks(catalog: Catalog) -> query_checks.QueryChecks:
    return query_checks.QueryChecks(catalog)


def _query_file(catalog: Catalog, queries: Sequence[GeneratedQuery]) -> bytes:
    rows = query_writing.query_rows(catalog, map(_query_of, queries))
    lines = (f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return "".join(lines).encode("utf-8", "backslashreplace")


def _query_of(row: GeneratedQuery) -> query_writing.WrittenQuery:
    return query_writing.WrittenQuery(row.key, row.tools, row.draft, row.text, row.reason)

"""Queries of a model on the screen: asked for as a job, reviewed, kept as a query set.

Nothing is used before a person keeps it: searches, measurements and training read query sets, and
the set of generated queries holds what was kept.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from toolscope_core.evaluation.example import example_requests
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.run_configuration import RunKind
from toolscope_core.llm.tasks.query_draft_prompt import DraftQuestion
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import QueryGeneration
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import JsonObject, digest
from toolscope_core.store.generated_rows import (
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
from toolscope_core.tool2vec.estimates import Estimates
from toolscope_core.tool2vec.near_copies import near_copies
from toolscope_core.tool2vec.query_checks import QueryChecks, QueryFlaw
from toolscope_core.tool2vec.query_writing import (
    WrittenQuery,
    as_queries,
    draft_questions,
    first_copies,
    flaws_of,
    queries_of_model,
    query_counts,
    query_rows,
)
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.model_runs import ModelRuns
from ui.shared.services.page_service import JobService, Uses

UNUSABLE = frozenset({"length", "hidden"})
"""Flaws with which no text is kept; the others are for a person to judge."""


@dataclass(frozen=True, slots=True)
class GeneratedView:
    """A query on offer, and what speaks against it as it stands."""

    query: GeneratedQuery
    flaws: tuple[QueryFlaw, ...] = ()


class GeneratedQueries(JobService):
    """The queries that models wrote for analysed catalogs."""

    kind: RunKind = "queries"
    _queries = Uses(LoadedQueries)
    _runs = Uses(ModelRuns)

    def estimate(self, catalog_id: int, wanted: QueryGeneration) -> Estimates:
        """What ``start`` would take now; sends nothing. Raises as ``run``."""
        questions = self._questions(catalog_id, wanted)
        return self._runs.estimate_of(partial(queries_of_model, questions))

    def start(self, catalog_id: int, wanted: QueryGeneration) -> str:
        """Ask in the background; returns the job's id (that of a running one, if any). Raises
        ``ConfigError`` without an endpoint, ``JobError`` before the analysis is finished.
        """
        self._work.endpoints.needed()
        self._analyses.required(catalog_id)
        return super().start(catalog_id, wanted)

    def run(
        self, catalog_id: int, wanted: QueryGeneration, progress: Progress = silent
    ) -> ModelRun:
        """Ask here and now, and put what is written on offer, as far as it was answered. Raises as
        ``Judging.run`` and ``draft_questions`` do.
        """
        questions = self._questions(catalog_id, wanted)

        def work(asker: Asker) -> None:
            written = [one for one in queries_of_model(questions, asker) if not one.is_open]
            offers = [
                GeneratedQuery(one.key, one.tools, one.draft, one.text, one.reason)
                for one in written
            ]
            keep_generated(self._store, catalog_id, asker.name, offers)

        generation: JsonObject = {
            "count": wanted.count,
            "seed": wanted.seed,
            "examples": digest(*sorted({one.text for item in questions for one in item.examples})),
        }
        return self._runs.ask(catalog_id, self.kind, work, progress, generation)

    def views(self, catalog_id: int) -> tuple[GeneratedView, ...]:
        """What is on offer, in order of its arrival. A copy is held against what arrived before it
        and was not dropped, and against the other query sets.
        """
        rows = list_generated(self._store, catalog_id)
        people = (*self._queries.queries(catalog_id, SET_NAME), *example_requests())
        texts = (*(one.text for one in people), *(row.text for row in rows))
        near = self._cached(
            ("near", catalog_id), (), lambda: near_copies(texts), state=texts, most=4
        )
        written, checks = [_written(row) for row in rows], self._checks(catalog_id)
        dropped = [row.key for row in rows if row.state == "dropped"]
        copied = first_copies(written, near, dropped)
        return tuple(
            GeneratedView(row, flaws_of(one, checks, copied.get(row.key), texts))
            for row, one in zip(rows, written, strict=True)
        )

    def decide(
        self, catalog_id: int, shown: Iterable[GeneratedQuery], state: GeneratedState
    ) -> int:
        """Keep queries, drop them or put them back to wait; how many changed. One that is no longer
        as it was ``shown`` stays as it is. The query set is that of the kept ones.
        """
        return decide_generated(self._store, catalog_id, shown, state, self._as_file(catalog_id))

    def keep_clean(self, catalog_id: int) -> int:
        """Keep every waiting query that nothing speaks against; how many they are."""
        clean = [
            view.query
            for view in self.views(catalog_id)
            if view.query.state == "waiting" and not view.flaws
        ]
        return self.decide(catalog_id, clean, "kept")

    def edit(self, catalog_id: int, shown: GeneratedQuery, text: str) -> None:
        """Give a query another text and keep it. Raises ``ConfigError`` for one that is too short,
        too long or hides characters, ``StoreError`` where somebody else has changed it since.
        """
        line = " ".join(text.split())
        for flaw in self.flaws(catalog_id, shown, line):
            if flaw.code in UNUSABLE:
                raise ConfigError(f"the query cannot be kept: {flaw.message}; change its text")
        edit_generated(self._store, catalog_id, shown, line, self._as_file(catalog_id))

    def flaws(self, catalog_id: int, shown: GeneratedQuery, text: str) -> tuple[QueryFlaw, ...]:
        """What speaks against a text for the tools of a query, copies left out."""
        return self._checks(catalog_id).flaws(text, shown.tools)

    def clear(self, catalog_id: int) -> int:
        """Delete what was dropped or failed for good; how many there were."""
        return clear_generated(self._store, catalog_id, ("dropped", "failed"))

    def file(self, catalog_id: int) -> bytes:
        """The kept queries as a query file."""
        rows = list_generated(self._store, catalog_id)
        return self._as_file(catalog_id)([one for one in rows if one.state == "kept"])

    def covered(self, catalog_id: int, with_waiting: bool = False) -> int:
        """How many tools answer a query: one that is kept, or on offer too."""
        catalog, states = self._catalogs.open(catalog_id), {"kept"}
        states |= {"waiting"} if with_waiting else set()
        rows = [one for one in list_generated(self._store, catalog_id) if one.state in states]
        counts = query_counts(as_queries(catalog, map(_written, rows)))
        return sum(counts[tool.id] > 0 for tool in catalog.tools)

    def _questions(self, catalog_id: int, wanted: QueryGeneration) -> tuple[DraftQuestion, ...]:
        analysis = self._analyses.required(catalog_id)
        people = self._queries.queries(catalog_id, SET_NAME)
        return draft_questions(
            analysis.catalog, analysis.vectors, people, wanted, example_requests()
        )

    def _checks(self, catalog_id: int) -> QueryChecks:
        catalog = self._catalogs.open(catalog_id)
        return self._cached(
            ("checkers", catalog_id), (catalog,), lambda: QueryChecks(catalog), most=4
        )

    def _as_file(self, catalog_id: int) -> Callable[[Sequence[GeneratedQuery]], bytes]:
        """What writes queries as a file for the catalog."""
        return partial(_query_file, self._catalogs.open(catalog_id))


def _query_file(catalog: Catalog, queries: Sequence[GeneratedQuery]) -> bytes:
    rows = query_rows(catalog, map(_written, queries))
    lines = (f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return "".join(lines).encode("utf-8", "backslashreplace")


def _written(row: GeneratedQuery) -> WrittenQuery:
    return WrittenQuery(row.key, row.tools, row.draft, row.text, row.reason)

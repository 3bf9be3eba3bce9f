"""Queries of a model for the tools of a catalog, checked, as a query file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.cli.asking import (
    AskRequest,
    asking,
    generating_estimates,
    spent_in_all,
)
from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.example import example_requests
from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.files.json_lines import write_rows
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.llm.tasks.query_draft_prompt import DraftQuestion
from toolscope_core.merging.model_verdicts import Spent
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import QueryGeneration
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.tool2vec.estimates import Estimates
from toolscope_core.tool2vec.query_checks import QueryChecks
from toolscope_core.tool2vec.query_writing import (
    CheckedQuery,
    as_queries,
    checked_queries,
    draft_questions,
    queries_of_model,
    query_counts,
    query_rows,
)


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """How many queries are asked for, the file of people's ``examples``, whether doubtful ones are
    written too, the ``embedder`` that says which tools are near each other, and who is asked.
    """

    wanted: QueryGeneration
    examples: Path | None = None
    keep_doubtful: bool = False
    embedder: str | None = None
    ask: AskRequest = field(default_factory=AskRequest)


@dataclass(frozen=True, slots=True)
class GenerateReport:
    """Every question with what came of it, how many queries each tool got of those written, by id
    (none left out), and what asking took.
    """

    queries: tuple[CheckedQuery, ...]
    written: int
    coverage: dict[str, int]
    spent: Spent

    @property
    def failed(self) -> tuple[CheckedQuery, ...]:
        """Those without a text."""
        return tuple(one for one in self.queries if not one.query.text)

    @property
    def doubtful(self) -> tuple[CheckedQuery, ...]:
        """Those with something that speaks against them."""
        return tuple(one for one in self.queries if one.flaws)

    @property
    def covered(self) -> int:
        """Tools that answer one that was written."""
        return sum(count > 0 for count in self.coverage.values())


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is to be asked about a catalog, and the queries that people gave."""

    catalog: Catalog
    people: tuple[Query, ...]
    questions: tuple[DraftQuestion, ...]

    @property
    def existing(self) -> list[str]:
        """The requests that a new one may not copy: those of people, and the examples shown."""
        shown = [one.text for question in self.questions for one in question.examples]
        return list(dict.fromkeys([*(one.text for one in self.people), *shown]))


def estimate_queries(
    paths: Sequence[Path],
    options: GenerateOptions,
    settings: Settings,
    progress: Progress = silent,
) -> Estimates:
    """What ``generate_queries_file`` would take; sends nothing. Raises as that does."""
    questions = _prepared(paths, options, settings, progress).questions
    return generating_estimates(questions, options.ask, settings)


def generate_queries_file(
    paths: Sequence[Path],
    out: Path,
    options: GenerateOptions,
    settings: Settings,
    progress: Progress = silent,
) -> GenerateReport:
    """Write the queries of a model as a query file; those that something speaks against only where
    ``keep_doubtful`` says so, each with its ``violations``.

    Raises as ``draft_questions``, ``read_queries`` and the model's commands do, having written
    nothing.
    """
    with asking(options.ask, settings, progress) as (_, asker):
        prepared = _prepared(paths, options, settings, progress)
        written = queries_of_model(prepared.questions, asker)
    catalog = prepared.catalog
    checked = checked_queries(QueryChecks(catalog), written, prepared.existing)
    kept = [one for one in checked if one.is_clean or (options.keep_doubtful and one.query.text)]
    rows = query_rows(catalog, [one.query for one in kept])
    against = [[flaw.message for flaw in one.flaws] for one in kept]
    write_rows(
        out,
        (
            {**row, "violations": several} if several else row
            for row, several in zip(rows, against, strict=True)
        ),
    )
    return GenerateReport(
        queries=checked,
        written=len(kept),
        coverage=_coverage(catalog, kept),
        spent=spent_in_all(asker.name, asker.spent),
    )


def _coverage(catalog: Catalog, kept: Sequence[CheckedQuery]) -> dict[str, int]:
    counts = query_counts(as_queries(catalog, [one.query for one in kept]))
    return {tool.id: counts[tool.id] for tool in catalog.tools}


def _prepared(
    paths: Sequence[Path], options: GenerateOptions, settings: Settings, progress: Progress
) -> _Prepared:
    people = read_queries(options.examples) if options.examples else ()
    catalog = read_isolated(load_paths(paths))
    texts = [tool_text(tool) for tool in catalog.tools]
    embedder = embedder_of(settings, options.embedder)
    vectors = embed_cached(texts, embedder, VectorCache(settings.cache_dir), progress)
    questions = draft_questions(catalog, vectors, people, options.wanted, example_requests())
    return _Prepared(catalog, people, questions)

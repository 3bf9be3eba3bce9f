"""The commands that let a model write queries and document variants."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.document_variants import read_variants, variant_rows
from toolscope_core.catalog.isolation import read_files
from toolscope_core.cli import terminal
from toolscope_core.cli.asking import asking, tell_cost
from toolscope_core.cli.options import SAVED, AskRequest, CatalogPaths, EmbedderName, KeepDoubtful
from toolscope_core.embedding.vector_cache import embed_cached
from toolscope_core.evaluation.query_sets import Query, example_requests, read_queries
from toolscope_core.files.json_lines import write_rows
from toolscope_core.llm.embedding import encoder_and_cache
from toolscope_core.llm.tasks.query_draft_prompt import DraftQuestion
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import QueryGeneration
from toolscope_core.model.numbers import quantity
from toolscope_core.rps.variant_writing import checked_variants, variants_of_model
from toolscope_core.tool2vec import query_writing
from toolscope_core.tool2vec.query_checks import QueryChecks
from toolscope_core.wording.tool_text import tool_text

_DEFAULT = QueryGeneration()


@dataclass(frozen=True, slots=True)
class QueryDrafts:
    """Questions about a catalog for a model, and queries that people wrote."""

    catalog: Catalog
    people: tuple[Query, ...]
    questions: tuple[DraftQuestion, ...]

    @property
    def existing(self) -> list[str]:
        """The requests that a new request may not copy: people's queries, and the examples
        shown.
        """
        examples = [one.text for question in self.questions for one in question.examples]
        return list(dict.fromkeys([*(one.text for one in self.people), *examples]))


@terminal.command
def generate_queries(
    catalogs: CatalogPaths,
    out: Annotated[
        Path, typer.Option(help="The query file to write: JSONL with `id`, `query` and `gold`.")
    ],
    count: Annotated[
        int, typer.Option("--count", help="Number of queries to ask the model for.")
    ] = _DEFAULT.count,
    seed: Annotated[
        int,
        typer.Option(
            help="Change the seed to show the model other tools; with the same seed, a larger "
            "number continues the earlier run."
        ),
    ] = _DEFAULT.seed,
    examples: Annotated[
        Path | None,
        typer.Option(
            help="Queries written by people, JSONL or CSV with `query` and `gold`, as examples "
            "for the model. Tools without a query come first; copies are left out."
        ),
    ] = None,
    keep_doubtful: KeepDoubtful = False,
    only_estimate: Annotated[
        bool,
        typer.Option(
            "--estimate", help="Show what the run would cost. Sends nothing and writes nothing."
        ),
    ] = False,
    embedder: EmbedderName = None,
    ask: AskRequest = SAVED,
) -> None:
    """Have a model write queries with the tools that they need, and check them.

    Example: toolscope generate-queries tools.json --out queries.jsonl --count 500
    """
    draft = partial(_drafts, catalogs, examples, QueryGeneration(count, seed), embedder)
    if only_estimate:
        tell_cost("queries", partial(query_writing.queries_of_model, draft().questions), ask)
        return
    with asking(ask) as (_, asker):
        drafts = draft()
        queries = query_writing.queries_of_model(drafts.questions, asker)
    checked = query_writing.checked_queries(QueryChecks(drafts.catalog), queries, drafts.existing)
    accepted = [one for one in checked if one.is_clean or (keep_doubtful and one.query.text)]
    rows = query_writing.query_rows(drafts.catalog, [one.query for one in accepted])
    write_rows(
        out,
        (
            {**row, "violations": [flaw.message for flaw in one.flaws]} if one.flaws else row
            for row, one in zip(rows, accepted, strict=True)
        ),
    )
    outcome = "written with the reasons against them" if keep_doubtful else "left out"
    terminal.say(
        f"{quantity(len(checked), 'question')}: "
        f"{quantity(len(accepted), 'query')} written"
        f"{terminal.more(sum(bool(one.flaws) for one in checked), f'doubtful, {outcome}')}"
        f"{terminal.more(sum(not one.query.text for one in checked), 'without a query')}"
        f"; queries: {out}"
    )
    _tell(drafts.catalog, checked, accepted)
    terminal.tell_spent(asker.name, asker.costs)


def _drafts(
    catalogs: Sequence[Path], examples: Path | None, config: QueryGeneration, embedder: str | None
) -> QueryDrafts:
    """The questions that ask for queries, each about a group of similar tools."""
    people = read_queries(examples) if examples else ()
    catalog = read_files(catalogs)
    texts = [tool_text(tool) for tool in catalog.tools]
    vectors = embed_cached(texts, *encoder_and_cache(embedder), terminal.progress())
    questions = query_writing.draft_questions(catalog, vectors, people, config, example_requests())
    return QueryDrafts(catalog, people, questions)


def _tell(
    catalog: Catalog,
    checked: Sequence[query_writing.CheckedQuery],
    accepted: Sequence[query_writing.CheckedQuery],
) -> None:
    """Report how many tools have a query, and the objections to queries."""
    counts = query_writing.query_counts(
        query_writing.as_queries(catalog, [one.query for one in accepted])
    )
    covered = sum(counts[tool.id] > 0 for tool in catalog.tools)
    without = len(catalog.tools) - covered
    terminal.say(
        f"tools with a query: {covered:,} of {len(catalog.tools):,}"
        f"{terminal.more(without, 'without one')}"
    )
    terminal.tell_doubtful(
        [f"{one.query.text[:60]!r}: {one.flaws[0].message}" for one in checked if one.flaws]
    )
    reasons = Counter(one.query.reason for one in checked if not one.query.text)
    for reason, count in reasons.most_common(terminal.MOST_TOLD):
        terminal.say(f"{count:,} without a query: {reason}")


@terminal.command
def augment(
    catalogs: CatalogPaths,
    out: Annotated[
        Path, typer.Option(help="JSONL of document variants, as --variants reads them.")
    ],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Check the variants in this JSONL instead of asking a model."),
    ] = None,
    keep_doubtful: KeepDoubtful = False,
    ask: AskRequest = SAVED,
) -> None:
    """Have a model write texts that help a search find each tool, and check them.

    Example: toolscope augment tools.json --out variants.jsonl
    """
    catalog = read_files(catalogs)
    asker, unknown = None, 0
    if source is None:
        with asking(ask) as (_, asker):
            variants = variants_of_model(catalog.tools, asker)
    else:
        loaded = read_variants(source, catalog)
        variants, unknown = dict(loaded.by_id), len(loaded.unknown_names)
    checked = checked_variants(catalog, variants)
    against = {
        tool_id: {"violations": [violation.message for violation in violations]}
        for tool_id, violations in checked.violations.items()
    }
    rows = variant_rows(variants if keep_doubtful else checked.clean)
    write_rows(out, ({**row, **against.get(row["tool"], {})} for row in rows))
    missing = len(catalog.tools) - len(checked.clean) - len(checked.doubtful)
    outcome = "written with the reasons against them" if keep_doubtful else "left out"
    terminal.say(
        f"{quantity(len(catalog.tools), 'tool')}: {len(checked.clean):,} with a variant"
        f"{terminal.more(len(checked.doubtful), f'doubtful, {outcome}')}"
        f"{terminal.more(missing, 'without one')}"
        f"{terminal.more(unknown, 'for tools that are not in the catalog')}; variants: {out}"
    )
    terminal.tell_doubtful(
        [
            f"{tool_id}: {violations[0].message}"
            for tool_id, violations in sorted(checked.violations.items())
        ]
    )
    if asker is not None:
        terminal.tell_spent(asker.name, asker.costs)

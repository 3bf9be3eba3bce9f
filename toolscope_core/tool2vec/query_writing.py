"""Queries about a catalog's tools written by a model, and checked before use.

As in ToolBank (Tool2Vec, §3), the model chooses two to five of ten tools that belong together and
writes a request that needs them, with five requests by people as examples. A second question has it
rephrase the request as a person would say it.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count as numbers
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from toolscope_core.evaluation.query_sets import Query
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.query_draft_prompt import (
    DRAFT_TASK,
    POLISH_TASK,
    DraftQuestion,
    ExampleQuery,
    PolishQuestion,
    chosen_tools,
)
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import grouped
from toolscope_core.model.configuration import REQUEST_LENGTH, REQUEST_TOOLS, QueryGeneration
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Answer, Vectors
from toolscope_core.model.tool import JsonObject, Tool, digest
from toolscope_core.tool2vec.query_checks import (
    NearCopy,
    QueryChecks,
    QueryFlaw,
    copy_flaw,
    near_copies,
)

TOOLS = 10
"""T: the number of tools that are shown (Tool2Vec, appendix C.3)."""
WITH_OWN, WITH_NEAR = 6, 8
"""The number of tools in a sample after drawing from the leader's server, and after drawing from
the nearest tools.
"""
_NEAR = 30
"""The number of nearest tools from which some are drawn."""
ALIKE = 0.95
"""Of two tools with at least this cosine only one is shown, because either tool would do."""


def tool_samples(
    catalog: Catalog,
    vectors: Vectors,
    count: int,
    seed: int = 0,
    queries: Mapping[str, int] | None = None,
) -> tuple[tuple[Tool, ...], ...]:
    """``count`` samples of up to ten tools, each starting with the tool around which it was drawn.

    ``vectors`` is float32 of shape (n, d), unit rows in the order of the tools. ``queries`` maps
    tool ids to their numbers of queries; tools with the fewest queries lead first, and tools with
    more join in later rounds. A smaller count gives the first samples of a larger one. Only one of
    several exact copies is shown, and tools with a *block* finding never are. Raises
    ``ConfigError`` if fewer than two tools are left.
    """
    pool = _Pool(catalog, vectors)
    if len(pool.rows) < 2:
        raise ConfigError(
            f"a query needs two to five different tools, but only {len(pool.rows)} can be shown to "
            "a model; use a catalog with more tools"
        )
    leaders = islice(pool.leaders(queries or {}, seed), count)
    return tuple(
        tuple(catalog.tools[row] for row in pool.around(leader, np.random.default_rng((seed, at))))
        for at, leader in enumerate(leaders)
    )


class _Pool:
    """The tools that can be shown, by their rows in the catalog."""

    def __init__(self, catalog: Catalog, vectors: Vectors) -> None:
        first: dict[str, int] = {}
        for row, tool in enumerate(catalog.tools):
            if tool.id not in catalog.blocked:
                first.setdefault(tool.content_hash, row)
        self.rows = np.array(sorted(first.values()), dtype=np.int64)
        self._tools, self._vectors = catalog.tools, vectors
        self._of_owner = grouped(self.rows.tolist(), lambda row: self._tools[row].owner)

    def leaders(self, queries: Mapping[str, int], seed: int) -> Iterator[int]:
        """Rows of the leading tools, in rounds with a new random order each; rows with more queries
        join in later rounds.
        """
        have = np.array([queries.get(self._tools[row].id, 0) for row in self.rows.tolist()])
        for turn in numbers():
            least_used = self.rows[have <= have.min() + turn]
            yield from np.random.default_rng((seed, turn, 1)).permutation(least_used).tolist()

    def around(self, leader: int, chance: np.random.Generator) -> list[int]:
        """Rows of the leader, of tools on its server, of tools near it, and of others, at most
        ``TOOLS``.
        """
        owner = self._tools[leader].owner
        own = self._of_owner[owner] if owner else []
        cosine = self._vectors[self.rows] @ self._vectors[leader]
        nearest = self.rows[np.argsort(-cosine, kind="stable")]
        members = [leader]
        for group, most in (
            (np.array(own, dtype=np.int64), WITH_OWN),
            (nearest[: _NEAR + 1], WITH_NEAR),
            (self.rows, TOOLS),
        ):
            self._fill(members, chance.permutation(group), most)
        if len(members) == 1:  # all other tools are like the leader
            members += [int(row) for row in nearest if row != leader][: TOOLS - 1]
        return members

    def _fill(self, members: list[int], group: NDArray[np.int64], most: int) -> None:
        for row in group.tolist():
            if len(members) >= most:
                return
            if row not in members and (self._vectors[members] @ self._vectors[row]).max() < ALIKE:
                members.append(row)


_EXAMPLES = 5
"""The number of requests by people that are shown with each question (Tool2Vec, §3)."""
NONE_FIT = "among the tools it was shown, the model found no two that belong together"
UNPOLISHED = "this is the model's first version: "


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """A model's result for one question.

    ``tools`` are the ids of the chosen tools, ``draft`` is the first request, and ``text`` the
    polished request. If the text is empty, ``reason`` says why; otherwise ``reason`` says why the
    draft was not polished, if it was not. ``key`` identifies the question to this model.
    ``is_open`` says that a part is not answered yet.
    """

    key: str
    tools: tuple[str, ...] = ()
    draft: str = ""
    text: str = ""
    reason: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query and the objections to it."""

    query: WrittenQuery
    flaws: tuple[QueryFlaw, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether the model wrote a request and there are no objections to the request."""
        return bool(self.query.text) and not self.flaws


def draft_questions(
    catalog: Catalog,
    vectors: Vectors,
    people: Sequence[Query],
    config: QueryGeneration,
    bundled: Sequence[Query] = (),
) -> tuple[DraftQuestion, ...]:
    """The questions to ask, in order; equal arguments give equal questions.

    ``people`` are the catalog's queries: tools without such a query lead first. Examples are drawn
    from the queries with answers, or from ``bundled`` if no query has answers. Raises the errors of
    ``tool_samples``.
    """
    samples = tool_samples(catalog, vectors, config.count, config.seed, query_counts(people))
    examples = example_queries_of(people) or example_queries_of(bundled)
    return tuple(
        DraftQuestion(tools, _sample(examples, (config.seed, at, 2)))
        for at, tools in enumerate(samples)
    )


def example_queries_of(queries: Iterable[Query]) -> tuple[ExampleQuery, ...]:
    """The queries with answers, as they are shown to a model.

    If enough queries need several tools, only those are included.
    """
    examples = [
        ExampleQuery(one.text, tuple(sorted(need)[0] for need in one.gold))
        for one in queries
        if one.gold and 0 < len(one.text) <= REQUEST_LENGTH[1]
    ]
    several = [one for one in examples if len(one.tools) >= REQUEST_TOOLS[0]]
    return tuple(several if len(several) > _EXAMPLES else examples)


def query_counts(queries: Iterable[Query]) -> Counter[str]:
    """The number of queries that each tool answers, by tool id."""
    return Counter(one for query in queries for one in {one for need in query.gold for one in need})


def queries_of_model(questions: Sequence[DraftQuestion], asker: Asker) -> tuple[WrittenQuery, ...]:
    """A model's result for each question, in order; a repeated question is answered once."""
    distinct = {_key(one, asker.name): one for one in questions}
    drafts = asker(DRAFT_TASK, list(distinct.values()))
    to_polish = {
        at: PolishQuestion(answer.value["request"], chosen_tools(question, answer.value))
        for at, (question, answer) in enumerate(zip(distinct.values(), drafts, strict=True))
        if answer is not None and answer.value is not None and answer.value["request"]
    }
    polished = dict(zip(to_polish, asker(POLISH_TASK, list(to_polish.values())), strict=True))
    return tuple(
        _written_query(key, draft, to_polish.get(at), polished.get(at))
        for at, (key, draft) in enumerate(zip(distinct, drafts, strict=True))
    )


def checked_queries(
    checks: QueryChecks, queries: Sequence[WrittenQuery], existing: Sequence[str] = ()
) -> tuple[CheckedQuery, ...]:
    """Each query with the objections to it.

    A copy of an earlier query or of one of the ``existing`` requests is also objected to.
    """
    texts = [*existing, *(one.text for one in queries)]
    copied = first_copies(queries, near_copies(texts))
    return tuple(
        CheckedQuery(one, flaws_of(one, checks, copied.get(one.key), texts)) for one in queries
    )


def first_copies(
    queries: Sequence[WrittenQuery],
    copies_by_row: Sequence[Sequence[NearCopy]],
    without: Collection[str] = (),
) -> dict[str, NearCopy]:
    """The first request that each query copies, by the query's key.

    ``copies_by_row`` has the copies for all requests, and the written requests come last. Originals
    with a key in ``without`` do not count.
    """
    before = len(copies_by_row) - len(queries)
    removed = {before + at for at, one in enumerate(queries) if one.key in without or not one.text}
    firsts = {}
    for one, own in zip(queries, copies_by_row[before:], strict=True):
        copies = [copy for copy in own if copy.place not in removed]
        if one.text and copies:
            firsts[one.key] = copies[0]
    return firsts


def flaws_of(
    query: WrittenQuery, checks: QueryChecks, copied: NearCopy | None, texts: Sequence[str]
) -> tuple[QueryFlaw, ...]:
    """The objections to a query that may copy one of the ``texts``."""
    if not query.text:
        return ()
    is_draft = query.reason and query.text == query.draft
    return (
        *checks.flaws(query.text, query.tools),
        *([copy_flaw(texts[copied.place], copied.percent)] if copied else []),
        *([QueryFlaw("polish", f"{UNPOLISHED}{query.reason}")] if is_draft else []),
    )


def as_queries(catalog: Catalog, drafts: Iterable[WrittenQuery]) -> tuple[Query, ...]:
    """The queries in the form of a query set.

    If a tool has exact copies, each copy answers the query too, unless the request names the
    server.
    """
    copies_of = grouped(catalog.tools, lambda tool: tool.content_hash)
    return tuple(
        Query(
            id=f"g-{one.key[:12]}",
            text=one.text,
            gold=tuple(
                frozenset(_answering(one.text, tool_id, catalog, copies_of))
                for tool_id in one.tools
            ),
        )
        for one in drafts
    )


def query_rows(catalog: Catalog, drafts: Iterable[WrittenQuery]) -> list[JsonObject]:
    """The queries as rows of a query file."""
    return [
        {
            "id": query.id,
            "query": query.text,
            "gold": [sorted(need) if len(need) > 1 else next(iter(need)) for need in query.gold],
        }
        for query in as_queries(catalog, drafts)
    ]


def _answering(
    text: str, tool_id: str, catalog: Catalog, copies_of: Mapping[str, list[Tool]]
) -> list[str]:
    """The ids of the tools that each meet the request's need for a tool."""
    tool = catalog.by_id.get(tool_id)
    if tool is None or (tool.server and re.search(rf"\b{re.escape(tool.server)}\b", text, re.I)):
        return [tool_id]
    return [copy.id for copy in copies_of[tool.content_hash]]


def _written_query(
    key: str, draft: Answer | None, polish: PolishQuestion | None, polished: Answer | None
) -> WrittenQuery:
    if draft is None:
        return WrittenQuery(key, is_open=True)
    if polish is None:
        return WrittenQuery(key, reason=draft.reason if draft.value is None else NONE_FIT)
    tools = tuple(tool.id for tool in polish.tools)
    if polished is None:
        return WrittenQuery(key, tools, polish.draft, is_open=True)
    if polished.value is None:
        return WrittenQuery(key, tools, polish.draft, polish.draft, polished.reason)
    return WrittenQuery(key, tools, polish.draft, polished.value["request"])


def _key(question: DraftQuestion, model: str) -> str:
    draft, polish = DRAFT_TASK, POLISH_TASK
    return digest(model, draft.version, polish.version, *draft.subjects(question))


def _sample(examples: Sequence[ExampleQuery], seed: tuple[int, ...]) -> tuple[ExampleQuery, ...]:
    order = np.random.default_rng(seed).permutation(len(examples))[:_EXAMPLES]
    return tuple(examples[at] for at in order.tolist())

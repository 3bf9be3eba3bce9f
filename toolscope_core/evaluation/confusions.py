"""Finds tools that are confused with others: pairs that queries confuse, and a confusion matrix."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.evaluation.metrics import best_places
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import JsonObject

NONE, NOT_A_TOOL = "none", "not a tool"
"""Names that are used instead of tool ids. ``NONE`` is expected by a request that needs no tool,
and fills an empty place. ``NOT_A_TOOL`` is expected by a request for a tool that the toolset
lacks.
"""
_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The tool that a request expects, and the tool that was found in its place.

    Both are tool ids or one of the two names above. They are equal if the right tool was found.
    """

    expected: str
    actual: str

    @property
    def is_wrong(self) -> bool:
        return self.expected != self.actual


@dataclass(frozen=True, slots=True)
class PairConfusion:
    """Two tools, with ordered ids, and the queries that confuse them.

    In these queries the wrong tool ranks above the right one, or is found although the right one is
    not found. ``cost`` is the sum of 1 / the place of the wrong tool.
    """

    left: str
    right: str
    cost: float
    queries: tuple[str, ...]

    @property
    def pair(self) -> Pair:
        return Pair(self.left, self.right)


def pair_confusions(
    queries: Iterable[Query], rankings: Sequence[Sequence[str]]
) -> tuple[PairConfusion, ...]:
    """All pairs of tools that a query confuses, the costliest first.

    ``rankings`` are in the order of the queries. A tool only counts as wrong if it serves no need
    of the query.
    """
    confused: dict[Pair, list[str]] = {}
    costs: dict[Pair, float] = {}
    for query, ranking in zip(queries, rankings, strict=True):
        answers = {one for need in query.gold for one in need}
        ranks = {tool_id: rank for rank, tool_id in enumerate(ranking, 1)}
        for need, best in zip(query.gold, best_places(ranking, query.gold), strict=True):
            answer = min(need, key=lambda one: (ranks.get(one, len(ranking) + 1), one))
            for other, rank in ranks.items():
                if other in answers or (best is not None and rank > best):
                    continue
                pair = Pair.of(answer, other)
                confused.setdefault(pair, []).append(query.id)
                costs[pair] = costs.get(pair, 0.0) + 1 / rank
    order = sorted(costs, key=lambda pair: (-costs[pair], pair.left, pair.right))
    return tuple(
        PairConfusion(
            pair.left, pair.right, round(costs[pair], 6), tuple(dict.fromkeys(confused[pair]))
        )
        for pair in order
    )


def expected_and_actual(
    query: Query,
    ranking: Sequence[str],
    tools: Collection[str],
    equal: Mapping[str, str] = _NOTHING,
) -> tuple[Mismatch, ...]:
    """For each need of a request, the tool that was found.

    For n needs, the first n places count; allowed tools and further answers to a need are skipped.
    Wrong tools in these places are assigned to the needs that are not served. ``tools`` are ids of
    the toolset. Tools that ``equal`` maps to the same name count as one.
    """
    needs = list(dict.fromkeys(frozenset(equal.get(a, a) for a in need) for need in query.gold))
    answers = {one for need in needs for one in need}
    ranked = list(dict.fromkeys(equal.get(one, one) for one in ranking))
    if query.needs_none:
        first = next((one for one in ranked if one not in query.allowed), NONE)
        return (Mismatch(NONE, first),)
    open_needs, strangers = sorted(needs, key=len), list[str]()
    hits: list[Mismatch] = []
    skipped = {equal.get(one, one) for one in query.allowed} - answers
    for one in ranked:
        if len(strangers) == len(open_needs):
            break
        need = next((need for need in open_needs if one in need), None)
        if need is not None:
            open_needs.remove(need)
            hits.append(Mismatch(one, one))
        elif one not in answers and one not in skipped:
            strangers.append(one)
    places = {one: place for place, one in enumerate(ranked)}
    strangers += [NONE] * (len(open_needs) - len(strangers))
    names = {*tools, *equal.values()}
    missed = (
        min(need & names, key=lambda one: (places.get(one, len(places)), one), default=NOT_A_TOOL)
        for need in open_needs
    )
    return (*hits, *map(Mismatch, missed, strangers))


def is_right(query: Query, ranking: Sequence[str]) -> bool:
    """Whether no unneeded tool ranks above a needed one."""
    return not any(one.is_wrong for one in expected_and_actual(query, ranking, ()))


def confusion_matrix(
    queries: Iterable[Query],
    rankings: Iterable[Sequence[str]],
    tools: Collection[str],
    equal: Mapping[str, str] = _NOTHING,
) -> dict[Mismatch, tuple[int, ...]]:
    """The non-empty cells, by expected and then actual tool, with the positions of their
    queries.
    """
    cells: dict[Mismatch, list[int]] = {}
    for place, (query, ranking) in enumerate(zip(queries, rankings, strict=True)):
        for one in dict.fromkeys(expected_and_actual(query, ranking, tools, equal)):
            cells.setdefault(one, []).append(place)
    order = sorted(cells, key=lambda one: (one.expected, one.actual))
    return {one: tuple(cells[one]) for one in order}


def case_rows(
    queries: Sequence[Query],
    rankings: Iterable[Sequence[str]],
    tools: Collection[str],
    equal: Mapping[str, str] = _NOTHING,
) -> Iterator[JsonObject]:
    """Queries as rows for a file of cases, which can also be read as a query set.

    ``gold`` has the tools that a query needs, ``allowed`` the tools that are acceptable as well,
    and ``forbidden`` the tools that were found instead. If tools are ``equal``, ``gold`` lists all
    of them.
    """
    same: dict[str, set[str]] = {}
    for one, name in equal.items():
        same.setdefault(name, {name}).add(one)

    def copies(ids: Iterable[str]) -> list[str]:
        return sorted({b for a in ids for b in same.get(equal.get(a, a), {a})})

    for query, ranking in zip(queries, rankings, strict=True):
        cells = expected_and_actual(query, ranking, tools, equal)
        wrong = {one.actual for one in cells if one.is_wrong} - {NONE}
        yield {
            "id": query.id,
            "query": query.text,
            "gold": [copies(need) for need in query.gold],
            "allowed": copies(query.allowed),
            "forbidden": copies(wrong),
        }


def failed_case(
    case: Query, ranking: Sequence[str], tools: Collection[str]
) -> tuple[Mismatch, ...]:
    """The tools that a case finds instead of the expected ones; empty if the case passes.

    A forbidden tool is never allowed. A case that needs no tool fails only if it finds a forbidden
    tool.
    """
    wrong = [one for one in expected_and_actual(case, ranking, tools) if one.is_wrong]
    return tuple(one for one in wrong if not case.needs_none or one.actual in case.forbidden)

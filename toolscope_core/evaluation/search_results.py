"""What a request finds in a toolset, before and after the merge, and which tools confuse it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from toolscope_core.evaluation.metrics import Gold, best_places
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import RELATIONS
from toolscope_core.model.pair import Verdict, pair_key
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.documents import ServerProfile
from toolscope_core.retrieval.fitting import Fit
from toolscope_core.retrieval.retriever import RankedServer, RankedTool

NEAR_TIE = 0.12
"""Two tools whose scores, of 0 to 1, differ by no more than this are a near tie: another wording of
the request may turn them round.
"""


@dataclass(frozen=True, slots=True)
class RankingPlace:
    """A place of a ranking: the tool or server ``id``, shown as ``name``. ``parts`` are what the
    dense and the sparse score and the reranker gave to ``score``; none of a server. ``part`` is the
    number of the sub-query that brought it, from 1, 0 for the request itself. ``led_by`` is the
    tool that led to a server, empty where its own text did; ``is_made_up`` is true of a server
    whose description is made of its tools' names. ``stands_for`` counts the tools that were merged
    into it; ``tokens`` are those of its definition, of a server those of all its tools. ``answers``
    is true where a gold answer of the request is it; ``elsewhere`` is its best place in the other
    toolset, ``None`` where it is not among those that were ranked there.
    """

    rank: int
    id: str
    name: str
    server: str
    score: float
    part: int
    tokens: int
    answers: bool
    elsewhere: int | None
    parts: tuple[float, ...] = ()
    led_by: str = ""
    is_made_up: bool = False
    stands_for: int = 1


@dataclass(frozen=True, slots=True)
class Need:
    """What a request needs, by the ids of which any one serves it, sorted, and the best place of
    these; ``None`` where none is among those that were ranked.
    """

    ids: tuple[str, ...]
    rank: int | None


@dataclass(frozen=True, slots=True)
class SearchSide:
    """What a request finds in one toolset of ``size`` tools or servers: the first places, and of
    each need of the request where it is served. ``seconds`` is what the search took.
    """

    size: int
    places: tuple[RankingPlace, ...]
    needs: tuple[Need, ...]
    seconds: float

    @property
    def tokens(self) -> int:
        """Tokens of everything that is found: what an agent's prompt would carry."""
        return sum(one.tokens for one in self.places)

    @property
    def served(self) -> int:
        """How many needs the places serve."""
        return sum(one.rank is not None and one.rank <= len(self.places) for one in self.needs)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Two tools at nearly equal scores that the judge holds for copies, a family or siblings; the
    ``first`` stands above the ``second``. ``gap`` is the difference of their scores, ``key`` names
    the pair in an address; ``hides`` is true where one answers the request and the other does not.
    """

    first: RankingPlace
    second: RankingPlace
    gap: float
    kind: str
    key: str
    hides: bool


@dataclass(frozen=True, slots=True)
class SearchedToolset:
    """A toolset that was searched, and what a request found there, more than is shown.

    ``stands_for`` has by id the tools of the catalog as it is that were merged into it; one that is
    not named stands for itself. ``answers`` are the request's needs by ids of this toolset;
    ``profiles`` are those of the servers, by name, where servers were searched. Where it is known,
    ``fit`` says whether any tool serves the request.
    """

    catalog: Catalog
    ranking: Sequence[RankedTool | RankedServer]
    seconds: float
    profiles: Mapping[str, ServerProfile] = field(default_factory=dict)
    stands_for: Mapping[str, Collection[str]] = field(default_factory=dict)
    answers: Gold = ()
    fit: Fit | None = None

    def origins(self, own: str) -> Collection[str]:
        """What of the catalog as it is leads to one of these ids."""
        return self.stands_for.get(own, (own,))

    @property
    def size(self) -> int:
        return len(self.profiles) or len(self.catalog.tools)

    @property
    def ranks(self) -> dict[str, int]:
        """The place of each id that was ranked, from 1."""
        return {place_id(place): rank for rank, place in enumerate(self.ranking, 1)}

    @property
    def ranks_as_it_is(self) -> dict[str, int]:
        """The same by ids of the catalog as it is."""
        return {old: rank for new, rank in self.ranks.items() for old in self.origins(new)}


def side(
    searched: SearchedToolset, elsewhere: Mapping[str, int], k: int, tokens: Callable[[Tool], int]
) -> SearchSide:
    """The first ``k`` places. ``elsewhere`` are the places in the other toolset, by ids of the
    catalog as it is.
    """
    right = {name for need in searched.answers for name in need}
    places = []
    for rank, place in enumerate(searched.ranking[:k], 1):
        own = place_id(place)
        others = [elsewhere[old] for old in searched.origins(own) if old in elsewhere]
        places.append(
            RankingPlace(
                rank=rank,
                id=own,
                score=place.score,
                part=0 if place.subquery is None else place.subquery + 1,
                answers=own in right,
                elsewhere=min(others, default=None),
                stands_for=len(searched.origins(own)),
                **_place_fields(searched, place, tokens),
            )
        )
    best = best_places(map(place_id, searched.ranking), searched.answers)
    needs = (
        Need(tuple(sorted(need)), rank) for need, rank in zip(searched.answers, best, strict=True)
    )
    return SearchSide(searched.size, tuple(places), tuple(needs), searched.seconds)


def place_id(place: RankedTool | RankedServer) -> str:
    """The id of the tool, or the name of the server, at a place."""
    return place.tool_id if isinstance(place, RankedTool) else place.server


def _place_fields(
    searched: SearchedToolset, place: RankedTool | RankedServer, tokens: Callable[[Tool], int]
) -> dict[str, Any]:
    """What is shown of a tool, or of a server."""
    tools = searched.catalog.by_id
    if isinstance(place, RankedTool):
        tool = tools[place.tool_id]
        return {
            "name": tool.name,
            "server": tool.server,
            "tokens": tokens(tool),
            "parts": place.parts,
        }
    profile = searched.profiles[place.server]
    return {
        "name": place.server,
        "server": "",
        "tokens": sum(tokens(tools[tool_id]) for tool_id in profile.tools),
        "led_by": "" if place.tool_id is None else tools[place.tool_id].name,
        "is_made_up": profile.is_made_up,
    }


def confusions(analysis: Analysis, places: Sequence[RankingPlace]) -> tuple[Confusion, ...]:
    """The near ties among tools of the catalog as it is that are copies, families or siblings by
    the judge; those that hide an answer first, then by place.
    """
    similar = [
        (one, other)
        for one, other in combinations(places, 2)
        if one.score - other.score <= NEAR_TIE
    ]
    if not similar:
        return ()
    rows = np.array([[analysis.rows[one.id] for one in pair] for pair in similar], dtype=np.int32)
    verdicts = analysis.judge.verdicts(rows[:, 0], rows[:, 1], brief=True)
    ties = [
        Confusion(
            first=one,
            second=other,
            gap=one.score - other.score,
            kind=_kind(analysis.effective_verdict(verdict)),
            key=pair_key(verdict.pair),
            hides=one.answers != other.answers,
        )
        for (one, other), verdict in zip(similar, verdicts, strict=True)
    ]
    confusing = (tie for tie in ties if tie.kind)
    return tuple(
        sorted(confusing, key=lambda tie: (not tie.hides, tie.first.rank, tie.second.rank))
    )


def _kind(verdict: Verdict) -> str:
    """What the two are to each other in words; empty for two with little in common."""
    if verdict.relation == "different":
        return ""
    perhaps = "perhaps " if verdict.outcome == "unsure" else ""
    return f"{perhaps}{RELATIONS[verdict.relation]}"

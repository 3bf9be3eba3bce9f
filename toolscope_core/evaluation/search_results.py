"""The results of a request in a toolset before and after the merge, and tools that are
confusing.
"""

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
from toolscope_core.retrieval.retriever import RankedServer, RankedTool, place_id

NEAR_TIE = 0.12
"""The largest difference between two scores (0 to 1) that counts as a near tie; another wording
of the request may reverse it.
"""


@dataclass(frozen=True, slots=True)
class RankingPlace:
    """A place in a ranking: the tool or server ``id``, shown as ``name``.

    ``parts`` are the shares of the dense score, the sparse score and the reranker in ``score``;
    empty for a server. ``part`` is the number of the sub-query that found the place, from 1; 0 for
    the request itself. ``led_by`` is the tool through which a server was found; empty if the
    server's own text was found. ``is_made_up`` marks a server whose description consists of the
    names of its tools. ``stands_for`` is the number of tools that were merged into the tool.
    ``tokens`` are the tokens of the definition; for a server, of all its tools. ``answers`` says
    whether the tool or server is a gold answer. ``elsewhere`` is its best place in the other
    toolset; ``None`` if it was not ranked there.
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
    """A need of a request: the ids that serve it, sorted, and the best place among them.

    The place is ``None`` if none of the ids was ranked.
    """

    ids: tuple[str, ...]
    rank: int | None


@dataclass(frozen=True, slots=True)
class SearchSide:
    """The results of a request in one toolset of ``size`` tools or servers.

    ``places`` are the first places, ``needs`` has the place for each need, and ``seconds`` is the
    time that the search took.
    """

    size: int
    places: tuple[RankingPlace, ...]
    needs: tuple[Need, ...]
    seconds: float

    @property
    def tokens(self) -> int:
        """The tokens of all results, as in the prompt of an agent."""
        return sum(one.tokens for one in self.places)

    @property
    def served(self) -> int:
        """The number of needs that the places serve."""
        return sum(one.rank is not None and one.rank <= len(self.places) for one in self.needs)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Two tools with nearly equal scores that the judge considers copies, a family or siblings.

    ``first`` ranks above ``second``, and ``gap`` is the difference between their scores. ``key``
    names the pair in addresses. ``hides`` is true if one of the tools answers the request and the
    other does not.
    """

    first: RankingPlace
    second: RankingPlace
    gap: float
    kind: str
    key: str
    hides: bool


@dataclass(frozen=True, slots=True)
class SearchedToolset:
    """A searched toolset, with more results of a request than are shown.

    ``stands_for`` maps each id to the original tools that were merged into it; an id without an
    entry stands for itself. ``answers`` are the needs of the request, as ids of this toolset. If
    servers were searched, ``profiles`` has their profiles by name. ``fit`` says whether any tool
    serves the request, if that is known.
    """

    catalog: Catalog
    ranking: Sequence[RankedTool | RankedServer]
    seconds: float
    profiles: Mapping[str, ServerProfile] = field(default_factory=dict)
    stands_for: Mapping[str, Collection[str]] = field(default_factory=dict)
    answers: Gold = ()
    fit: Fit | None = None

    def origins(self, own: str) -> Collection[str]:
        """The ids in the original catalog that became this id."""
        return self.stands_for.get(own, (own,))

    @property
    def size(self) -> int:
        return len(self.profiles) or len(self.catalog.tools)

    @property
    def ranks(self) -> dict[str, int]:
        """The place of each ranked id, counted from 1."""
        return {place_id(place): rank for rank, place in enumerate(self.ranking, 1)}

    @property
    def ranks_as_it_is(self) -> dict[str, int]:
        """The place of each ranked id, under the ids of the original catalog."""
        return {old: rank for new, rank in self.ranks.items() for old in self.origins(new)}


def side(
    searched: SearchedToolset, elsewhere: Mapping[str, int], k: int, tokens: Callable[[Tool], int]
) -> SearchSide:
    """The first ``k`` places of a search.

    ``elsewhere`` has the places in the other toolset, under the ids of the original catalog.
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


def _place_fields(
    searched: SearchedToolset, place: RankedTool | RankedServer, tokens: Callable[[Tool], int]
) -> dict[str, Any]:
    """The fields that are shown for a tool or a server."""
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
    """The near ties between original tools that the judge considers copies, families or siblings.

    Ties that hide an answer come first; otherwise they are sorted by place.
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
    """The relation of two tools in words; empty if they have little in common."""
    if verdict.relation == "different":
        return ""
    perhaps = "perhaps " if verdict.outcome == "unsure" else ""
    return f"{perhaps}{RELATIONS[verdict.relation]}"

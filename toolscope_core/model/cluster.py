"""Groups of tools, the clusters that a merge makes of them, and their documents."""

from dataclasses import dataclass, field
from typing import Literal

from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.pair import Relation
from toolscope_core.model.tool import JsonObject

Kind = Literal["prune", "router", "unknown"]


State = Literal["proposed", "accepted", "rejected", "stale", "conflict"]


@dataclass(frozen=True, slots=True)
class Group:
    """Tool ids (sorted) that correction leaves together.

    ``weakest_edge`` is the lowest merge probability over all pairs inside, ``split`` says whether
    the connected component it came from was divided, ``intransitive`` whether two members are
    joined only through a third, ``decided`` whether people put exactly these together.
    ``newcomers`` (sorted) are tools outside a decided group that the judge, or a person, would add
    to it; ``put_forward`` says whether a person put the group forward. ``doubts`` are sentences on
    what judges do not agree on, ``unfit`` the members that by a model do not serve all the others.
    A ``family`` is the same operation for several providers or fixed
    values: its weakest edge is the lowest probability of that.
    """

    members: tuple[str, ...]
    weakest_edge: float = 1.0
    split: bool = False
    intransitive: bool = False
    decided: bool = False
    newcomers: tuple[str, ...] = ()
    put_forward: bool = False
    doubts: tuple[str, ...] = ()
    unfit: frozenset[str] = frozenset()
    family: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """The documentation of a merged tool that agents read: the part a person may edit."""

    name: str
    description: str
    schema: JsonObject | None
    returns: JsonObject | None = None
    annotations: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Two or more tools (ids sorted) proposed or decided to become one.

    ``canonical`` is the member that gives the merged tool its id; ``document`` what agents will
    read; ``arguments`` one map per member in member order. ``reasons`` are sentences that say why
    it is not safe to accept without a person; empty means safe. ``newcomers`` are tools that the
    judge would add to an accepted cluster; a person must. ``put_forward`` says whether a person,
    not the judge, put it forward. ``version`` is what a decision on this cluster must carry,
    ``grown`` one that is on its newcomers too. ``relation`` is *duplicate*, *subsumes* or, of a
    family, *parametric*; ``selector`` the argument that says which member is meant, empty for a
    prune; ``chosen_kind`` the kind that people chose; ``copies`` whether all members are exact
    copies of each other.
    """

    id: str
    members: tuple[str, ...]
    canonical: str
    kind: Kind
    state: State
    weakest_edge: float
    document: Document
    arguments: tuple[ArgumentMap, ...]
    reasons: tuple[str, ...] = ()
    newcomers: tuple[str, ...] = ()
    version: str = ""
    grown: str = ""
    put_forward: bool = False
    relation: Relation = "duplicate"
    selector: str = ""
    chosen_kind: Kind | None = None
    copies: bool = False

    @property
    def safe(self) -> bool:
        """Whether it may be accepted without a person (``merging.auto_accept``)."""
        return not self.reasons

"""Groups of tools, the clusters made from them, and their documents."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from toolscope_core.model.pair import PairOutcome, Relation
from toolscope_core.model.tool import JsonObject

Operation = Literal["rename", "map", "wrap", "unwrap", "cast"]


@dataclass(frozen=True, slots=True)
class ArgumentMove:
    """Turns one argument of an old tool into one of the merged tool.

    ``source`` and ``target`` are top-level parameter names. ``rename`` keeps the value (the name
    may stay the same too). ``map`` looks the value up in ``values`` (pairs old, new). ``wrap``
    makes a list of one, ``unwrap`` takes the single element out of such a list, and ``cast`` writes
    a number or truth value as text.
    """

    source: str
    target: str
    op: Operation = "rename"
    values: tuple[tuple[Any, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class NestedRename:
    """Renames a property inside an argument; its value stays the same.

    Both are JSON pointers into the arguments of the merged tool. Names of outer levels are the new
    ones. ``*`` before the last step matches every element of a list or property of an object.
    """

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class ArgumentMap:
    """α of one tool: how a call to it becomes a call to the merged tool ``to``.

    ``constants`` are arguments added to every mapped call. ``dropped`` names arguments that the
    merged tool does not take, with the reason. ``lossy`` describes each change of meaning.
    ``inferred`` lists arguments that were matched only because no others were left. ``nested`` are
    applied after the moves, in order. ``waived`` are dropped arguments that a person agreed to
    lose. ``notes`` are limits that only the merged tool has and that hardly any call meets (for
    example, an issue number of at least 1).
    """

    tool_id: str
    to: str
    moves: tuple[ArgumentMove, ...] = ()
    constants: JsonObject = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    lossy: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()
    nested: tuple[NestedRename, ...] = ()
    waived: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lossless(self) -> bool:
        """Whether each argument of a valid call has a place and a valid value, limits in ``notes``
        aside.
        """
        return not self.dropped and not self.lossy

    @property
    def exact(self) -> bool:
        """Whether no argument is lost or matched by a guess."""
        return self.lossless and not self.inferred

    @property
    def applicable(self) -> bool:
        """Whether nothing is lost except arguments that a person agreed to lose."""
        return not self.lossy and set(self.dropped) <= set(self.waived)


ClusterKind = Literal["drop_in", "gateway", "looks_alike"]


State = Literal["proposed", "accepted", "kept_apart", "stale", "conflict"]


@dataclass(frozen=True, slots=True)
class Group:
    """Tool ids (sorted) that remain together after correction.

    ``weakest_edge`` is the lowest merge probability over all pairs inside; for a ``family`` (one
    operation for several providers or fixed values), the lowest family probability. ``split`` says
    whether the connected component was divided. ``intransitive`` says whether two members are
    joined only through a third. ``decided`` says whether people chose exactly this group.
    ``newcomers`` (sorted) are tools outside a decided group that the judge or a person would add.
    ``put_forward`` says whether a person proposed the group. ``doubts`` are sentences about
    disagreements between judges. ``unfit`` are the members that, according to a model, cannot serve
    all the others.
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
    """The documentation that agents read for a merged tool; people may edit it."""

    name: str
    description: str
    schema: JsonObject | None
    returns: JsonObject | None = None
    annotations: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Two or more tools (ids sorted) that are proposed, or decided, to become one.

    ``canonical`` is the member whose id the merged tool takes; ``document`` is what agents will
    read; ``arguments`` has one map per member, in member order. ``reasons`` are sentences that say
    why a person has to accept the cluster; with none it is safe. ``newcomers`` are tools that the
    judge would add to an accepted cluster; only a person can add them. ``put_forward`` says whether
    a person, not the judge, proposed it. A decision on this cluster must carry ``version``, or
    ``grown`` if it includes the newcomers. ``relation`` is *duplicate*, *subsumes* or *family*.
    ``selector`` is the argument that says which member is meant, empty for a drop-in.
    ``chosen_kind`` is the kind that people chose. ``copies`` says whether all members are exact
    copies of each other.
    """

    id: str
    members: tuple[str, ...]
    canonical: str
    kind: ClusterKind
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
    chosen_kind: ClusterKind | None = None
    copies: bool = False

    @property
    def safe(self) -> bool:
        """Whether the cluster can be accepted without a person (``merging.auto_accept``)."""
        return not self.reasons


@dataclass(frozen=True, slots=True)
class CardFamily:
    """Clusters and single tools that do one operation for several providers or values.

    Some of the tools do the same job as others; the family itself merges nothing. ``members`` are
    the ids of the canonical tools, sorted. In the same order, ``tools`` has the ids (sorted) that
    each represents, and ``values`` has its value of the argument ``selector``. ``weakest_edge`` is
    the lowest family probability of any two members.
    """

    members: tuple[str, ...]
    tools: tuple[tuple[str, ...], ...]
    weakest_edge: float
    selector: str
    values: tuple[str, ...]


_Item = TypeVar("_Item")
_Key = TypeVar("_Key")


def grouped(items: Iterable[_Item], key_of: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """The items grouped by key; keys and items keep the order in which they first appear."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key_of(item), []).append(item)
    return groups


ProposalKind = Literal["copy", "drop_in", "gateway", "family", "looks_alike"]


@dataclass(frozen=True, slots=True)
class KindWords:
    """The ``name`` of a kind on the screen, and what it ``means`` in one sentence."""

    name: str
    means: str


_OF_VALUES = "family of values"
_OF_PROVIDERS = "family of providers"

KINDS: Mapping[ProposalKind, KindWords] = {
    "copy": KindWords(
        "exact copy",
        "The same words and the same arguments: keep one and switch the others off; no code "
        "needed.",
    ),
    "drop_in": KindWords(
        "drop-in",
        "One tool accepts every call made to the others as it is: keep it and switch the others "
        "off; no code needed.",
    ),
    "gateway": KindWords(
        "gateway tool",
        "One tool for the agent; a gateway in front of the servers forwards each call.",
    ),
    "family": KindWords(
        "family",
        "The same operation for another provider or value: no tool can take over the calls "
        "of another, so all stay; a gateway can offer them as one tool.",
    ),
    "looks_alike": KindWords(
        "looks alike",
        "The tools look alike, but their arguments are unknown, so nothing is merged.",
    ),
}
"""Each kind, easiest to act on first."""


OUTCOME_NAMES: Mapping[PairOutcome, str] = {
    "merge": "same job",
    "family": KINDS["family"].name,
    "unsure": f"{KINDS['looks_alike'].name}: you decide",
    "keep": "different jobs",
    "unanalysed": "not analysed",
}
"""Each verdict in plain words, followed after a colon by what to do."""

RELATIONS: Mapping[Relation, str] = {
    "duplicate": "the same job",
    "subsumes": "one covers the other",
    "family": f"a {KINDS['family'].name}",
    "related": "related, but a different job",
    "different": "little in common",
}


def outcome_word(outcome: PairOutcome) -> str:
    """The verdict as one word."""
    return OUTCOME_NAMES[outcome].partition(":")[0]


def proposal_kind(cluster: Cluster) -> ProposalKind:
    """The kind of merge that the cluster allows."""
    if cluster.relation == "family":
        return "family"
    return "copy" if cluster.kind == "drop_in" and cluster.copies else cluster.kind


def kind_name(cluster: Cluster) -> str:
    """The kind in words; for a family, what differs: the provider (or server), or a value."""
    kind = proposal_kind(cluster)
    return family_name(cluster.selector) if kind == "family" else KINDS[kind].name


def family_name(selector: str) -> str:
    """The name of a family whose tools differ in one argument, the ``selector``."""
    return _OF_PROVIDERS if selector.startswith(("provider", "server")) else _OF_VALUES

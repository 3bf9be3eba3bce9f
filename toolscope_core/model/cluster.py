"""Groups of tools, the clusters that a merge makes of them, and their documents."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from toolscope_core.model.pair import PairOutcome, Relation
from toolscope_core.model.tool import JsonObject

Operation = Literal["rename", "map", "wrap", "unwrap", "cast"]


@dataclass(frozen=True, slots=True)
class ArgumentMove:
    """One argument of an old tool becomes one of the merged tool.

    ``source`` and ``target`` are top-level parameter names. ``rename`` keeps the value (the name
    may be the same), ``map`` looks it up in ``values`` (pairs old, new), ``wrap`` makes a list of
    one, ``unwrap`` takes the one out of such a list, ``cast`` writes a number or truth value as
    text.
    """

    source: str
    target: str
    op: Operation = "rename"
    values: tuple[tuple[Any, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class NestedRename:
    """A property inside an argument gets another name, its value unchanged.

    Both are JSON pointers into the arguments of the merged tool; outer names are the new ones, and
    ``*`` before the last step stands for every element of a list or property of an object.
    """

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class ArgumentMap:
    """α of one tool: how a call to it becomes a call to the merged tool ``to``.

    ``constants`` are arguments every mapped call gets; ``dropped`` names arguments that have no
    place in the merged tool, with the reason; ``lossy`` says what changes its meaning on the way;
    ``inferred`` which arguments were matched only because nothing else was left. ``nested``
    are applied after the moves, in their order. ``waived`` are the dropped arguments that a person
    lets go. ``notes`` are limits of the merged tool that the old one did not have and that hardly a
    call meets (an issue number of at least 1).
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
        """Whether every argument of a valid call has its place, and a value that is valid there
        unless it meets one of the ``notes``.
        """
        return not self.dropped and not self.lossy

    @property
    def exact(self) -> bool:
        """Whether nothing is lost and no argument is only guessed to be another."""
        return self.lossless and not self.inferred

    @property
    def applicable(self) -> bool:
        """Whether nothing is lost but what a person lets go."""
        return not self.lossy and set(self.dropped) <= set(self.waived)


ClusterKind = Literal["drop_in", "gateway", "looks_alike"]


State = Literal["proposed", "accepted", "kept_apart", "stale", "conflict"]


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
    family, *family*; ``selector`` the argument that says which member is meant, empty for a
    drop-in; ``chosen_kind`` the kind that people chose; ``copies`` whether all members are exact
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
        """Whether it may be accepted without a person (``merging.auto_accept``)."""
        return not self.reasons


@dataclass(frozen=True, slots=True)
class CardFamily:
    """Proposals and tools alone that are one operation for several providers or values, some with
    tools of the same job: it merges nothing.

    ``members`` are the ids of the canonical tools, sorted; in their order ``tools`` has the ids
    (sorted) of all that each stands for, ``values`` what the argument ``selector`` would call it.
    ``weakest_edge`` is the lowest probability of a family of any two members.
    """

    members: tuple[str, ...]
    tools: tuple[tuple[str, ...], ...]
    weakest_edge: float
    selector: str
    values: tuple[str, ...]


_Item = TypeVar("_Item")
_Key = TypeVar("_Key")


def grouped(items: Iterable[_Item], key_of: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """The items by their keys; keys and items in the order in which they come."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key_of(item), []).append(item)
    return groups


ProposalKind = Literal["copy", "drop_in", "gateway", "family", "looks_alike"]


@dataclass(frozen=True, slots=True)
class KindWords:
    """A kind as a person reads it: its ``name``, and what it ``means`` in one sentence."""

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
        "One tool accepts every call of the others as it is: keep it and switch the others "
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
"""Each kind, the easiest to act on first."""


OUTCOME_NAMES: Mapping[PairOutcome, str] = {
    "merge": "same job",
    "family": KINDS["family"].name,
    "unsure": f"{KINDS['looks_alike'].name}: you decide",
    "keep": "different jobs",
    "unanalysed": "not analysed",
}
"""Each verdict as a stranger would say it, and after a colon what to do."""

RELATIONS: Mapping[Relation, str] = {
    "duplicate": "the same job",
    "subsumes": "one covers the other",
    "family": f"a {KINDS['family'].name}",
    "related": "related, but another job",
    "different": "little in common",
}


def outcome_word(outcome: PairOutcome) -> str:
    """The verdict alone."""
    return OUTCOME_NAMES[outcome].partition(":")[0]


def proposal_kind(cluster: Cluster) -> ProposalKind:
    """What can be done about the cluster."""
    if cluster.relation == "family":
        return "family"
    return "copy" if cluster.kind == "drop_in" and cluster.copies else cluster.kind


def kind_name(cluster: Cluster) -> str:
    """The kind in words; of a family what differs: the provider (or server), or a value."""
    kind = proposal_kind(cluster)
    return family_name(cluster.selector) if kind == "family" else KINDS[kind].name


def family_name(selector: str) -> str:
    """What is said of tools that one argument, the ``selector``, would tell apart."""
    return _OF_PROVIDERS if selector.startswith(("provider", "server")) else _OF_VALUES

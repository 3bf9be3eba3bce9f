"""The data model: tools, catalogs, pairs, verdicts, clusters, argument maps, decisions, plans.

Everything that crosses a module border is one of these frozen values. Ids are text; ``φ`` and
``α`` are the relabel mapping and the argument maps of ToolScope (arXiv 2510.20036, section 3.2),
the latter our extension of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

JsonObject = Mapping[str, Any]
Severity = Literal["block", "warn", "info"]
Outcome = Literal["merge", "family", "keep", "unsure", "unanalysed"]
Relation = Literal["duplicate", "subsumes", "parametric", "related", "different"]
Serves = Literal["left", "right", "both", "none"]
Kind = Literal["prune", "router"]
State = Literal["proposed", "accepted", "rejected", "stale", "conflict"]
Action = Literal[
    "accept",
    "reject",
    "split",
    "drop",
    "recut",
    "propose",
    "canonical",
    "edit",
    "omit",
    "owner",
    "augment",
    "flag",
    "note",
    "threshold",
    "undo",
]
Operation = Literal["rename", "map", "wrap", "unwrap", "cast"]
RelabelStatus = Literal["kept", "renamed", "merged", "removed"]


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """The one text of a JSON value: sorted keys, no spaces, Unicode kept."""
    return _CANONICAL.encode(value)


def digest(*parts: object) -> str:
    """SHA-256 (64 hex digits) of the canonical JSON of ``parts``."""
    text = canonical_json(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared top-level parameter of a tool; ``schema`` is its JSON Schema."""

    name: str
    required: bool
    schema: JsonObject

    @property
    def type(self) -> str:
        """JSON type, ``a|b`` for several in the order given, ``any`` where none is declared."""
        declared = self.schema.get("type")
        if isinstance(declared, list):
            return "|".join(str(item) for item in declared) or "any"
        return str(declared) if declared else "any"

    @property
    def description(self) -> str:
        return str(self.schema.get("description") or "")

    @property
    def enum(self) -> tuple[Any, ...]:
        """The values allowed, in the order given; empty where any value is."""
        values = self.schema.get("enum")
        return tuple(values) if isinstance(values, list) else ()


@dataclass(frozen=True, slots=True)
class Augmentation:
    """What was written about a tool so that searches find it, beside what its server says: an
    expanded description, and questions that it answers (Retrieval–Plan–Select, §3.1).
    """

    expanded: str
    questions: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether anything was written; a person may want a tool to have nothing."""
        return bool(self.expanded or self.questions)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as its server declares it.

    ``schema`` is the JSON Schema (an object) of the arguments, types normalised; ``None`` means
    that the record does not say what the tool takes, ``{"type": "object", "properties": {}}``
    that it takes nothing. ``server`` is empty in a catalog without servers; ``implied_server`` is
    the vendor or product that its name implies there, a guess; ``augmentation`` is what searches
    read too. Neither is a part of equality, ids or fingerprints. ``annotations`` uses the MCP hint
    names. ``raw`` is the record as it was read, unknown fields included. ``parameters`` are the
    declared top-level ones in the order given, none if none are declared. ``fingerprint`` hashes
    server, name and definition; ``content_hash`` leaves the server out.
    """

    id: str
    name: str
    description: str = ""
    server: str = ""
    schema: JsonObject | None = None
    returns: JsonObject | None = None
    annotations: JsonObject = field(default_factory=dict)
    raw: JsonObject = field(default_factory=dict, repr=False)
    implied_server: str = field(default="", compare=False)
    augmentation: Augmentation | None = field(default=None, repr=False, compare=False)
    parameters: tuple[Parameter, ...] = field(init=False, repr=False, compare=False)
    fingerprint: str = field(init=False, repr=False)
    content_hash: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        content = digest(
            self.name, self.description, self.schema, self.returns, dict(self.annotations)
        )
        object.__setattr__(self, "parameters", _declared(self.schema))
        object.__setattr__(self, "content_hash", content)
        object.__setattr__(self, "fingerprint", digest(self.server, content))

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def owner(self) -> str:
        """Whose tool it is: its server, else the server that its name implies, else nobody's."""
        return self.server or self.implied_server

    @property
    def home(self) -> str:
        """What distinguishes it from others of its name: its server, else its id unless that is its
        name, else nothing.
        """
        return self.server or ("" if self.id == self.name else self.id)


def _declared(schema: JsonObject | None) -> tuple[Parameter, ...]:
    properties = (schema or {}).get("properties")
    if not isinstance(properties, dict):
        return ()
    required = (schema or {}).get("required")
    needed = [name for name in required if name] if isinstance(required, list) else []
    return tuple(
        Parameter(name, name in needed, sub if isinstance(sub, dict) else {})
        for name, sub in properties.items()
    )


@dataclass(frozen=True, slots=True)
class Server:
    """An owner of tools: an MCP server, an agent or an OpenAI namespace.

    ``raw`` is the namespace as it was read, without its tools; empty for any other server.
    """

    name: str
    description: str = ""
    raw: JsonObject = field(default_factory=dict, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class ImpliedServer:
    """A vendor or product with its tools (ids, sorted), and why it is held for one, in words."""

    name: str
    tools: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that could not be read: where it stands, why, and its text (cut to 500)."""

    position: str
    reason: str
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to know about a tool before trusting it.

    ``field`` is the place in the tool's definition (``description``, ``schema/properties/x``);
    ``excerpt`` is the suspicious text with invisible characters written visibly.
    """

    tool_id: str
    severity: Severity
    code: str
    field: str
    message: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of an import: its format, and how many of its records are tools and problems.

    ``server`` is the one made up from its name for tools of which it names none; else empty.
    """

    label: str
    format: str
    tools: int
    problems: int
    server: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tools and their servers, sorted by id and by name, with what could not be read.

    ``files`` describes each file that was just read; a stored catalog has none. ``format`` is the
    shape in which its tools are written again.
    ``by_id`` has the tools by their ids.
    """

    tools: tuple[Tool, ...]
    servers: tuple[Server, ...] = ()
    format: str = "neutral"
    problems: tuple[Problem, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: tuple[InputFile, ...] = field(default=(), compare=False)
    by_id: Mapping[str, Tool] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_id", {tool.id: tool for tool in self.tools})

    @property
    def version(self) -> str:
        """Hash (64 hex digits) of the ids and fingerprints: equal for equal tools in any order."""
        return digest(sorted((tool.id, tool.fingerprint) for tool in self.tools))

    @property
    def read_from(self) -> tuple[str, ...]:
        """The formats of the files that brought tools, sorted; where none is known, its own."""
        return sorted_ids(file.format for file in self.files if file.tools) or (self.format,)

    @property
    def blocked(self) -> frozenset[str]:
        """Ids of the tools with a *block* finding: never canonical, never auto-merged."""
        return frozenset(item.tool_id for item in self.findings if item.severity == "block")


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """Two tool ids, unordered: build it with ``Pair.of``, which sorts them."""

    left: str
    right: str

    @classmethod
    def of(cls, a: str, b: str) -> Pair:
        return cls(a, b) if a <= b else cls(b, a)


@dataclass(frozen=True, slots=True)
class PairScores:
    """Judged pairs as columns of equal length m, sorted by (left, right).

    ``left`` and ``right`` are int32 row numbers into ``catalog.tools`` with left < right;
    ``similarity`` is the cosine in [-1, 1], ``probability`` that of the same job and ``family``
    that of a family, both in [0, 1]; all float64.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    similarity: NDArray[np.float64]
    probability: NDArray[np.float64]
    family: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def expected_merges(self) -> int:
        """The number of pairs that are merges if the probabilities hold. Divided by ``len`` it is
        the catalog's own share of merges, which is not labelled.
        """
        return round(float(self.probability.sum()))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a judge on a pair, with its reasons as sentences; ``judge`` names the judge.

    ``probability`` is that of the same job (*duplicate* or *subsumes*), ``family`` that of a
    family (*parametric*: the same operation for another provider or fixed value); both in [0, 1].
    ``serves`` says which of the two could serve every caller of the other as it is. ``differs``
    are the words that only the left and only the right one has.
    """

    pair: Pair
    similarity: float
    probability: float
    outcome: Outcome
    evidence: tuple[str, ...] = ()
    judge: str = "offline"
    relation: Relation = "different"
    family: float = 0.0
    serves: Serves = "none"
    differs: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


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
    lets go.
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

    @property
    def lossless(self) -> bool:
        return not self.dropped and not self.lossy

    @property
    def applicable(self) -> bool:
        """Whether nothing is lost but what a person lets go."""
        return not self.lossy and set(self.dropped) <= set(self.waived)


@dataclass(frozen=True, slots=True)
class Constraints:
    """Decisions of people as links between tool ids.

    ``must`` holds disjoint groups of two or more ids that stay together; ``cannot`` the pairs that
    stay apart. Suspended are, because a member changed, the groups in ``stale`` and the pairs in
    ``doubtful``; and, because standing decisions contradict each other, the groups in ``conflict``.
    ``put_forward`` holds the pairs that a person wants to see proposed, ``for_a_person`` those of
    them that nobody but a person may merge. ``families`` are the sets that were put together as a
    family: a group that holds one stays one. ``omitted`` tools are left out of the toolset, and of
    everything above.
    """

    must: tuple[frozenset[str], ...] = ()
    cannot: frozenset[Pair] = frozenset()
    stale: tuple[frozenset[str], ...] = ()
    doubtful: frozenset[Pair] = frozenset()
    conflict: tuple[frozenset[str], ...] = ()
    put_forward: frozenset[Pair] = frozenset()
    for_a_person: frozenset[Pair] = frozenset()
    families: tuple[frozenset[str], ...] = ()
    omitted: frozenset[str] = frozenset()

    def is_family(self, members: Iterable[str]) -> bool:
        """Whether some of these tools were put together as a family."""
        ids = set(members)
        return any(held <= ids for held in self.families)


@dataclass(frozen=True, slots=True)
class Group:
    """Tool ids (sorted) that correction leaves together.

    ``weakest_edge`` is the lowest merge probability over all pairs inside, ``split`` says whether
    the connected component it came from was divided, ``intransitive`` whether two members are
    joined only through a third, ``decided`` whether people put exactly these together.
    ``newcomers`` (sorted) are tools outside a decided group that the judge, or a person, would add
    to it; ``put_forward`` says whether a person put the group forward. ``doubts`` are sentences on
    what judges do not agree on. A ``family`` is the same operation for several providers or fixed
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
    prune; ``chosen_kind`` the kind that people chose.
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

    @property
    def safe(self) -> bool:
        """Whether it may be accepted without a person (``merging.auto_accept``)."""
        return not self.reasons


@dataclass(frozen=True, slots=True)
class Relabel:
    """One row of φ: the new id and name of a tool that came in. One that is left out is *removed*
    and has neither.
    """

    old_id: str
    new_id: str | None
    server: str
    old_name: str
    new_name: str | None
    status: RelabelStatus


@dataclass(frozen=True, slots=True)
class MergedTool:
    """A tool of the outgoing toolset; ``members`` are the ids it stands for, sorted."""

    tool: Tool
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dangling:
    """A kept description that still cites the name of a tool that is gone; ``now`` is what it is
    called, empty for a tool that was left out.
    """

    tool_id: str
    cites: str
    now: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of a person on a set of tools: one line of the append-only log.

    ``members`` are fingerprints and ``ids`` the tool ids they had, in the same order; where a log
    is read for a later version, the ids that renamed tools have there. ``detail``
    depends on the action: split and recut ``{"groups": [[fingerprint…]…]}``, drop ``{"drop":
    [fingerprint…]}``, canonical ``{"canonical": fingerprint}`` and perhaps the ``{"kind"}`` of the
    merge, edit any of ``{"name", "description", "schema", "renames", "maps"}``, omit
    ``{"reason"}``, threshold ``{"similarity", "probability"}`` without members, flag ``{"note"}``,
    note ``{"about": key, "note"}``, undo ``{"retracts": seq}``; accept, split, drop and recut may
    have the ``{"relation"}`` of the cluster that was on the screen, and what was decided at once
    with others the ``{"batch"}``. ``seq`` is 0 until the log gives one.
    """

    action: Action
    members: tuple[str, ...]
    ids: tuple[str, ...]
    reviewer: str
    at: str = ""
    seq: int = 0
    detail: JsonObject = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What names this decision in every log that holds it, whatever its ``seq`` there."""
        return digest(self.action, self.members, self.reviewer, self.at)[:16]

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The ids by the parts that a split, a recut or a drop makes, the dropped ones first; all
        in one part for any other action.
        """
        named = [self.detail["drop"]] if self.action == "drop" else []
        named = self.detail["groups"] if self.action in ("split", "recut") else named
        made = self.places(named)
        taken = set(chain.from_iterable(made))
        rest = tuple(row for row in range(len(self.ids)) if row not in taken)
        return tuple(tuple(self.ids[row] for row in part) for part in (*made, rest) if part)

    def places(self, groups: Iterable[Iterable[str]]) -> list[tuple[int, ...]]:
        """Each fingerprint of the groups as a position in ``members``, the next that bears it:
        copies are equal.
        """
        free: dict[str, list[int]] = {}
        for position, member in enumerate(self.members):
            free.setdefault(member, []).append(position)
        return [tuple(free[member].pop(0) for member in group) for group in groups]


@dataclass(frozen=True, slots=True)
class Edit:
    """The choices of people for a set of tools: a canonical id, the kind of the merge where they
    chose it, and fields of the document (``name``, ``description``, ``schema``, ``renames``;
    ``maps`` by fingerprint, as in ``merging.given_maps``).
    """

    canonical: str | None = None
    document: JsonObject = field(default_factory=dict)
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class MergePlan:
    """Clusters, the outgoing toolset, φ and α, all in id order. ``edited`` are tools that stand
    alone under a document that people wrote: clusters of one; ``held_back`` are ids of tools whose
    own document needs a gateway that was not asked for, or is in conflict. ``unreadable`` says, by
    the ids that an outgoing tool stood for, why no client of MCP could read it: one that stood
    alone is left out, a merge came apart.
    """

    catalog: Catalog
    clusters: tuple[Cluster, ...]
    tools: tuple[MergedTool, ...]
    relabels: tuple[Relabel, ...]
    arguments: tuple[ArgumentMap, ...]
    dangling: tuple[Dangling, ...] = ()
    edited: tuple[Cluster, ...] = ()
    held_back: tuple[str, ...] = ()
    unreadable: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    @property
    def phi(self) -> dict[str, str | None]:
        """φ: the new id of each tool, by its old id; ``None`` for one that was left out."""
        return {row.old_id: row.new_id for row in self.relabels}

    @property
    def removed(self) -> tuple[str, ...]:
        """Ids of the tools that are left out, by people or as ``unreadable``."""
        return tuple(row.old_id for row in self.relabels if row.new_id is None)

    @property
    def applied(self) -> tuple[Cluster, ...]:
        """The clusters that the outgoing toolset merges."""
        merged = {item.tool.id for item in self.tools if len(item.members) > 1}
        return tuple(
            cluster
            for cluster in self.clusters
            if cluster.state == "accepted" and cluster.canonical in merged
        )


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment on one version of a catalog. ``configuration`` is all that decides its figures;
    ``result`` is what is there of them, all where it ``is_done``, ``None`` in a list.
    """

    number: int
    catalog_id: int
    kind: str
    configuration: JsonObject
    at: str
    seconds: float
    is_done: bool
    result: JsonObject | None = field(default=None, repr=False)


def sorted_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Ids without repeats in code-point order: the order of every ranking's tie-break."""
    return tuple(sorted(set(ids)))

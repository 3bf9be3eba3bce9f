"""People's decisions as they are logged, and the constraints they put on a merge."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from toolscope_core.model.cluster import ClusterKind
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import JsonObject, digest

Action = Literal[
    "accept",
    "keep_apart",
    "split",
    "drop",
    "recut",
    "propose",
    "canonical",
    "edit",
    "omit",
    "owner",
    "account",
    "compare",
    "augment",
    "load",
    "namespace",
    "flag",
    "note",
    "profile",
    "threshold",
    "undo",
]


@dataclass(frozen=True, slots=True)
class Constraints:
    """People's decisions as links between tool ids.

    ``must`` has disjoint groups of two or more ids that stay together; ``cannot`` has the pairs
    that stay apart. The groups in ``stale`` and the pairs in ``doubtful`` are suspended because a
    member changed; the groups in ``conflict`` because active decisions contradict each other.
    ``put_forward`` has the pairs that a person wants to see proposed; ``for_a_person`` those of
    them that only a person may merge. ``families`` are sets that people marked as a family: a group
    that contains one stays a family. ``omitted`` tools are left out of the toolset and of
    everything above. ``one_account`` says for two servers whether they work on one account.
    ``compared`` are the pairs of which calls showed something, with the verdict on those that did
    not answer alike.
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
    one_account: Mapping[frozenset[str], bool] = field(default_factory=dict)
    compared: Mapping[Pair, str] = field(default_factory=dict)

    def are_on_one_account(self, servers: Iterable[str]) -> bool | None:
        """Whether people said that these servers work on one account.

        True if decisions link them all, False if one separates two of them, ``None`` if some are
        left open.
        """
        every = set(servers)
        answers = {two: one for two, one in self.one_account.items() if two <= every}
        if not all(answers.values()):
            return False
        reached = set(next(iter(answers), ()))
        while wider := {s for two in answers if two & reached for s in two} - reached:
            reached |= wider
        return reached == every or None

    def is_family(self, members: Iterable[str]) -> bool:
        """Whether people marked some of these tools as a family."""
        ids = set(members)
        return any(family <= ids for family in self.families)


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision on a set of tools: one line of the append-only log.

    ``fingerprints`` and ``ids`` are those of its tools at the time, in the same order; if the log
    is read for a later version, renamed tools have their new ids. ``detail`` depends on the action:
    split and recut ``{"groups": [[fingerprint…]…]}``, drop ``{"drop": [fingerprint…]}``, canonical
    ``{"canonical": fingerprint}`` and perhaps the ``{"kind"}`` of the merge, edit any of ``{"name",
    "description", "schema", "renames", "maps"}``, omit ``{"reason"}``, account ``{"account"}``,
    compare what ``CallComparison.as_json`` gives,
    load ``{"loading"}``, namespace ``{"description"}``, threshold ``{"similarity", "same_job"}``
    without members, flag ``{"note"}``, note ``{"about": key, "note"}``, profile the fields of
    ``profile_detail`` or ``{"profile", "deleted"}``, undo ``{"retracts": seq}``; accept, split,
    drop and recut may have the ``{"relation"}`` of the cluster that was on the screen, and
    decisions made together the ``{"batch"}``. ``seq`` is 0 until the log assigns one.
    """

    action: Action
    fingerprints: tuple[str, ...]
    ids: tuple[str, ...]
    reviewer: str
    at: str = ""
    seq: int = 0
    detail: JsonObject = field(default_factory=dict)

    @property
    def action_name(self) -> str:
        """The action in words: *keep apart*."""
        return self.action.replace("_", " ")

    @property
    def key(self) -> str:
        """Identifies this decision in every log, whatever its ``seq`` there."""
        return digest(self.action, self.fingerprints, self.reviewer, self.at)[:16]

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The ids in the parts made by a split, recut or drop, dropped ids first; otherwise in one
        part.
        """
        groups = [self.detail["drop"]] if self.action == "drop" else []
        groups = self.detail["groups"] if self.action in ("split", "recut") else groups
        positions = self.places(groups)
        placed = set(chain.from_iterable(positions))
        rest = tuple(row for row in range(len(self.ids)) if row not in placed)
        return tuple(tuple(self.ids[row] for row in part) for part in (*positions, rest) if part)

    def places(self, groups: Iterable[Iterable[str]]) -> list[tuple[int, ...]]:
        """Each fingerprint of the groups as a position in ``fingerprints``.

        Copies have equal fingerprints, so each takes the next free position.
        """
        free: dict[str, list[int]] = {}
        for position, member in enumerate(self.fingerprints):
            free.setdefault(member, []).append(position)
        return [tuple(free[member].pop(0) for member in group) for group in groups]


@dataclass(frozen=True, slots=True)
class Edit:
    """People's choices for a set of tools.

    A canonical id, the kind of merge if they chose it, and fields of the document (``name``,
    ``description``, ``schema``, ``renames``, and ``maps`` by fingerprint, as in
    ``merging.edited_maps``).
    """

    canonical: str | None = None
    document: JsonObject = field(default_factory=dict)
    kind: ClusterKind | None = None

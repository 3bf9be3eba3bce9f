"""The log of people's decisions: what may be appended, and the constraints it puts on a merge."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, product
from typing import TypeVar

from toolscope_core.decisions.actions import (
    ASKING,
    BESIDE_MERGES,
    HOLDING,
    LINKING,
    ON_SEVERAL,
    check_form,
    id_list,
)
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Action, Constraints, Decision, Edit
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Augmentation, digest

Member = TypeVar("Member", bound=Hashable)


def active(log: Sequence[Decision]) -> tuple[Decision, ...]:
    """The decisions in force, in order: without the retracted ones and without undo rows."""
    retracted = {item.detail["retracts"] for item in log if item.action == "undo"}
    return tuple(item for item in log if item.action != "undo" and item.seq not in retracted)


def version_of(members: Iterable[str], log: Sequence[Decision]) -> str:
    """The version of a set of fingerprints: a hash of them and of the decisions on them, without
    those that change no merge.
    """
    return versions_of([members], log)[0]


def versions_of(forms: Iterable[Iterable[str]], log: Sequence[Decision]) -> list[str]:
    """``version_of`` for many sets of fingerprints at once."""
    touched: dict[str, list[int]] = {}
    for item in _of_merges(active(log)):
        for member in item.members:
            touched.setdefault(member, []).append(item.seq)
    versions = []
    for members in forms:
        wanted = sorted(members)
        versions.append(digest(wanted, sorted({s for m in wanted for s in touched.get(m, ())})))
    return versions


def admit(
    log: Sequence[Decision],
    proposal: Decision,
    seen_version: str | None = None,
    ignoring: frozenset[int] = frozenset(),
) -> Decision:
    """``proposal`` as the row to append, with the next ``seq``; every new row passes here.

    Call it inside the transaction that appends. A repeat of the last standing decision on these
    members by the same reviewer (a double click on any but canonical, edit) is no new row: the
    standing one is returned, whatever version was seen. An undo gets the members of what it
    retracts. Raises ``StaleDecisionError`` when ``seen_version`` is not today's ``version_of``
    the members, ``DecisionError`` when the proposal is malformed, contradicts a standing
    decision, or takes back what later decisions build on. Decisions whose seq is in ``ignoring``
    (those ``suspended``) contradict nothing.
    """
    if proposal.action == "undo":
        target = _target(log, proposal)
        proposal = replace(proposal, members=target.members, ids=target.ids)
    check_form(proposal)
    standing = active(log)
    last = next(iter(_touching(_of_merges(standing), proposal.members)[::-1]), None)
    if last is not None and _repeats(last, proposal):
        return last
    if seen_version not in (None, version_of(proposal.members, log)):
        raise StaleDecisionError(_what_happened(log, proposal))
    if proposal.action == "undo":
        _check_undo(log, proposal)
    elif (other := _contradicted(standing, proposal, ignoring)) is not None:
        raise DecisionError(
            f"this {proposal.action} of {id_list(proposal.ids)} contradicts {_cite(other)} on "
            f"{id_list(other.ids)}; undo that one first"
        )
    return replace(proposal, seq=log[-1].seq + 1 if log else 1)


def building_on(standing: Sequence[Decision], target: Decision) -> list[Decision]:
    """The later ones of the ``standing`` decisions that share two members with ``target``; it
    cannot be taken back before them.
    """
    members = Counter(target.members)
    return [
        item
        for item in _of_merges(standing)
        if target.action not in BESIDE_MERGES
        and item.seq > target.seq
        and (Counter(item.members) & members).total() > 1
    ]


def notes(log: Sequence[Decision]) -> dict[str, tuple[Decision, ...]]:
    """By the key of a decision the notes that stand on it, oldest first."""
    standing: dict[str, tuple[Decision, ...]] = {}
    for item in active(log):
        if item.action == "note":
            about = item.detail["about"]
            standing[about] = (*standing.get(about, ()), item)
    return standing


def recorded(log: Sequence[Decision], decision: Decision) -> Decision:
    """A decision that a log already admitted, as the next row of a replay, with its own ``seq``.

    Only its form and place are checked; ``constraints`` reports what it contradicts today.
    Raises ``DecisionError``.
    """
    if log and decision.seq <= log[-1].seq:
        raise DecisionError(
            f"seq {decision.seq} follows {log[-1].seq}; keep the order of the log, or leave out seq"
        )
    if decision.action == "undo":
        target = _target(log, decision)
        decision = replace(decision, members=target.members, ids=target.ids)
    check_form(decision)
    return decision


def suspended_decisions(catalog: Catalog, log: Sequence[Decision]) -> frozenset[int]:
    """The seqs of the active decisions of which a member has changed in this catalog."""
    locate = _Locator(catalog, log)
    return frozenset(item.seq for item in active(log) if locate(item)[1])


def constraints(catalog: Catalog, log: Sequence[Decision]) -> Constraints:
    """The constraints that the decisions in force put on the tools of ``catalog``, by id.

    A member that has left the catalog is left out. A member whose id now bears another
    fingerprint has changed: the decision joins nobody and keeps apart only the unchanged, and
    each of its members is stale until a later decision includes it as it is now. A joined group
    that holds a pair to be kept apart is in conflict and not enforced. A pair is asked for as long
    as both are unchanged and not kept apart. A tool that people left out is in none of it. The
    groups are sorted.
    """
    locate = _Locator(catalog, log)
    linking = [item for item in active(log) if item.action in LINKING]
    joined: list[tuple[str, ...]] = []
    held: list[frozenset[str]] = []
    families: list[frozenset[str]] = []
    apart: set[Pair] = set()
    doubtful: set[Pair] = set()
    for place, item in enumerate(linking):
        present, changed = locate(item)
        now = {
            i: present.get(i, old)
            for i, old in enumerate(item.ids)
            if i in present or old in changed
        }
        later = linking[place + 1 :]
        for group in _links(item)[0]:
            ids = tuple(now[i] for i in group if i in now)
            if len(ids) > 1 and item.detail.get("relation") == "parametric":
                families.append(frozenset(ids))
            if changed.isdisjoint(ids):
                joined.append(ids)
            else:
                held.append(frozenset(i for i in ids if not locate.are_decided_on((i,), later)))
        for i, j in _links(item)[1]:
            if i in present and j in present:
                apart.add(Pair.of(present[i], present[j]))
            elif i in now and j in now and not locate.are_decided_on((now[i], now[j]), later):
                doubtful.add(Pair.of(now[i], now[j]))
    home = _unite(joined)
    groups = {frozenset(group) for group in home.values() if len(group) > 1}
    clashing = {frozenset(home[p.left]) for p in apart if p.right in home.get(p.left, ())}
    return Constraints(
        must=tuple(sorted(groups - clashing, key=sorted)),
        cannot=frozenset(apart),
        stale=tuple(sorted({group for group in held if len(group) > 1}, key=sorted)),
        doubtful=frozenset(doubtful),
        conflict=tuple(sorted(clashing, key=sorted)),
        put_forward=frozenset(_put_forward(locate, log, ASKING)) - apart,
        for_a_person=frozenset(_put_forward(locate, log, HOLDING)) - apart,
        families=tuple(sorted(set(families), key=sorted)),
        omitted=frozenset(locate.omitted),
    )


def omitted(catalog: Catalog, log: Sequence[Decision]) -> dict[str, Decision]:
    """By tool id the decision that left it out; a tool that has changed since is in again."""
    return dict(_Locator(catalog, log).omitted)


def owners(catalog: Catalog, log: Sequence[Decision]) -> dict[str, str]:
    """By tool id the implied server that people gave it last; empty for none."""
    locate = _Locator(catalog, log)
    return {
        tool_id: str(item.detail["owner"]).strip()
        for item in active(log)
        if item.action == "owner"
        for tool_id in locate(item)[0].values()
    }


def variants(catalog: Catalog, log: Sequence[Decision]) -> dict[str, Augmentation]:
    """By tool id the document variant that people gave it last, empty where they want none. A tool
    that has changed since has none.
    """
    locate = _Locator(catalog, log)
    latest: dict[str, Augmentation] = {}
    for item in active(log):
        if item.action == "augment":
            present, _ = locate(item)
            for place, tool_id in present.items():
                variant = item.detail["variants"][place]
                latest[tool_id] = Augmentation(variant["expanded"], tuple(variant["questions"]))
    return latest


def flags(catalog: Catalog, log: Sequence[Decision]) -> dict[str, tuple[Decision, ...]]:
    """By tool id the flags that stand on it, oldest first; a tool that has changed has none."""
    locate = _Locator(catalog, log)
    standing: dict[str, tuple[Decision, ...]] = {}
    for item in active(log):
        if item.action == "flag":
            for tool_id in locate(item)[0].values():
                standing[tool_id] = (*standing.get(tool_id, ()), item)
    return standing


def edits(catalog: Catalog, log: Sequence[Decision]) -> dict[frozenset[str], Edit]:
    """The latest canonical choice and the merged document edit of each edited member set; what an
    accepted merge kept is such a choice.

    Later edits override field by field. Members that left the catalog are left out of the set; a
    changed member suspends an edit, but not what was kept: nobody said that it turned round.
    """
    locate = _Locator(catalog, log)
    chosen: dict[frozenset[str], Edit] = {}
    for item in active(log):
        present, changed = locate(item)
        keeps_one = item.action == "accept" and "canonical" in item.detail
        is_edit = item.action in ("edit", "canonical") and not changed
        if not (keeps_one or is_edit) or not present:
            continue
        key = frozenset(present.values())
        edit = chosen.get(key, Edit())
        if item.action == "edit":
            edit = replace(edit, document={**edit.document, **item.detail})
        else:
            position = item.members.index(item.detail["canonical"])
            kind = item.detail.get("kind", edit.kind)
            edit = replace(edit, canonical=present.get(position), kind=kind)
        chosen[key] = edit
    return chosen


# The log ------------------------------------------------------------------------------------


def _target(log: Sequence[Decision], undo: Decision) -> Decision:
    seq = undo.detail.get("retracts")
    target = next((item for item in log if item.seq == seq), None)
    if target is None:
        raise DecisionError(
            f"there is no decision {seq!r} to undo; give the seq of one of the history as "
            "detail.retracts"
        )
    if target.action == "undo":
        raise DecisionError(f"decision {seq} is itself an undo; decide again instead")
    return target


def _check_undo(log: Sequence[Decision], undo: Decision) -> None:
    target = _target(log, undo)
    standing = active(log)
    if target not in standing:
        by = next(i for i in log if i.action == "undo" and i.detail["retracts"] == target.seq)
        raise DecisionError(f"{_cite(target)} was already taken back: {_cite(by)}")
    if later := building_on(standing, target):
        raise DecisionError(
            f"{_cite(target)} cannot be undone: {', '.join(map(_cite, later))} came later on the "
            "same tools; undo the later ones first"
        )


def _repeats(standing: Decision, proposal: Decision) -> bool:
    return (
        proposal.action in ON_SEVERAL
        and standing.action == proposal.action
        and standing.reviewer == proposal.reviewer
        and standing.detail.get("relation") == proposal.detail.get("relation")
        and _meaning(standing) == _meaning(proposal)
    )


def _contradicted(
    standing: Sequence[Decision], proposal: Decision, ignoring: frozenset[int]
) -> Decision | None:
    """The standing decision that completes a contradiction with ``proposal``, if there is one."""
    if proposal.action not in ON_SEVERAL:
        return None
    linking = [i for i in standing if i.action in LINKING and i.seq not in ignoring]
    meanings = [_meaning(item) for item in (proposal, *linking)]

    def clash(count: int) -> bool:
        home = _unite(group for must, _ in meanings[: count + 1] for group in must)
        pairs = chain.from_iterable(cannot for _, cannot in meanings[: count + 1])
        return any(right in home.get(left, ()) for left, right in pairs)

    if not clash(len(linking)):
        return None
    return linking[bisect_left(range(len(linking)), True, key=lambda n: clash(n + 1))]


def _of_merges(log: Sequence[Decision]) -> list[Decision]:
    return [item for item in log if item.action not in BESIDE_MERGES]


def _touching(log: Sequence[Decision], members: Iterable[str]) -> list[Decision]:
    wanted = set(members)
    return [item for item in log if not wanted.isdisjoint(item.members)]


def _what_happened(log: Sequence[Decision], proposal: Decision) -> str:
    recent = _touching(log, proposal.members)
    happened = f"{_cite(recent[-1])} came first" if recent else "they were shown differently"
    return (
        f"{id_list(proposal.ids)} changed since you loaded them: {happened}; reload and look again"
    )


def _cite(decision: Decision) -> str:
    at = decision.at[:16].replace("T", " ")
    return f"decision {decision.seq} ({decision.action} by {decision.reviewer}, {at})"


# Links --------------------------------------------------------------------------------------

Positions = tuple[int, ...]
Copy = tuple[str, int]


def _links(decision: Decision) -> tuple[list[Positions], list[tuple[int, int]]]:
    """The groups that stay together and the pairs kept apart, as positions in ``members``."""
    everybody = tuple(range(len(decision.members)))
    match decision.action:
        case "accept" | "propose":
            return [everybody], []
        case "reject":
            return [], list(combinations(everybody, 2))
        case "split" | "recut":
            groups = decision.places(decision.detail["groups"])
            across = (product(a, b) for a, b in combinations(groups, 2))
            kept = groups if decision.action == "split" else []
            return kept, list(chain.from_iterable(across))
        case _:
            (dropped,) = decision.places([decision.detail["drop"]])
            rest = tuple(i for i in everybody if i not in dropped)
            return [rest], list(product(dropped, rest))


def _put_forward(
    locate: _Locator, log: Sequence[Decision], actions: Collection[Action]
) -> Iterator[Pair]:
    """The pairs that a person wants to see proposed, by one of the actions. A recut asks for what
    stays together, which the judge alone might divide further; in a family every two have to be one
    operation anyway.
    """
    for item in active(log):
        if item.action not in actions:
            continue
        if item.action == "propose":
            groups: list[Positions] = [tuple(range(len(item.members)))]
        elif item.detail.get("relation") != "parametric":
            groups = item.places(item.detail["groups"])
        else:
            continue
        present, _ = locate(item)
        for group in groups:
            ids = (present[i] for i in group if i in present)
            yield from (Pair.of(a, b) for a, b in combinations(ids, 2))


def _meaning(decision: Decision) -> tuple[set[frozenset[Copy]], set[tuple[Copy, Copy]]]:
    """The links between fingerprints, pairs sorted; the n-th copy of one is (fingerprint, n)."""
    members = decision.members
    copies = [(member, members[:i].count(member)) for i, member in enumerate(members)]
    must, cannot = _links(decision)
    return (
        {frozenset(copies[i] for i in group) for group in must},
        {(min(copies[i], copies[j]), max(copies[i], copies[j])) for i, j in cannot},
    )


def _unite(groups: Iterable[Collection[Member]]) -> dict[Member, set[Member]]:
    """For every member the set it ends up in when groups that share a member become one."""
    home: dict[Member, set[Member]] = {}
    for group in groups:
        merged = set(group).union(*(home[item] for item in group if item in home))
        home.update(dict.fromkeys(merged, merged))
    return home


# Fingerprints in a catalog ------------------------------------------------------------------


class _Locator:
    """The tools of one catalog that are the members of the decisions of a log."""

    def __init__(self, catalog: Catalog, log: Sequence[Decision]) -> None:
        self._by_id = catalog.by_id
        self._owners: dict[str, list[str]] = {}
        asked = {member for decision in log for member in decision.members}
        owned = [tool for tool in catalog.tools if tool.fingerprint in asked] if asked else []
        for tool in sorted(owned, key=lambda tool: tool.id):
            self._owners.setdefault(tool.fingerprint, []).append(tool.id)
        self.omitted = {
            tool_id: item
            for item in active(log)
            if item.action == "omit"
            for tool_id in self._in_catalog(item)[0].values()
        }

    def __call__(self, decision: Decision) -> tuple[dict[int, str], set[str]]:
        """Tool ids by position in ``members``, and the ids of members that have changed; without
        those that people left out.
        """
        present, changed = self._in_catalog(decision)
        kept = {at: tool_id for at, tool_id in present.items() if tool_id not in self.omitted}
        return kept, changed - self.omitted.keys()

    def _in_catalog(self, decision: Decision) -> tuple[dict[int, str], set[str]]:
        """Among tools with one fingerprint the one that bears the recorded id comes first."""
        named = enumerate(zip(decision.members, decision.ids, strict=True))
        present = {i: old for i, (member, old) in named if old in self._owners.get(member, ())}
        taken = set(present.values())
        for i, member in enumerate(decision.members):
            free = (tool_id for tool_id in self._owners.get(member, ()) if tool_id not in taken)
            if i not in present and (tool_id := next(free, None)) is not None:
                present[i] = tool_id
                taken.add(tool_id)
        missing = {old for i, old in enumerate(decision.ids) if i not in present}
        return present, {old for old in missing - taken if old in self._by_id}

    def are_decided_on(self, ids: Iterable[str], log: Iterable[Decision]) -> bool:
        """Whether one of the decisions names all of these tools as they are today."""
        prints = {self._by_id[tool_id].fingerprint for tool_id in ids}
        return any(prints <= set(item.members) for item in log)

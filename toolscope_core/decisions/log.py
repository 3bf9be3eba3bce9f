"""The log of people's decisions: which decisions are active, and which may be appended."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from typing import TypeVar

from toolscope_core.decisions.forms import BESIDE_MERGES, LINKING, ON_SEVERAL, check_form, id_list
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from toolscope_core.model.tool import digest

Positions = tuple[int, ...]

Copy = tuple[str, int]

Member = TypeVar("Member", bound=Hashable)


def links_of(decision: Decision) -> tuple[list[Positions], list[tuple[int, int]]]:
    """The groups that stay together and the pairs to keep apart, as positions in
    ``fingerprints``.
    """
    everybody = tuple(range(len(decision.fingerprints)))
    match decision.action:
        case "accept" | "propose":
            return [everybody], []
        case "keep_apart":
            return [], list(combinations(everybody, 2))
        case "split" | "recut":
            groups = decision.places(decision.detail["groups"])
            across = (product(a, b) for a, b in combinations(groups, 2))
            together = groups if decision.action == "split" else []
            return together, list(chain.from_iterable(across))
        case _:
            (dropped,) = decision.places([decision.detail["drop"]])
            others = tuple(i for i in everybody if i not in dropped)
            return [others], list(product(dropped, others))


def meaning_of(decision: Decision) -> tuple[set[frozenset[Copy]], set[tuple[Copy, Copy]]]:
    """The groups and the sorted pairs of ``links_of``, as copies of fingerprints.

    The n-th copy of a fingerprint is written (fingerprint, n).
    """
    members = decision.fingerprints
    copies = [(member, members[:i].count(member)) for i, member in enumerate(members)]
    must, cannot = links_of(decision)
    return (
        {frozenset(copies[i] for i in group) for group in must},
        {(min(copies[i], copies[j]), max(copies[i], copies[j])) for i, j in cannot},
    )


def united(groups: Iterable[Collection[Member]]) -> dict[Member, set[Member]]:
    """For each member, the set that contains it after groups with common members are joined."""
    home: dict[Member, set[Member]] = {}
    for group in groups:
        merged = set(group).union(*(home[item] for item in group if item in home))
        home.update(dict.fromkeys(merged, merged))
    return home


def active(log: Sequence[Decision]) -> tuple[Decision, ...]:
    """The active decisions in order, without retracted decisions and without the undo rows."""
    retracted = {item.detail["retracts"] for item in log if item.action == "undo"}
    return tuple(item for item in log if item.action != "undo" and item.seq not in retracted)


def version_of(members: Iterable[str], log: Sequence[Decision]) -> str:
    """The version of a set of fingerprints: a hash of the set and of the decisions that involve it.

    Decisions that do not affect merges are left out.
    """
    return versions_of([members], log)[0]


def versions_of(forms: Iterable[Iterable[str]], log: Sequence[Decision]) -> list[str]:
    """Like ``version_of``, for many sets of fingerprints at once."""
    seqs_of: dict[str, list[int]] = {}
    for item in _of_merges(active(log)):
        for member in item.fingerprints:
            seqs_of.setdefault(member, []).append(item.seq)
    versions = []
    for members in forms:
        prints = sorted(members)
        versions.append(digest(prints, sorted({s for m in prints for s in seqs_of.get(m, ())})))
    return versions


def admit(
    log: Sequence[Decision],
    proposal: Decision,
    seen_version: str | None = None,
    suspended: frozenset[int] = frozenset(),
) -> Decision:
    """The ``proposal`` as the row to append, with the next ``seq``; every new row is checked here.

    Call this inside the transaction that appends. If the proposal repeats the last active decision
    on these members by the same reviewer (a double click; except canonical and edit), that decision
    is returned whatever version was seen, and there is nothing to append. An undo gets the members
    of the decision that it retracts. Raises ``StaleDecisionError`` if ``seen_version`` is not the
    current ``version_of`` the members. Raises ``DecisionError`` if the proposal is malformed,
    contradicts an active decision, or retracts a decision that later ones build on. Decisions whose
    ``seq`` is in ``suspended`` contradict nothing.
    """
    proposal = _well_formed(log, proposal)
    in_force = active(log)
    last = next(iter(_touching(_of_merges(in_force), proposal.fingerprints)[::-1]), None)
    if last is not None and _repeats(last, proposal):
        return last
    if seen_version not in (None, version_of(proposal.fingerprints, log)):
        raise StaleDecisionError(_what_happened(log, proposal))
    if proposal.action == "undo":
        _check_undo(log, proposal)
    elif (other := _contradicted(in_force, proposal, suspended)) is not None:
        raise DecisionError(
            f"this {proposal.action_name} of {id_list(proposal.ids)} contradicts {_cite(other)} on "
            f"{id_list(other.ids)}; undo that one first"
        )
    return replace(proposal, seq=log[-1].seq + 1 if log else 1)


def building_on(in_force: Sequence[Decision], target: Decision) -> list[Decision]:
    """The later decisions that build on ``target``, which cannot be undone before they are.

    They are the decisions ``in_force`` that share two members with ``target`` or save its profile
    again.
    """
    if target.action == "profile":
        name = target.detail["profile"]
        later = (item for item in in_force if item.seq > target.seq and item.action == "profile")
        return [item for item in later if item.detail["profile"] == name]
    members = Counter(target.fingerprints)
    return [
        item
        for item in _of_merges(in_force)
        if target.action not in BESIDE_MERGES
        and item.seq > target.seq
        and (Counter(item.fingerprints) & members).total() > 1
    ]


def notes(log: Sequence[Decision]) -> dict[str, tuple[Decision, ...]]:
    """The active notes on each decision, by the decision's key, oldest first."""
    notes_on: dict[str, tuple[Decision, ...]] = {}
    for item in active(log):
        if item.action == "note":
            about = item.detail["about"]
            notes_on[about] = (*notes_on.get(about, ()), item)
    return notes_on


def recorded(log: Sequence[Decision], decision: Decision) -> Decision:
    """A decision that a log has already admitted, as the next row of a replay, with the same
    ``seq``.

    Only the form and the position are checked; ``constraints`` reports contradictions. Raises
    ``DecisionError`` if a check fails.
    """
    if log and decision.seq <= log[-1].seq:
        raise DecisionError(
            f"`seq` {decision.seq} comes after {log[-1].seq}; keep the log's order, or omit `seq`"
        )
    return _well_formed(log, decision)


def _well_formed(log: Sequence[Decision], decision: Decision) -> Decision:
    """The decision after its form was checked; an undo gets the members of the decision it
    retracts.
    """
    if decision.action == "undo":
        target = _target(log, decision)
        decision = replace(decision, fingerprints=target.fingerprints, ids=target.ids)
    check_form(decision)
    return decision


def _target(log: Sequence[Decision], undo: Decision) -> Decision:
    seq = undo.detail.get("retracts")
    target = next((item for item in log if item.seq == seq), None)
    if target is None:
        raise DecisionError(
            f"there is no decision {seq!r} to undo; use the `seq` of a decision in the history as "
            "`detail.retracts`"
        )
    if target.action == "undo":
        raise DecisionError(f"decision {seq} is itself an undo; make a new decision instead")
    return target


def _check_undo(log: Sequence[Decision], undo: Decision) -> None:
    target = _target(log, undo)
    in_force = active(log)
    if target not in in_force:
        by = next(i for i in log if i.action == "undo" and i.detail["retracts"] == target.seq)
        raise DecisionError(f"{_cite(target)} has already been undone by {_cite(by)}")
    if later := building_on(in_force, target):
        raise DecisionError(
            f"{_cite(target)} cannot be undone, because later decisions on the same tools build on "
            f"it: {', '.join(map(_cite, later))}; undo those first"
        )


def _repeats(earlier: Decision, proposal: Decision) -> bool:
    return (
        proposal.action in ON_SEVERAL
        and earlier.action == proposal.action
        and earlier.reviewer == proposal.reviewer
        and all(
            earlier.detail.get(part) == proposal.detail.get(part)
            for part in ("relation", "canonical", "kind")
        )
        and meaning_of(earlier) == meaning_of(proposal)
    )


def _contradicted(
    in_force: Sequence[Decision], proposal: Decision, suspended: frozenset[int]
) -> Decision | None:
    """The active decision that would complete a contradiction with ``proposal``; ``None`` if none
    would.
    """
    if proposal.action not in ON_SEVERAL:
        return None
    linking = [i for i in in_force if i.action in LINKING and i.seq not in suspended]
    linking = _bearing_on(linking, proposal)
    meanings = [meaning_of(item) for item in (proposal, *linking)]

    def clash(count: int) -> bool:
        home = united(group for must, _ in meanings[: count + 1] for group in must)
        pairs = chain.from_iterable(cannot for _, cannot in meanings[: count + 1])
        return any(right in home.get(left, ()) for left, right in pairs)

    if not clash(len(linking)):
        return None
    return linking[bisect_left(range(len(linking)), True, key=lambda n: clash(n + 1))]


def _bearing_on(linking: Sequence[Decision], proposal: Decision) -> list[Decision]:
    """The decisions on two or more tools that may be kept together with a member of the
    proposal.
    """
    reach, size = set(proposal.fingerprints), 0
    keeping = [set(i.fingerprints) for i in linking if i.action not in ("keep_apart", "recut")]
    while size < len(reach):
        size = len(reach)
        for members in keeping:
            if not reach.isdisjoint(members):
                reach |= members
    return [i for i in linking if sum(member in reach for member in i.fingerprints) > 1]


def _of_merges(log: Sequence[Decision]) -> list[Decision]:
    return [item for item in log if item.action not in BESIDE_MERGES]


def _touching(log: Sequence[Decision], members: Iterable[str]) -> list[Decision]:
    prints = set(members)
    return [item for item in log if not prints.isdisjoint(item.fingerprints)]


def _what_happened(log: Sequence[Decision], proposal: Decision) -> str:
    recent = _touching(log, proposal.fingerprints)
    if not recent:
        return f"{id_list(proposal.ids)} were shown differently; reload and look again"
    last = recent[-1]
    who = "you, perhaps in another tab," if last.reviewer == proposal.reviewer else last.reviewer
    return (
        f"since you loaded this, {who} decided on {id_list(last.ids)}: {_cite(last)}; reload and "
        "look again"
    )


def _cite(decision: Decision) -> str:
    at = decision.at[:16].replace("T", " ")
    return f"decision {decision.seq} ({decision.action_name} by {decision.reviewer}, {at})"


@dataclass(frozen=True, slots=True)
class Restoration:
    """The steps that bring a log back to an earlier state.

    ``to_undo`` are decisions to retract, newest first. ``to_redo`` are decisions to repeat
    unchanged, oldest first.
    """

    to_undo: tuple[Decision, ...]
    to_redo: tuple[Decision, ...]

    def __bool__(self) -> bool:
        return bool(self.to_undo or self.to_redo)


def with_dependents(log: Sequence[Decision], seqs: Collection[int]) -> tuple[Decision, ...]:
    """The active decisions among ``seqs`` and all decisions that build on them, newest first.

    Indirect dependents are included. The decisions can be retracted in this order.
    """
    in_force = active(log)
    by_seq = {item.seq: item for item in in_force if item.seq in seqs}
    for item in in_force:  # a decision that builds on another is later
        if item.seq in by_seq:
            by_seq |= {later.seq: later for later in building_on(in_force, item)}
    return tuple(by_seq[seq] for seq in sorted(by_seq, reverse=True))


def restoration(log: Sequence[Decision], seq: int) -> Restoration:
    """The steps that restore the decisions active right after row ``seq`` (0 for none).

    A decision that is active both then and now stays, unless a decision on the same tools has to be
    repeated before it. Later edits override earlier ones, so the order is restored too. Notes and
    flags stay.
    """
    target = _deciding(active([item for item in log if item.seq <= seq]))
    current = {item.seq: item for item in _deciding(active(log))}
    again: list[Decision] = []
    redone_places: set[str] = set()
    for item in target:
        if item.seq not in current or not redone_places.isdisjoint(_places(item)):
            again.append(item)
            redone_places |= _places(item)
    kept_seqs = {item.seq for item in target} - {item.seq for item in again}
    back = [current[number] for number in sorted(current, reverse=True) if number not in kept_seqs]
    return Restoration(tuple(back), tuple(again))


def _deciding(decisions: Sequence[Decision]) -> list[Decision]:
    return [item for item in decisions if item.action not in ("flag", "note")]


def _places(item: Decision) -> set[str]:
    """The subjects of a decision: its tools, by fingerprint and by id, or the catalog's
    thresholds.
    """
    return {*item.fingerprints, *item.ids} or {item.action}

"""Several reviewers of one queue: how far each is, and how far second looks agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.decisions.log import active
from toolscope_core.evaluation.agreement import cohens_kappa
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import Tool, digest
from ui.shared.services import toolsets
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

_SEED = 77


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one person is: clusters of the own share that wait, decisions made and those of them
    that stand, and when the last one was made (empty for none).
    """

    person: str
    waiting: int
    made: int
    standing: int
    last: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """What second looks say: how many there are, in how many both people said the same, and Cohen's
    κ, ``None`` where it is not defined (nobody looked twice, or all said the same one thing).
    """

    looks: int
    same: int
    kappa: float | None


def record_look(
    work: Workspace, snapshot: Snapshot, decision: Decision, one_job: bool, reviewer: str
) -> Decision:
    """Keep what a second look says of the tools of a decision; it changes no merge."""
    right = (decision.action == "accept") == one_job
    note = f"Second look: {'one job' if one_job else 'not one job'}"
    detail = {"audited": decision.seq, "right": right, "blind": True}
    return toolsets.flag(snapshot, decision.ids, reviewer, note, detail)


def progress_of(
    log: Sequence[Decision], waiting: Mapping[str, str], people: Iterable[str]
) -> tuple[Progress, ...]:
    """A row for each of ``people`` and for everybody who decided, by name. ``waiting`` has the
    person of each cluster that waits.
    """
    made = [one for one in log if one.action not in ("undo", "note")]
    standing = Counter(one.reviewer for one in active(log) if one.action != "note")
    counts, shares = Counter(one.reviewer for one in made), Counter(waiting.values())
    last = {one.reviewer: one.at for one in made}
    names = sorted({*people, *counts})
    return tuple(
        Progress(one, shares[one], counts[one], standing[one], last.get(one, "")) for one in names
    )


def to_look_at(
    log: Sequence[Decision], tools: Mapping[str, Tool], reviewer: str, size: int
) -> tuple[Decision, ...]:
    """Decisions of others for a second look by ``reviewer``: accepted as one job or kept apart, on
    ``tools`` that are what they were, in a random order that is always the same, ``size`` in all
    with those already looked at.
    """
    others = [
        one
        for one in active(log)
        if _answer(one) is not None
        and one.reviewer != reviewer
        and all(
            tool_id in tools and tools[tool_id].fingerprint == member
            for tool_id, member in zip(one.ids, one.members, strict=True)
        )
    ]
    sample = sorted(others, key=lambda one: digest(_SEED, one.key))[:size]
    looked = {one.detail["audited"] for one in _looks(log) if one.reviewer == reviewer}
    return tuple(one for one in sample if one.seq not in looked)


def agreement(log: Sequence[Decision]) -> Agreement:
    """How far second looks agree with the decisions that stand."""
    looked = [(one, look) for one, look in _looked_at(log) if _answer(one) is not None]
    decided = [_answer(one) is True for one, _ in looked]
    rights = [look.detail["right"] is True for _, look in looked]
    seen = [answer == right for answer, right in zip(decided, rights, strict=True)]
    return Agreement(len(looked), sum(rights), cohens_kappa(decided, seen))


def disagreements(log: Sequence[Decision]) -> tuple[tuple[Decision, Decision], ...]:
    """Each standing decision that a second look sees otherwise, with that look, newest first."""
    return tuple(
        (one, look) for one, look in _looked_at(log)[::-1] if look.detail["right"] is False
    )


def _looked_at(log: Sequence[Decision]) -> list[tuple[Decision, Decision]]:
    """The standing decisions that were looked at twice, each with the second look."""
    standing = {one.seq: one for one in active(log)}
    looks = [look for look in _looks(log) if look.detail["audited"] in standing]
    return [(standing[look.detail["audited"]], look) for look in looks]


def _looks(log: Sequence[Decision]) -> list[Decision]:
    """The second looks that stand, the last one of each person on each decision."""
    latest = {
        (one.reviewer, one.detail["audited"]): one
        for one in active(log)
        if one.action == "flag" and one.detail.get("blind") is True and "audited" in one.detail
    }
    return list(latest.values())


def _answer(decision: Decision) -> bool | None:
    """Whether the decision says *one job*, or ``None`` where it says something else."""
    if decision.action == "accept" and decision.detail.get("relation") != "parametric":
        return True
    return False if decision.action == "reject" else None

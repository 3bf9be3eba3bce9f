"""Several reviewers of one queue: who has which share, how far each is, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toolscope_core.decisions.log import active
from toolscope_core.evaluation.agreement import cohens_kappa
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import Tool, digest

Split = Literal["random", "server"]
_SEED = 77


@dataclass(frozen=True, slots=True)
class Shares:
    """Who reviews, and by what the queue is divided among them."""

    people: tuple[str, ...]
    by: Split


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


def shared_out(
    clusters: Iterable[Cluster], tools: Mapping[str, Tool], shares: Shares
) -> dict[str, str]:
    """By cluster id the person who has it. A cluster, or all of the server of its canonical, goes
    to the person whose hash with it is highest: the queue may change and people may come without
    moving what others have.
    """

    def person(cluster: Cluster) -> str:
        about = cluster.id if shares.by == "random" else tools[cluster.canonical].owner
        return max(shares.people, key=lambda one: digest(_SEED, one, about))

    return {cluster.id: person(cluster) for cluster in clusters} if shares.people else {}


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

"""Going back in a log of decisions without losing a row: what is taken back, what is made again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from toolscope_core.decisions.log import active, building_on
from toolscope_core.model.decision import Decision


@dataclass(frozen=True, slots=True)
class Restoration:
    """What brings a log to an earlier state: decisions to take back (``back``, newest first), then
    decisions to make again as they were (``again``, oldest first).
    """

    back: tuple[Decision, ...]
    again: tuple[Decision, ...]

    def __bool__(self) -> bool:
        return bool(self.back or self.again)


def with_dependents(log: Sequence[Decision], seqs: Collection[int]) -> tuple[Decision, ...]:
    """The standing ones of these decisions with all that build on them, directly or through
    others, newest first: the order in which they can be taken back.
    """
    standing = active(log)
    chosen = {item.seq: item for item in standing if item.seq in seqs}
    for item in standing:  # what builds on a decision is later
        if item.seq in chosen:
            chosen |= {later.seq: later for later in building_on(standing, item)}
    return tuple(chosen[seq] for seq in sorted(chosen, reverse=True))


def restoration(log: Sequence[Decision], seq: int) -> Restoration:
    """What brings the log to the decisions that stood right after row ``seq`` (0: none did).

    A decision that stands then and now is left alone, unless one on the same tools has to be made
    again before it: later edits override earlier ones, so the order is restored too. Notes and
    flags stay.
    """
    then = _deciding(active([item for item in log if item.seq <= seq]))
    now = {item.seq: item for item in _deciding(active(log))}
    again: list[Decision] = []
    touched: set[str] = set()
    for item in then:
        if item.seq not in now or not touched.isdisjoint(_places(item)):
            again.append(item)
            touched |= _places(item)
    kept = {item.seq for item in then} - {item.seq for item in again}
    back = [now[number] for number in sorted(now, reverse=True) if number not in kept]
    return Restoration(tuple(back), tuple(again))


def _deciding(standing: Sequence[Decision]) -> list[Decision]:
    return [item for item in standing if item.action not in ("flag", "note")]


def _places(item: Decision) -> set[str]:
    """What a decision is about: tools, by fingerprint and id, or the thresholds of the catalog."""
    return {*item.members, *item.ids} or {item.action}

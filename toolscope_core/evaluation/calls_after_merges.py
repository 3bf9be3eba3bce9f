"""Compares calls before and after a merge by the share that failed or was malformed."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from toolscope_core.evaluation.intervals import SURE, higher_share_p, holm, rate_text
from toolscope_core.model.tool import Tool
from toolscope_core.usage import call_counts
from toolscope_core.usage.traced_calls import utc_time

_DATE = len("2026-01-01")


@dataclass(frozen=True, slots=True)
class DatedMerge:
    """The ids of tools that became one tool called ``name``, and the time of the decision (ISO
    8601).
    """

    members: Collection[str]
    name: str
    at: str


@dataclass(frozen=True, slots=True)
class CallsAround:
    """Calls on the days ``before`` and ``after`` the day of a decision.

    Each has the number of calls, and the number of failed or malformed ones.
    """

    before: tuple[int, int]
    after: tuple[int, int]

    @property
    def rates(self) -> tuple[str, str]:
        """The share of failed or malformed calls, before and after."""
        return rate_text(*self.before[::-1]), rate_text(*self.after[::-1])


@dataclass(frozen=True, slots=True)
class CallsAfterMerge(CallsAround):
    """Calls to all members and to the merged tool together; ``of_members`` has each member's own by
    id.

    ``corrected_p`` is for the share being no higher afterwards, corrected for the number of merges
    (Holm).
    """

    of_members: Mapping[str, CallsAround]
    corrected_p: float = 1.0

    @property
    def has_enough(self) -> bool:
        """Whether there are enough calls to reach ``SURE`` in the extreme case.

        In that case, all calls before the merge succeed and all calls after it fail.
        """
        before, after = self.before[0], self.after[0]
        return higher_share_p(0, before, after, after) < SURE

    @property
    def went_bad(self) -> bool:
        return self.corrected_p < SURE

    @property
    def how_sure(self) -> str:
        if not self.has_enough:
            return f"not enough calls to tell (n = {min(self.before[0], self.after[0]):,})"
        return f"Fisher's exact test p {self.corrected_p:.3f} after Holm"

    @property
    def in_words(self) -> str:
        before, after = self.rates
        shares = f"share of calls that failed or were malformed {before} before, {after} after"
        return f"{shares}, {self.how_sure}" if self.has_enough else self.how_sure


def calls_after_merges(
    figures: call_counts.CatalogCallCounts, tools: Iterable[Tool], merges: Mapping[str, DatedMerge]
) -> dict[str, CallsAfterMerge]:
    """The calls around each merge, under the keys of ``merges``.

    A call under an ambiguous name counts for a merge if no tool outside the merge has that name.
    Calls on the day of the decision and calls without a time count for neither side.
    """
    names = {tool.id: tool.name for tool in tools}
    owners = Counter(names.values())
    by_name: defaultdict[str, list[call_counts.ToolCallCounts]] = defaultdict(list)
    for name, counts in figures.unknown.items():
        by_name[call_counts.CLIENT_PREFIX.sub(r"\2", name)].append(counts)
    by_key: dict[str, CallsAfterMerge] = {}
    for key, merge in merges.items():
        own = Counter(names[member] for member in merge.members if member in names)
        by_member = {member: figures.of(member) for member in merge.members}
        unsaid = [by_name[one] for one in {*own, merge.name} if owners[one] == own[one]]
        all_calls = [*by_member.values(), *(one for counts in unsaid for one in counts)]
        day = utc_time(merge.at)[:_DATE]
        of_members = {member: _around(counts, day) for member, counts in by_member.items()}
        around = _around(call_counts.add_tool_counts(all_calls), day)
        by_key[key] = CallsAfterMerge(around.before, around.after, of_members)
    enough = [key for key, one in by_key.items() if one.has_enough]
    for key, p in zip(enough, holm([_p(by_key[key]) for key in enough]), strict=True):
        by_key[key] = replace(by_key[key], corrected_p=p)
    return by_key


def _around(counts: call_counts.ToolCallCounts, decided: str) -> CallsAround:
    before = [own for day, own in counts.days.items() if "" < day < decided]
    after = [own for day, own in counts.days.items() if day > decided]
    return CallsAround(_total(before), _total(after))


def _p(calls: CallsAfterMerge) -> float:
    (calls_before, bad_before), (calls_after, bad_after) = calls.before, calls.after
    return higher_share_p(bad_before, calls_before, bad_after, calls_after)


def _total(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    counts = list(counts)
    return sum(calls for calls, _ in counts), sum(bad for _, bad in counts)

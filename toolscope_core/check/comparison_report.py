"""A catalog compared with its baseline, and which of the limits that were set it does not keep."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from toolscope_core.check.baseline import Baseline, Matched, matched
from toolscope_core.check.checks import (
    GrowthLimit,
    NewPairs,
    PairJudge,
    ReplayedCases,
    StaleDecision,
    TokenGrowth,
    broken_limits,
    gone_tools,
    new_danglings,
    new_findings,
    new_pairs,
    replayed_cases,
    stale_decisions,
    token_growth,
)
from toolscope_core.check.text_mentions import TextSearch, search_below
from toolscope_core.evaluation.measured_toolsets import Ranker
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.merging.gone_names import gone_names
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import Dangling
from toolscope_core.profiles.profile_effect import ProfileReport

Check = Literal[
    "problem",
    "overlap",
    "family",
    "dangling",
    "text",
    "unread",
    "breaking",
    "stale",
    "changed",
    "block",
    "warn",
    "confusion",
    "profile",
    "tokens",
    "findability",
]
"""What a catalog can fail for."""
ON_REQUEST: tuple[Check, ...] = tuple(
    one for one in get_args(Check) if one not in ("tokens", "findability")
)
"""The checks of which one case is enough, where they are asked for; tokens have a limit."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What makes a catalog fail: more new overlaps, confusions or tokens than these, and any case
    of the checks in ``fail_on``; of a ``profile`` the most of each that it may have. Nothing by
    default.
    """

    new_overlaps: int | None = None
    new_confusions: int | None = None
    tokens: int | None = None
    growth: tuple[GrowthLimit, ...] = ()
    fail_on: frozenset[Check] = frozenset()
    profile: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("new_overlaps", "new_confusions", "tokens"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ConfigError(f"--max-{name.replace('_', '-')} is {value}; give 0 or more")

    @property
    def are_set(self) -> bool:
        return self != Limits()


@dataclass(frozen=True, slots=True)
class GateReport:
    """What a catalog brings against its baseline; empty parts where it brings nothing."""

    catalog: Catalog
    tools: Matched
    pairs: NewPairs
    dangling: tuple[Dangling, ...]
    tokens: TokenGrowth
    stale: tuple[StaleDecision, ...]
    findings: tuple[Finding, ...]
    texts: TextSearch = field(default_factory=TextSearch)
    replayed: ReplayedCases = field(default_factory=ReplayedCases)
    profile: ProfileReport | None = None

    @property
    def counts(self) -> dict[Check, int]:
        """How many cases of each check there are; of tokens how many more than before, if more."""
        severities = Counter(item.severity for item in self.findings)
        return {
            "problem": len(self.catalog.problems),
            "overlap": len(self.pairs.overlaps),
            "family": len(self.pairs.families),
            "dangling": len(self.dangling),
            "text": len(self.texts.mentions),
            "unread": len(self.texts.unread),
            "breaking": self.tools.changes.breaking,
            "stale": len(self.stale),
            "changed": len(self.tools.changes.changed),
            "block": severities["block"],
            "warn": severities["warn"],
            "confusion": len(self.replayed.new),
            "profile": len(self.profile.chosen.notes) if self.profile else 0,
            "tokens": max(0, self.tokens.total.added),
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """A check that a catalog fails, and why in words."""

    check: Check
    reason: str


def compare(catalog: Catalog, baseline: Baseline, judge: PairJudge) -> GateReport:
    """The report on a catalog; only pairs with a new or changed tool are judged. Raises
    ``ModelError`` where the embedding model is missing.
    """
    tools = matched(baseline.catalog, catalog)
    return GateReport(
        catalog=catalog,
        tools=tools,
        pairs=new_pairs(catalog, tools, baseline, judge),
        dangling=new_danglings(catalog, tools, baseline),
        tokens=token_growth(baseline.catalog, catalog),
        stale=stale_decisions(catalog, baseline, tools),
        findings=new_findings(baseline.catalog, catalog, tools),
    )


def with_texts(report: GateReport, baseline: Baseline, texts: Sequence[Path]) -> GateReport:
    """The report with what the texts in these folders name and is gone, and which were not read.
    Raises ``ConfigError`` for a folder that is none.
    """
    rows, before = gone_tools(report.tools, baseline), report.tools.before
    merged = {row.old_id for row in baseline.relabels if row.status != "kept"}
    still = (t.name for t in report.catalog.tools if before.get(t.id, t.id) not in merged)
    return replace(report, texts=search_below(texts, gone_names(rows, still)))


def with_cases(
    report: GateReport, baseline: Baseline, cases: Sequence[Query], ranker: Ranker
) -> GateReport:
    """The report with what these cases find now and did not before."""
    before, now = baseline.catalog, report.catalog
    return replace(report, replayed=replayed_cases(before, now, report.tools, cases, ranker))


def failures(report: GateReport, limits: Limits) -> tuple[Failure, ...]:
    """The checks that are failed, each once for each limit."""
    return tuple(_failures(report, limits))


_IN_WORDS: dict[Check, str] = {
    "problem": "record that cannot be read",
    "overlap": "new overlap",
    "family": "new pair of the same operation",
    "dangling": "new dangling reference",
    "text": "line of a text that names a tool that is gone",
    "unread": "text that was not read",
    "breaking": "breaking change",
    "stale": "decision gone stale",
    "changed": "changed tool",
    "block": "new block finding",
    "warn": "new warn finding",
    "confusion": "new confusion",
    "profile": "change of the profile",
}
_PLURALS: dict[Check, str] = {
    "problem": "records that cannot be read",
    "family": "new pairs of the same operation",
    "text": "lines of texts that name a tool that is gone",
    "unread": "texts that were not read",
    "stale": "decisions gone stale",
    "profile": "changes of the profile",
}


def counted(check: Check, count: int) -> str:
    """``3 new overlaps``, ``1 decision gone stale``."""
    if check in _PLURALS and count != 1:
        return f"{count:,} {_PLURALS[check]}"
    return quantity(count, _IN_WORDS[check])


def _failures(report: GateReport, limits: Limits) -> Iterator[Failure]:
    tokens = report.tokens.total
    most: dict[Check, int | None] = {
        "overlap": limits.new_overlaps,
        "confusion": limits.new_confusions,
    }
    for check in ON_REQUEST:
        count, highest = report.counts[check], most.get(check)
        if highest is not None and count > highest:
            yield Failure(check, f"{counted(check, count)}, at most {highest:,} allowed")
        elif highest is None and check in limits.fail_on and count:
            yield Failure(check, counted(check, count))
    now = tokens.after.tokens
    if limits.tokens is not None and now > limits.tokens:
        yield Failure("tokens", f"{now:,} tokens, at most {limits.tokens:,} allowed")
    for limit in limits.growth:
        if not limit.is_kept(tokens):
            allowed = f"at most {limit.in_words} more allowed"
            yield Failure("tokens", f"{tokens.in_words}, {allowed}")
    if report.profile:
        broken = broken_limits(report.profile, limits.profile)
        yield from (Failure("profile", one) for one in broken)

"""Limits on a catalog as a person types them, and the limits that a catalog exceeds."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from toolscope_core.catalog.tokens import KILO, SizeChange
from toolscope_core.check.comparison_report import CHECKS, GateItem, GateReport
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.profiles.profile_effect import ProfileReport

_LIMIT = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*(%|kB|tokens|)")


@dataclass(frozen=True, slots=True)
class GrowthLimit:
    """A limit on growth; ``unit`` says whether ``more`` is in percent of the tokens, in kB, or
    in tokens.
    """

    more: float
    unit: str

    @property
    def in_words(self) -> str:
        return f"{self.more:,.10g} {self.unit or 'tokens'}"

    def is_kept(self, change: SizeChange) -> bool:
        if self.unit == "kB":
            return change.after.bytes - change.before.bytes <= self.more * KILO
        share = change.before.tokens / 100 if self.unit == "%" else 1
        return change.added <= self.more * share


def growth_limit(text: str) -> GrowthLimit:
    """The limit in a text such as ``500``, ``5%`` or ``2kB``. Raises ``ConfigError`` for other
    texts.
    """
    match = _LIMIT.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"--max-growth is {text!r}; use tokens (500), percent (5%) or kB (2kB)")
    return GrowthLimit(float(match[1]), match[2])


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits beyond which a catalog fails; by default there are none.

    A catalog fails if it has more new overlaps, new confusions or tokens than these, or any case of
    the checks in ``fail_on``. ``profile`` has the limits of a profile.
    """

    new_overlaps: int | None = None
    new_confusions: int | None = None
    tokens: int | None = None
    growth: tuple[GrowthLimit, ...] = ()
    fail_on: frozenset[str] = frozenset()
    profile: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("new_overlaps", "new_confusions", "tokens"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ConfigError(f"--max-{name.replace('_', '-')} is {value}; use 0 or more")

    @property
    def are_set(self) -> bool:
        return self != Limits()


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed check, and the reason in words."""

    check: str
    reason: str


def failures(report: GateReport, items: Iterable[GateItem], limits: Limits) -> tuple[Failure, ...]:
    """The checks that fail because of the cases (``gate_items``), each once per limit."""
    return tuple(_failures(report, items, limits))


def tokens_over(failures: Iterable[Failure]) -> Iterator[GateItem]:
    """The exceeded token limits, as cases of the *tokens* check."""
    return (GateItem("tokens", (), one.reason) for one in failures if one.check == "tokens")


def _failures(report: GateReport, items: Iterable[GateItem], limits: Limits) -> Iterator[Failure]:
    tokens = report.tokens.total
    items = tuple(items)
    counts = Counter(item.check for item in items if not item.has_limit)
    doubts = sum(item.is_doubt for item in items)
    maxima = {"overlap": limits.new_overlaps, "confusion": limits.new_confusions}
    for check in CHECKS:
        count, highest = counts[check.name], maxima.get(check.name)
        if highest is not None and count > highest:
            reason = f"{check.count_in_words(count)}, at most {highest:,} allowed"
            yield Failure(check.name, reason)
        elif highest is None and check.name in limits.fail_on and count:
            yield Failure(check.name, check.count_in_words(count))
        elif check.name == "problem" and doubts and limits.are_set:
            reason = f"{quantity(doubts, 'record')} could not be compared, so changes are unknown"
            yield Failure(check.name, reason)
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


NOUNS = {
    "tokens": "token",
    "tools": "tool",
    "unserved": "unserved request",
    "confusions": "confusable pair",
    "misses": "missed request",
}
"""The limits that a profile may have, each with the noun for what it counts."""


def profile_limits(texts: Sequence[str], profile: str | None, has_cases: bool) -> dict[str, int]:
    """The limits of a profile, from texts such as ``tokens=8000``.

    Raises ``ConfigError`` for other texts, for limits without a profile, and for a limit on misses
    without cases.
    """
    if texts and profile is None:
        raise ConfigError("--profile-limit limits a profile; add --profile")
    limits = {}
    for text in texts:
        noun, _, limit = text.partition("=")
        if noun not in NOUNS or not limit.isdecimal():
            raise ConfigError(
                f"--profile-limit is {text!r}; use a number for one of {', '.join(NOUNS)}, such "
                "as tokens=8000"
            )
        limits[noun] = int(limit)
    if "misses" in limits and not has_cases:
        raise ConfigError("--profile-limit misses=N counts the requests in --cases; add --cases")
    return limits


def broken_limits(report: ProfileReport, limits: Mapping[str, int]) -> Iterator[str]:
    """A sentence for each exceeded limit."""
    counts = {
        "tokens": report.tokens,
        "tools": len(report.toolset.tools),
        "unserved": len(report.unserved),
        "confusions": len(report.confusions),
        "misses": report.misses.missed,
    }
    for noun, limit in limits.items():
        if counts[noun] > limit:
            amount = quantity(counts[noun], NOUNS[noun])
            yield f"profile {report.toolset.profile.name}: {amount}, at most {limit:,} allowed"

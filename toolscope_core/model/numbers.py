"""Numbers and lists in sentences."""

from collections.abc import Iterable

_HISSING = ("s", "x", "z", "ch", "sh")


def plural(noun: str) -> str:
    """The plural of a noun: ``tools``, ``families``, ``branches``."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(_HISSING) else f"{noun}s"


def quantity(number: int, noun: str) -> str:
    """A number with its noun: ``1 tool``, ``1,234 tools``, ``0 families``."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def duration(seconds: float) -> str:
    """A duration in words: ``40 s``, ``3 min``."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:,.0f} min"


def interval_text(mean: float, low: float, high: float) -> str:
    """A rate or a mean with its interval: ``0.812 [0.700, 0.901]``."""
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def listed(parts: Iterable[str], most: int = 4, *, between: str = ", ", nouns: str = "") -> str:
    """The first ``most`` parts and the number left out: ``a, b and 3 more pairs``."""
    names = list(parts)
    shown, more = between.join(names[:most]), len(names) - most
    return f"{shown} and {more:,} more {nouns}".rstrip() if more > 0 else shown


def quoted(words: Iterable[str], most: int = 4) -> str:
    """The words in quotes: ``“one, two”``, ``“one, two” and 3 more``."""
    all_words = list(words)
    more = f" and {len(all_words) - most:,} more" if len(all_words) > most else ""
    return f"“{', '.join(all_words[:most])}”{more}"


def enumerated(parts: Iterable[str]) -> str:
    """All parts: ``a, b and c``."""
    names = list(parts)
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))

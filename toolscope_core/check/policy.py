"""A team's policy for comparisons: levels, acceptances and versions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from toolscope_core.check.change_kinds import CHANGE_KINDS, Level
from toolscope_core.model.tool import digest

VersionBump = Literal["none", "breaking", "any"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A finding that no longer counts: its fingerprint, reason, author, and last valid day."""

    fingerprint: str
    reason: str
    author: str
    until: date

    @property
    def in_words(self) -> str:
        return f"{self.fingerprint}: {self.reason} ({self.author}, until {self.until})"


@dataclass(frozen=True, slots=True)
class Policy:
    """A team's policy.

    ``levels`` override the table by change kind. ``accepted`` are findings by fingerprint.
    ``version_bump`` says which changes require a higher version.
    """

    levels: Mapping[str, Level] = field(default_factory=dict)
    accepted: Mapping[str, Acceptance] = field(default_factory=dict)
    version_bump: VersionBump = "none"

    def level(self, rule: str) -> Level:
        return self.levels.get(rule, CHANGE_KINDS[rule].level)


def fingerprint_of(*parts: object) -> str:
    """A short name for one finding, from everything that identifies it."""
    return f"f{digest(*parts)[:11]}"

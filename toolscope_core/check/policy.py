"""A team's policy for comparisons: levels, acceptances and version bumps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from toolscope_core.check.change_kinds import CHANGE_KINDS, Level
from toolscope_core.model.tool import digest

VersionBump = Literal["none", "breaking", "any"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A finding that somebody accepted, so that it no longer counts.

    ``until`` is the last day on which this is valid.
    """

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

    ``levels`` override the default level of each kind of change. ``accepted`` are findings by their
    fingerprint. ``version_bump`` says which changes require a higher version.
    """

    levels: Mapping[str, Level] = field(default_factory=dict)
    accepted: Mapping[str, Acceptance] = field(default_factory=dict)
    version_bump: VersionBump = "none"

    def level(self, rule: str) -> Level:
        return self.levels.get(rule, CHANGE_KINDS[rule].level)


def fingerprint_of(*parts: object) -> str:
    """A short name for a finding, made from everything that identifies the finding."""
    return f"f{digest(*parts)[:11]}"

"""A team's policy for comparisons, from its ``.toolscope.yaml``: levels, acceptances, versions."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

from toolscope_core.catalog.flaws import Flaw, find_flaw
from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.catalog.values import read_yaml
from toolscope_core.check.change_kinds import CHANGE_KINDS, LEVELS, Level
from toolscope_core.files.folders import read_file
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import digest

VersionBump = Literal["none", "breaking", "any"]
POLICY_FILE = ".toolscope.yaml"
_BUMPS: tuple[VersionBump, ...] = get_args(VersionBump)
_LARGEST = 1 << 20
_FINGERPRINT = re.compile("f[0-9a-f]{11}")
"""The letter in front keeps YAML from reading a number."""


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


def read_policy(path: Path | None, today: date | None = None) -> Policy:
    """The policy in a file, by default ``POLICY_FILE`` in the working folder, if it exists.

    Raises ``ConfigError`` for unknown settings, and for an expired acceptance; days are in UTC.
    """
    if path is None:
        path = Path(POLICY_FILE)
        if not path.exists():
            return Policy()
    try:
        text = read_file(path, _LARGEST).decode("utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; choose another file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8; save it as UTF-8") from error
    documents = read_yaml(text)
    if isinstance(documents, Flaw) or len(documents) > 1:
        reason = documents.reason if isinstance(documents, Flaw) else "has several documents"
        raise ConfigError(f"{path} {reason}")
    content = documents[0] if documents else None
    if flaw := find_flaw(content):
        raise ConfigError(f"{path}: {flaw}")
    return _Reader(str(path), today or datetime.now(UTC).date()).policy(
        {} if content is None else content
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    file: str
    today: date

    def policy(self, content: Any) -> Policy:
        self._keys(content, "", ("levels", "accept", "version-bump"))
        levels = content.get("levels") or {}
        self._keys(levels, "levels", CHANGE_KINDS)
        rows = content.get("accept") or []
        if not isinstance(rows, list):
            self._refuse("accept", rows, "use a list")
        accepted: dict[str, Acceptance] = {}
        for at, row in enumerate(rows, 1):
            one = self._acceptance(row, f"accept/{at}")
            if one.fingerprint in accepted:
                self._refuse(f"accept/{at}/fingerprint", one.fingerprint, "remove the duplicate")
            accepted[one.fingerprint] = one
        bump = content.get("version-bump", "none")
        return Policy(
            {name: self._one_of(level, f"levels/{name}", LEVELS) for name, level in levels.items()},
            accepted,
            self._one_of(bump, "version-bump", _BUMPS),
        )

    def _acceptance(self, row: Any, place: str) -> Acceptance:
        needed = ("fingerprint", "reason", "author", "until")
        self._keys(row, place, needed)
        texts = {key: row.get(key) for key in needed}
        for key, text in texts.items():
            if not isinstance(text, str) or not text.strip():
                self._refuse(f"{place}/{key}", text, "use a string")
        if not _FINGERPRINT.fullmatch(texts["fingerprint"]):
            self._refuse(f"{place}/fingerprint", texts["fingerprint"], "copy it from the report")
        until = self._date(texts["until"], f"{place}/until")
        if until < self.today:
            self._refuse(
                f"{place}/until",
                texts["until"],
                "this date has passed, so the finding counts again; renew the entry or remove it",
            )
        reason, author = (
            for_terminal(" ".join(texts[key].split())) for key in ("reason", "author")
        )
        return Acceptance(texts["fingerprint"], reason, author, until)

    def _date(self, text: str, place: str) -> date:
        try:
            return date.fromisoformat(text)
        except ValueError:
            self._refuse(place, text, "write a date as 2027-01-31")

    def _keys(self, value: Any, place: str, allowed: Collection[str]) -> None:
        if not isinstance(value, dict):
            self._refuse(place or "the file", value, "use keys with values")
        for key in value:
            if key not in allowed:
                name = f"{place}/{key}" if place else key
                remedy = "see `toolscope check --list-rules`" if place == "levels" else ""
                remedy = remedy or f"use {', '.join(allowed)}"
                raise ConfigError(f"{self.file}: {for_terminal(str(name))} is unknown; {remedy}")

    def _one_of(self, value: Any, place: str, allowed: Sequence[str]) -> Any:
        if value not in allowed:
            self._refuse(place, value, f"use {', '.join(allowed[:-1])} or {allowed[-1]}")
        return value

    def _refuse(self, place: str, value: Any, remedy: str) -> NoReturn:
        raise ConfigError(f"{self.file}: {place} is {for_terminal(repr(value))[:80]}; {remedy}")

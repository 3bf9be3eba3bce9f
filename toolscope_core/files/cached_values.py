"""JSON values on disk that one version of the program computed, so that each is computed once."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolscope_core.files.folders import read_sealed, write_sealed
from toolscope_core.model.errors import ConfigError

_SAVED = 250_000
"""The file is written after this many new values, or after a quarter of all if that is more. At
most so many are computed again after the process is killed.
"""


class CachedValues:
    """JSON values by key in one file, for one ``version`` of the program that computes them.

    Values of other versions count as missing. ``folder`` is the root of all caches; without it, the
    values last as long as this object. If there are more than ``most``, only those that this object
    was asked for are written.
    """

    def __init__(self, folder: Path | None, name: str, version: str, most: int) -> None:
        self._folder, self._name, self._version, self._most = folder, name, version, most
        self._entries: dict[str, Any] = {}
        self._is_read = False
        self._used: set[str] = set()
        self._unsaved = 0

    def get(self, keys: Sequence[str]) -> list[Any]:
        """The value of each key, ``None`` if there is none."""
        if not self._is_read:
            self._entries, self._is_read = self._read(), True
        self._used.update(keys)
        return [self._entries.get(key) for key in keys]

    def add(self, entries: Mapping[str, Any]) -> None:
        """Add computed values; the file is written if there are enough new ones."""
        self._entries.update(entries)
        self._unsaved += len(entries)
        if self._unsaved >= max(_SAVED, len(self._entries) // 4):
            with suppress(ConfigError):  # saving at the end of the run reports the error
                self.save()

    def save(self) -> None:
        """Write new values. Raises ``ConfigError`` if the folder is unusable."""
        entries = self._entries
        if not self._unsaved or self._folder is None:
            return
        if len(entries) > self._most:
            entries = {key: entries[key] for key in entries.keys() & self._used}
        body = json.dumps([self._version, entries]).encode()
        write_sealed(self._folder, self._name, body)
        self._unsaved = 0

    def _read(self) -> dict[str, Any]:
        body = read_sealed(self._folder / self._name) if self._folder else None
        version, entries = json.loads(body) if body else ("", {})
        return dict(entries) if version == self._version else {}

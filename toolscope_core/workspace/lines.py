"""JSONL files: rows in and out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolscope_core.datamodel import JsonObject, canonical_json
from toolscope_core.errors import ConfigError, ExportError


def read_rows(path: Path) -> Iterator[tuple[int, JsonObject]]:
    """As ``rows_in``, of a file. Raises ``ConfigError`` where it cannot be read, too."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}; give a JSONL file in UTF-8") from error
    return rows_in(content, str(path))


def rows_in(content: bytes, label: str) -> Iterator[tuple[int, JsonObject]]:
    """The objects of JSON lines with their line numbers; blank lines are passed over. Raises
    ``ConfigError``, naming ``label`` and the line.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{label} cannot be read: {error}; give a JSONL file in UTF-8") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{label}, line {number} is not JSON ({error}); give one JSON object a line"
            ) from error
        if not isinstance(row, dict):
            raise ConfigError(f"{label}, line {number} is {line[:40]!r}; give a JSON object")
        yield number, row


def write_rows(path: Path, rows: Iterable[JsonObject]) -> None:
    """All rows or none: the file is written beside its place and renamed."""
    text = "".join(f"{canonical_json(row)}\n" for row in rows)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(text.encode("utf-8", "backslashreplace"))
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise ExportError(f"{path} cannot be written: {error.strerror or error}") from error

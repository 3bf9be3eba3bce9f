"""Reads and writes rows in JSON Lines files."""

import errno
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from toolscope_core.files.folders import put, read_named
from toolscope_core.model.errors import ConfigError, ExportError
from toolscope_core.model.tool import JsonObject, canonical_json

_LINE_MARKS = "\x85\u2028\u2029"


def read_rows(path: Path) -> Iterator[tuple[int, JsonObject]]:
    """Like ``rows_in``, but for a file. Also raises ``ConfigError`` if the file cannot be read."""
    return rows_in(read_named(path, "use a JSONL file"), str(path))


def rows_in(content: bytes, label: str) -> Iterator[tuple[int, JsonObject]]:
    """The objects in JSON lines, with their line numbers; blank lines are skipped.

    Raises ``ConfigError`` with ``label`` and the line number for an invalid line.
    """
    for number, line in enumerate(utf8_text(content, label).split("\n"), 1):
        if line.strip():
            yield number, row_of(line, f"{label}, line {number}")


def utf8_text(content: bytes, label: str) -> str:
    """The text of a UTF-8 file. Raises ``ConfigError`` for another encoding."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{label} cannot be read: {error}; save the file as UTF-8") from error


def row_of(line: str, place: str) -> JsonObject:
    """The object in one line. Raises ``ConfigError`` with ``place`` if the line is not a JSON
    object.
    """
    try:
        row: Any = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place} is not JSON ({error}); use one JSON object per line") from error
    if not isinstance(row, dict):
        raise ConfigError(f"{place} is {line[:40]!r}; use a JSON object")
    return row


def _refuse(constant: str) -> float:
    """Refuses ``NaN`` and the infinities, which Python accepts but JSON does not have."""
    raise ValueError(f"{constant} is not a JSON value")


def objects_of_list(value: Any) -> list[JsonObject]:
    """The objects in a JSON list; empty if the value is not a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def lines_of(rows: Iterable[JsonObject]) -> bytes:
    """The rows as JSON lines.

    They are safe even for readers that treat other characters as line ends.
    """
    text = "".join(f"{canonical_json(row)}\n" for row in rows)
    for mark in _LINE_MARKS:
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text.encode("utf-8", "backslashreplace")


def write_rows(path: Path, rows: Iterable[JsonObject]) -> None:
    """Write all rows or none: the file is written under another name beside ``path`` and then
    renamed.

    Raises ``ExportError`` if the file cannot be written, or if ``path`` is not a file.
    """
    write_whole(path, lines_of(rows), "--out")


def write_whole(path: Path, content: bytes, option: str) -> None:
    """Write the whole file or nothing.

    Raises the same errors as ``write_rows``; the message names the ``option`` that gave the path.
    """
    try:
        place = path.resolve()
        if place.exists() and not place.is_file():
            raise OSError(errno.EINVAL, "it is not a file")
        place.parent.mkdir(parents=True, exist_ok=True)
        put(place, content)
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in the path; a loop of links
        reason = getattr(error, "strerror", None) or error
        raise ExportError(
            f"{str(path)!r} cannot be written: {reason}; use another file with {option}"
        ) from error

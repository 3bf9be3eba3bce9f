"""Files as JSON values: what was given, decoded strictly, each value with its place."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolscope_core.datamodel import Problem
from toolscope_core.errors import CatalogError

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 100
MAX_DIGITS = 4300  # Python refuses to write longer integers back
SUFFIXES = (".json", ".jsonl")


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one input; ``label`` (a file name) is how messages speak of it."""

    label: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Placed:
    """A JSON value and where it stands in its source: ``line 12``, or empty for the whole."""

    value: Any
    place: str = ""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Stands in a parsed value for a part that cannot be kept exactly."""

    reason: str


def load_paths(paths: Sequence[Path]) -> tuple[Source, ...]:
    """Sources of files, and of the ``*.json`` and ``*.jsonl`` files directly in folders.

    The order given is kept, files of a folder come by name, a file met twice counts once. A label
    is the file's name, with as many of its folders as tell its stem from the others'. Raises
    ``CatalogError`` for what is missing, unreadable, larger than ``MAX_BYTES`` or empty of files.
    """
    files = list(dict.fromkeys(file.absolute() for path in paths for file in _files(path)))
    if not files:
        given = ", ".join(str(path) for path in paths) or "nothing was given"
        raise CatalogError(f"no input file ({given}); give *.json or *.jsonl files or their folder")
    return tuple(Source(_label(file, files), _read(file)) for file in files)


def read_values(source: Source) -> tuple[Placed | Problem, ...]:
    """The JSON document of a source, or each line of a JSONL one, in order.

    What cannot be parsed is a ``Problem``; a part of a value that cannot be kept exactly (NaN, a
    repeated key, an endless number) is a ``Flaw`` inside it. Raises ``CatalogError`` for a source
    larger than ``MAX_BYTES``.
    """
    _check_size(source.label, len(source.data))
    try:
        text = source.data.decode(json.detect_encoding(source.data))
    except UnicodeDecodeError as error:
        reason = f"is not text: byte {error.start} is not {error.encoding}; save it as UTF-8"
        return (Problem(source.label, reason, excerpt(source.data[:500].decode("latin-1"))),)
    if not text.strip():
        return (Problem(source.label, "is empty; give JSON or JSONL with at least one tool"),)
    parsed = _parse(text)
    if not isinstance(parsed, Flaw):
        return (Placed(parsed),)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not _look_like_records(lines):
        return (Problem(source.label, parsed.reason, excerpt(text)),)
    return tuple(_read_line(source.label, number, line) for number, line in lines)


def find_flaw(value: object, path: str = "", depth: int = 0) -> str:
    """Why a parsed value cannot be kept exactly, with the path inside it; empty if it can."""
    if isinstance(value, str):
        return "" if _is_unicode(value) else f"{path or 'it'} holds a lone surrogate; remove it"
    if isinstance(value, Flaw):
        return f"{path} {value.reason}".lstrip()
    if not isinstance(value, (dict, list)):
        return ""
    if depth >= MAX_DEPTH:
        return f"is nested deeper than {MAX_DEPTH} levels; flatten it"
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        where = f"{path}/{key}" if path else str(key)
        flaw = find_flaw(key, f"a key of {path or 'it'}") or find_flaw(item, where, depth + 1)
        if flaw:
            return flaw
    return ""


def excerpt(value: object) -> str:
    """At most 500 characters of a text, or of any other value as JSON, safe to store and show."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
    except RecursionError:
        text = "(nested too deeply to show)"
    return writable(text[:500])[:500]


def writable(text: str) -> str:
    """The text with lone surrogates, which no store or browser takes, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _files(path: Path) -> list[Path]:
    try:
        if path.is_dir():
            return sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
    except OSError as error:
        raise CatalogError(f"cannot read the folder {path}: {error.strerror}") from error
    return [path]


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise CatalogError(f"{path} is neither a file nor a folder; give a *.json or *.jsonl")
        _check_size(str(path), path.stat().st_size)
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or error
        raise CatalogError(f"cannot read {str(path)!r}: {why}; check the path") from error


def _check_size(label: str, size: int) -> None:
    if size > MAX_BYTES:
        raise CatalogError(
            f"{label} has {size / 2**20:.1f} MiB; at most {MAX_BYTES // 2**20} MiB are read, "
            "split it into several files"
        )


def _label(file: Path, files: Sequence[Path]) -> str:
    """The shortest tail of the path whose stem no other file shares; else the whole path."""
    parts = file.parts
    for length in range(1, len(parts)):
        tail = parts[-length:]
        stem = (*tail[:-1], file.stem)
        alike = [other for other in files if (*other.parts[-length:-1], other.stem) == stem]
        if len(alike) == 1:
            return "/".join(tail)
    return "/".join(parts[-2:])


def _parse(text: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=lambda word: Flaw(f"is {word}, which JSON does not have; write null"),
            parse_int=_integer,
            parse_float=_number,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return Flaw(f"is not JSON: {error.msg} at {where}; correct it or export it again")
    except RecursionError:
        return Flaw(f"is nested deeper than {MAX_DEPTH} levels; flatten it")


def _object(pairs: list[tuple[str, Any]]) -> Any:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return Flaw(f"has the key {twice[:80]!r} twice; keep one")


def _integer(digits: str) -> Any:
    if len(digits) > MAX_DIGITS:
        return Flaw(f"is a number of {len(digits)} digits; write it as text")
    return int(digits)


def _number(digits: str) -> Any:
    value = float(digits)
    if math.isinf(value):
        return Flaw(f"is {digits[:40]}, too large for a number; write it as text")
    return value


def _look_like_records(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether most lines are objects of their own, as in JSONL."""
    whole = [line for _, line in lines if line.lstrip()[0] == "{" and line.rstrip()[-1] == "}"]
    return 2 * len(whole) > len(lines)


def _read_line(label: str, number: int, line: str) -> Placed | Problem:
    parsed = _parse(line.strip())
    if isinstance(parsed, Flaw):
        return Problem(f"{label}: line {number}", parsed.reason, excerpt(line))
    return Placed(parsed, f"line {number}")


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True

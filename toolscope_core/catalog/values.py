"""The bytes of a source as JSON values: JSON, JSON Lines, YAML, TOML or a table, read strictly."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from toolscope_core.catalog.csv_input import looks_like_table, read_table
from toolscope_core.catalog.flaws import TOO_DEEP, Flaw, excerpt, strict_json
from toolscope_core.catalog.sources import Source, check_size
from toolscope_core.catalog.toml_values import read_toml
from toolscope_core.catalog.yaml_values import read_yaml
from toolscope_core.model.catalog import Problem

Syntax = Literal["json", "yaml", "csv"]
LIKE_YAML = re.compile(r"\s*(%YAML|---\s|- *[\w\"'{]|[\w\"'-]+:(\s|$))")


@dataclass(frozen=True, slots=True)
class Placed:
    """A JSON value and where it stands in its source: ``line 12``, or empty for the whole."""

    value: Any
    place: str = ""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a source, in order, and its syntax."""

    syntax: Syntax
    items: tuple[Placed | Problem, ...]


def read_values(source: Source, forced: str | None = None) -> Values:
    """The JSON or YAML documents of a source, each line of a JSONL one, each row of a table.

    What cannot be parsed is a ``Problem``; a part of a value that cannot be kept exactly (NaN, a
    repeated key, an endless number) is a ``Flaw`` inside it. A text is a table if its label ends
    in csv or tsv, ``forced`` is ``csv``, or its first line names columns. Raises ``CatalogError``
    for a source larger than ``MAX_BYTES``.
    """
    check_size(source.label, len(source.data))
    try:
        text = source.data.decode(json.detect_encoding(source.data))
    except UnicodeDecodeError as error:
        reason = f"is not text: byte {error.start} is not {error.encoding}; save it as UTF-8"
        problem = Problem(source.label, reason, excerpt(source.data[:500].decode("latin-1")))
        return Values("json", (problem,))
    if not text.strip():
        reason = "is empty; give JSON, YAML or CSV with at least one tool"
        return Values("json", (Problem(source.label, reason),))
    suffix = PurePosixPath(source.label).suffix.lower()
    if forced == "csv" or suffix in (".csv", ".tsv"):
        return _table(source.label, text, "\t" if suffix == ".tsv" else "")
    return _document(source.label, text, suffix)


def _document(label: str, text: str, suffix: str) -> Values:
    if suffix == ".toml":
        value = read_toml(text)
        whole = Problem(label, value.reason, excerpt(text)) if isinstance(value, Flaw) else None
        return Values("json", (whole or Placed(value),))
    parsed = _parse(text)
    if not isinstance(parsed, Flaw):
        return Values("json", (Placed(parsed),))
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    is_yaml = suffix in (".yaml", ".yml")
    if _look_like_records(lines) and not is_yaml:
        return Values("json", tuple(_read_line(label, number, line) for number, line in lines))
    if is_yaml or LIKE_YAML.match(text):
        return _yaml(label, text)
    if looks_like_table(text):
        return _table(label, text, "")
    return Values("json", (Problem(label, parsed.reason, excerpt(text)),))


def _yaml(label: str, text: str) -> Values:
    documents = read_yaml(text)
    if isinstance(documents, Flaw):
        return Values("yaml", (Problem(label, documents.reason, excerpt(text)),))
    if len(documents) == 1:
        return Values("yaml", (Placed(documents[0]),))
    placed = (Placed(value, f"document {row}") for row, value in enumerate(documents, 1))
    return Values("yaml", tuple(placed))


def _table(label: str, text: str, delimiter: str) -> Values:
    rows = read_table(text, delimiter)
    if isinstance(rows, Flaw):
        return Values("csv", (Problem(label, rows.reason, excerpt(text)),))
    return Values("csv", tuple(Placed(row, f"line {line}") for line, row in rows))


def _parse(text: str) -> Any:
    try:
        return strict_json(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return Flaw(f"is not JSON: {error.msg} at {where}; correct it or export it again")
    except RecursionError:
        return Flaw(TOO_DEEP)


def _look_like_records(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether most lines are objects of their own, as in JSONL."""
    whole = [line for _, line in lines if line.lstrip()[0] == "{" and line.rstrip()[-1] == "}"]
    return 2 * len(whole) > len(lines)


def _read_line(label: str, number: int, line: str) -> Placed | Problem:
    parsed = _parse(line.strip())
    if isinstance(parsed, Flaw):
        return Problem(f"{label}: line {number}", parsed.reason, excerpt(line))
    return Placed(parsed, f"line {number}")

"""Strictly reads the bytes of a source as JSON values: from JSON, JSON Lines, YAML, TOML or a
table.
"""

import csv
import io
import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

import yaml

from toolscope_core.catalog import flaws
from toolscope_core.catalog.flaws import Flaw
from toolscope_core.catalog.sources import Source, check_size
from toolscope_core.model.catalog import Problem

_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
NUMBER = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
TAGS = "tag:yaml.org,2002:"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _OpenContainer:
    """A list or mapping while it is read.

    ``size`` counts its values and ``characters`` the text in them, with aliases written out.
    """

    mapping: bool
    anchor: str | None
    items: list[Any] = field(default_factory=list)
    size: int = 1
    characters: int = 0


_Sized = tuple[Any, int, int]
"""A value with the number of values in it and the number of characters."""


class _RefusedError(Exception):
    """Raised for YAML that this reader refuses."""


def read_yaml(text: str) -> tuple[Any, ...] | Flaw:
    """The documents of a YAML text as JSON values, with a ``Flaw`` for each value that JSON
    lacks.
    """
    try:
        return tuple(_documents(text))
    except _RefusedError as refused:
        return Flaw(str(refused))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = getattr(error, "problem", None) or "a character that YAML does not allow"
        return Flaw(f"is not YAML: {what}{where}; correct it or export it again")


def _documents(text: str) -> list[Any]:
    documents: list[Any] = []
    stack: list[_OpenContainer] = []
    anchors: dict[str, _Sized] = {}
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.DocumentStartEvent):
            stack, anchors = [_OpenContainer(mapping=False, anchor=None)], {}
        elif isinstance(event, yaml.DocumentEndEvent):
            documents += stack[0].items
        elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            if len(stack) > flaws.MAX_DEPTH:
                raise _RefusedError(flaws.TOO_DEEP)
            stack.append(_OpenContainer(isinstance(event, yaml.MappingStartEvent), event.anchor))
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            closed = stack.pop()
            value = _mapping(closed.items) if closed.mapping else closed.items
            _put(stack[-1], (value, closed.size, closed.characters), anchors, closed.anchor)
        elif isinstance(event, yaml.ScalarEvent):
            is_key = stack[-1].mapping and len(stack[-1].items) % 2 == 0
            value = event.value if is_key else _scalar(event)
            _put(stack[-1], (value, 1, len(event.value)), anchors, event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                raise _RefusedError(f"uses the alias *{event.anchor} within itself; write it out")
            _put(stack[-1], anchors[event.anchor])
    return documents


def _put(
    around: _OpenContainer,
    sized: _Sized,
    anchors: dict[str, _Sized] | None = None,
    anchor: str | None = None,
) -> None:
    value, size, characters = sized
    around.items.append(value)
    around.size += size
    around.characters += characters
    if around.characters > flaws.MAX_YAML_CHARACTERS:
        raise _RefusedError(
            f"has more than {flaws.MAX_YAML_CHARACTERS:,} characters with "
            "aliases expanded; split it"
        )
    if around.size > flaws.MAX_YAML_VALUES:
        raise _RefusedError(
            f"has more than {flaws.MAX_YAML_VALUES:,} values with aliases expanded; split it"
        )
    if anchors is not None and anchor:
        anchors[anchor] = sized


def _mapping(items: list[Any]) -> dict[str, Any] | Flaw:
    """An object from alternating keys and values; ``<<`` adds keys that the object itself lacks."""
    pairs = list(zip(items[::2], items[1::2], strict=True))
    if any(not isinstance(key, str) for key, _ in pairs):
        return Flaw("has a list or mapping as a key; use text")
    own = flaws.unique_keys([pair for pair in pairs if pair[0] != "<<"])
    if isinstance(own, Flaw):
        return own
    for _, merged in (pair for pair in pairs if pair[0] == "<<"):
        for other in merged if isinstance(merged, list) else [merged]:
            if not isinstance(other, dict):
                return Flaw("uses << with a value that is not a mapping; write the keys out")
            own = {**other, **own}
    return flaws.in_order(own.items())


def _scalar(event: yaml.ScalarEvent) -> Any:
    text = event.value
    if event.tag and event.tag not in ("!", f"{TAGS}str"):
        short = event.tag.replace(TAGS, "!!")
        return Flaw(f"has the YAML tag {short[:40]!r}; write the value without it")
    if not event.implicit[0] or event.tag:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if INTEGER.fullmatch(text):
        return flaws.integer(text)
    if NUMBER.fullmatch(text):
        return flaws.number(text)
    return Flaw(f"is {text}, which is not valid JSON") if NOT_JSON.fullmatch(text) else text


def read_toml(text: str) -> Any:
    """The document in a TOML text; a ``Flaw`` if the text is invalid."""
    try:
        return _plain(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        return Flaw(f"is not TOML: {error}; correct it or export it again")
    except RecursionError:
        return Flaw(flaws.TOO_DEEP)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in sorted(value.items())}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return Flaw(f"is {value}, which is not valid JSON")
    return value if isinstance(value, (str, int, float)) else str(value)


SPELLINGS = {
    "id": "id toolid",
    "server": "server servername mcpserver agent provider owner",
    "name": "name tool toolname function functionname apiname",
    "description": "description desc summary tooldescription functiondescription apidescription",
    "parameters": "parameters params arguments args schema inputschema parametersschema",
    "returns": "returns output outputs outputschema results response",
    "annotations": "annotations hints",
}
_COLUMNS = {word: key for key, words in SPELLINGS.items() for word in words.split()}
AS_JSON = ("parameters", "returns", "annotations")
DELIMITERS = ",;\t"

CsvRow = tuple[int, Mapping[str, Any] | Flaw]


def read_table(text: str, delimiter: str = "") -> tuple[CsvRow, ...] | Flaw:
    """Each row with its last line number and its record; a ``Flaw`` if the text is not a usable
    table.

    The first row names the columns in any usual spelling; unknown columns keep their headings.
    Cells are kept as text, except that JSON in columns of parameters, returns or annotations is
    parsed. Empty cells are left out. Without ``delimiter``, the delimiter that finds the most known
    columns is used.
    """
    separator = delimiter or _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        return Flaw(f"is not a table: {error}, in the row ending on line {reader.line_num}; fix it")
    if not rows:
        return Flaw("is an empty table; start it with a row of headings, one of them `name`")
    keys = _keys(rows[0][1])
    if "name" not in keys:
        headings = ", ".join(repr(key[:40]) for key in keys[:20])
        return Flaw(f"has the columns {headings}, but none for the tool's name; call one `name`")
    if len(set(keys)) < len(keys):
        twice = next(key for row, key in enumerate(keys) if key in keys[:row])
        return Flaw(f"has two columns named {twice[:40]!r}; rename one")
    return tuple((line, _record(keys, row)) for line, row in rows[1:])


def looks_like_table(text: str) -> bool:
    """Whether the first line has a column for the name and another known column."""
    return len(_known_columns(_heading(text, _delimiter(text)))) > 1


def _delimiter(text: str) -> str:
    return max(DELIMITERS, key=lambda delimiter: len(_known_columns(_heading(text, delimiter))))


def _heading(text: str, delimiter: str) -> list[str]:
    lines = text.lstrip().split("\n", 1)[0].rstrip("\r")
    try:
        return next(csv.reader([lines], delimiter=delimiter), [])
    except csv.Error:
        return []


def _known_columns(heading: Sequence[str]) -> set[str]:
    keys = {_COLUMNS[word] for cell in heading if (word := _word(cell)) in _COLUMNS}
    return keys if "name" in keys else set()


def _word(heading: str) -> str:
    return re.sub(r"[\s_-]+", "", heading).lower()


def _keys(heading: Sequence[str]) -> list[str]:
    """The part in each column; a second column for the same part keeps its heading."""
    keys: list[str] = []
    for cell in heading:
        part = _COLUMNS.get(_word(cell), cell)
        keys.append(cell if part in keys else part)
    return keys


def _record(keys: Sequence[str], cells: Sequence[str]) -> Mapping[str, Any] | Flaw:
    if len(cells) > len(keys):
        return Flaw(f"has {len(cells)} cells for {len(keys)} headings; quote cells with commas")
    return {
        key: _json(cell) if key in AS_JSON and cell.lstrip()[:1] in ("{", "[") else cell
        for key, cell in zip(keys, cells, strict=False)
        if cell
    }


def _json(cell: str) -> Any:
    try:
        return flaws.strict_json(cell)
    except (json.JSONDecodeError, RecursionError) as error:
        return Flaw(f"is not JSON: {error}; correct the cell")


_SUFFIXES = (".json", ".jsonl", ".ndjson", ".toml")
LIKE_YAML = re.compile(r"\s*(%YAML|---\s|- *[\w\"'{]|[\w\"'-]+:(\s|$))")


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON value and its place in the source called ``label``.

    ``trail`` are the words of the path to the value (``line 12``, ``tool 3``). The object around
    the value names the ``server``. ``within`` is the key of the list that contains the value.
    """

    value: Any
    label: str
    trail: tuple[str, ...] = ()
    server: str = ""
    within: str = ""

    @property
    def position(self) -> str:
        """The place of the value, in words."""
        words = ", ".join(filter(None, self.trail))
        return f"{self.label}: {words}" if words else self.label

    def inner(self, value: Any, *words: str) -> "Record":
        """A value inside this one, with these words added to the path."""
        return replace(self, value=value, trail=(*self.trail, *words))

    def problem(self, reason: str) -> Problem:
        """A problem that says why the value cannot be read, with its place and its text."""
        raw = "" if isinstance(self.value, Flaw) else flaws.value_excerpt(self.value)
        return Problem(self.position, flaws.value_excerpt(reason), raw)


Values = tuple[Record | Problem, ...]


def read_values(source: Source, format: str | None = None) -> tuple[Values, bool]:
    """The documents, lines or rows in a source, and whether the source is a table.

    They are documents in JSON or YAML, lines of JSONL, or rows of a table. A part that cannot be
    parsed is a ``Problem``. A part that cannot be kept exactly (NaN, a repeated key, an endless
    number) is a ``Flaw`` inside its value. A text is a table if its label ends in csv or tsv, if
    ``format`` is ``csv``, or if its first line names columns. Raises ``CatalogError`` for a source
    larger than ``MAX_BYTES``.
    """
    check_size(source.label, len(source.data))
    try:
        text = source.data.decode(json.detect_encoding(source.data))
    except UnicodeDecodeError as error:
        reason = f"is not text: byte {error.start} is not {error.encoding}; save it as UTF-8"
        raw = flaws.value_excerpt(source.data[:500].decode("latin-1"))
        return (Problem(source.label, reason, raw),), False
    if not text.strip():
        reason = "is empty; use JSON, YAML or CSV with at least one tool"
        return (Problem(source.label, reason),), False
    suffix = PurePosixPath(source.label).suffix.lower()
    whole, is_table = Record(text, source.label), format == "csv" or suffix in (".csv", ".tsv")
    items = None if is_table else _document(whole, suffix)
    if items is None:
        return _table(whole, "\t" if suffix == ".tsv" else ""), True
    return items, False


def _document(record: Record, suffix: str) -> Values | None:
    """The values in a text, read by its syntax; ``None`` if the text looks like a table."""
    text = record.value
    parsed = read_toml(text) if suffix == ".toml" else _parse(text)
    if not isinstance(parsed, Flaw):
        return (record.inner(parsed),)
    if suffix != ".toml":
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        is_yaml = suffix in (".yaml", ".yml")
        if _look_like_records(lines) and not is_yaml:
            return tuple(_line(record.inner(line, f"line {number}")) for number, line in lines)
        if is_yaml:
            return _yaml(record)
        if LIKE_YAML.match(text) and not isinstance((documents := _yaml(record))[0], Problem):
            return documents
        if looks_like_table(text):
            return None
    is_text = suffix not in _SUFFIXES and text.lstrip()[:1] not in ("{", "[")
    return (record if is_text else record.problem(parsed.reason),)


def _yaml(record: Record) -> Values:
    documents = read_yaml(record.value)
    if isinstance(documents, Flaw):
        return (record.problem(documents.reason),)
    if len(documents) == 1:
        return (record.inner(documents[0]),)
    return tuple(record.inner(one, f"document {row}") for row, one in enumerate(documents, 1))


def _table(record: Record, delimiter: str) -> Values:
    rows = read_table(record.value, delimiter)
    if isinstance(rows, Flaw):
        return (record.problem(rows.reason),)
    return tuple(record.inner(row, f"line {line}") for line, row in rows)


def _parse(text: str) -> Any:
    try:
        return flaws.strict_json(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        return Flaw(f"is not JSON: {error.msg} at {where}; correct it or export it again")
    except RecursionError:
        return Flaw(flaws.TOO_DEEP)


def _look_like_records(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether most lines are separate objects, as in JSONL."""
    objects = [line for _, line in lines if line.lstrip()[0] == "{" and line.rstrip()[-1] == "}"]
    return 2 * len(objects) > len(lines)


def _line(line: Record) -> Record | Problem:
    parsed = _parse(line.value.strip())
    return line.problem(parsed.reason) if isinstance(parsed, Flaw) else line.inner(parsed)

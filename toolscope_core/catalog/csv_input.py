"""Tools as rows of a table (CSV, TSV): every cell stays the text that it is."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolscope_core.catalog.flaws import Flaw, strict_json

SPELLINGS = {
    "id": "id toolid",
    "server": "server servername mcpserver agent provider owner",
    "name": "name tool toolname function functionname apiname",
    "description": "description desc summary tooldescription functiondescription apidescription",
    "parameters": "parameters params arguments args schema inputschema parametersschema",
    "returns": "returns output outputs outputschema results response",
    "annotations": "annotations hints",
}
COLUMNS = {word: key for key, words in SPELLINGS.items() for word in words.split()}
AS_JSON = ("parameters", "returns", "annotations")
DELIMITERS = ",;\t"

CsvRow = tuple[int, Mapping[str, Any] | Flaw]


def read_table(text: str, delimiter: str = "") -> tuple[CsvRow, ...] | Flaw:
    """Each row as its last line number and its record; ``Flaw`` where the text is no such table.

    The first row names the columns, in any usual spelling; the others keep their heading. Cells
    stay text, except that JSON in a column of parameters, returns or annotations is parsed; empty
    ones are left out. Without ``delimiter`` it is the one that finds most known columns.
    """
    chosen = delimiter or _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=chosen, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        return Flaw(f"is no table: {error} in the row that ends in line {reader.line_num}; mend it")
    if not rows:
        return Flaw("is a table without a cell; give a row of headings, one of them `name`")
    keys = _keys(rows[0][1])
    if "name" not in keys:
        headings = ", ".join(repr(key[:40]) for key in keys[:20])
        return Flaw(f"has no column for the name among {headings}; head one of them `name`")
    if len(set(keys)) < len(keys):
        twice = next(key for row, key in enumerate(keys) if key in keys[:row])
        return Flaw(f"has two columns {twice[:40]!r}; rename one")
    return tuple((line, _record(keys, row)) for line, row in rows[1:])


def looks_like_table(text: str) -> bool:
    """Whether the first line has a column for the name beside another known one."""
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
    keys = {COLUMNS[word] for cell in heading if (word := _word(cell)) in COLUMNS}
    return keys if "name" in keys else set()


def _word(heading: str) -> str:
    return re.sub(r"[\s_-]+", "", heading).lower()


def _keys(heading: Sequence[str]) -> list[str]:
    """The part that each column holds; a second column for one keeps its heading."""
    keys: list[str] = []
    for cell in heading:
        part = COLUMNS.get(_word(cell), cell)
        keys.append(cell if part in keys else part)
    return keys


def _record(keys: Sequence[str], cells: Sequence[str]) -> Mapping[str, Any] | Flaw:
    if len(cells) > len(keys):
        return Flaw(f"has {len(cells)} cells under {len(keys)} headings; quote what holds commas")
    return {
        key: _json(cell) if key in AS_JSON and cell.lstrip()[:1] in ("{", "[") else cell
        for key, cell in zip(keys, cells, strict=False)
        if cell
    }


def _json(cell: str) -> Any:
    try:
        return strict_json(cell)
    except (json.JSONDecodeError, RecursionError) as error:
        return Flaw(f"is not JSON: {error}; correct the cell")

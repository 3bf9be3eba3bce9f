"""A tool's result as columns: the values at each path, such as ``items[].name``, in order."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.model.tool import JsonObject, digest

ResultColumns = Mapping[str, Sequence[Any]]
_MOST_VALUES, _DEEPEST, _LONGEST_TEXT, _LARGEST = 20_000, 40, 1_000_000, 1e300
_DONE = (
    r"created|deleted|removed|sent|updated|inserted|saved|written|moved|renamed|added|posted"
    r"|published|cancell?ed|uploaded|scheduled|paid|booked"
)
_SAYS_DONE = re.compile(
    rf"^\W*(?:successfully )?(?:{_DONE})\b"
    rf"|\b(?:successfully|has been|have been|was|were) (?:{_DONE})\b|\b(?:{_DONE}) successfully\b",
    re.IGNORECASE,
)
_DONE_FIELD = re.compile(rf"(?:is_|rows_)?(?:{_DONE}|affected)(?:_rows)?", re.IGNORECASE)
_DONE_VALUE = re.compile(_DONE, re.IGNORECASE)
_BEGINS_AS_ERROR = re.compile(
    r"\W*(?:(?:error|invalid|failed|cannot|could not|unable to)\b|[\w/.-]+:? error ?[:-])",
    re.IGNORECASE,
)
"""Matches the start of an error text that many servers return without marking it as an error."""
_REPORTS = ("message", "result", "status")
_LONGEST_REPORT = 300


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """A server's answer to a call: its ``columns``, or the reason why there are none.

    ``refusal`` is the server's error message. ``effect`` is the part of the answer that says that
    something was changed.
    """

    columns: ResultColumns = field(default_factory=dict)
    refusal: str = ""
    effect: str = ""


def answer_of(result: JsonObject) -> CallAnswer:
    """The answer in an MCP result; fields without a value are left out.

    A text that repeats the only structured value is read once.
    """
    parts = objects_of_list(result.get("content"))
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    text = "\n".join(texts).strip()
    if result.get("isError") is True or _BEGINS_AS_ERROR.match(text):
        return CallAnswer(refusal=text or "an error without words")
    value = result.get("structuredContent")
    if value is None or (isinstance(value, dict) and [*value.values()] == texts):
        values = [_parsed(text) for text in texts]
        value = values[0] if len(values) == 1 else values
    while isinstance(value, dict) and value.keys() == {
        "result"
    }:  # SDKs wrap plain values like this
        value = _parsed(value["result"])
    columns = columns_of(value)
    others = [part for part in parts if not isinstance(part.get("text"), str)]
    columns |= {f"({part.get('type')} {n})": [digest(part)[:12]] for n, part in enumerate(others)}
    return CallAnswer(columns, effect=effect_in(value))


def columns_of(value: Any) -> dict[str, list[Any]]:
    """The columns of a JSON value; a plain value is stored under the empty path.

    An empty list becomes a column without values. Only the first values of a huge result are read,
    and numbers that no float holds are read as texts.
    """
    columns: dict[str, list[Any]] = {}
    remaining = _MOST_VALUES

    def read(value: Any, path: str, depth: int) -> None:
        nonlocal remaining
        if depth > _DEEPEST or remaining <= 0:
            return
        if isinstance(value, dict) and value:
            for name, part in value.items():
                read(part, f"{path}.{name}" if path else str(name), depth + 1)
        elif isinstance(value, list):
            if not value:
                columns.setdefault(f"{path}[]", [])
            for part in value:
                read(part, f"{path}[]", depth + 1)
        else:
            remaining -= 1
            is_huge = isinstance(value, int | float) and not abs(value) < _LARGEST
            columns.setdefault(path, []).append(str(value) if is_huge else value)

    read(value, "", 0)
    return {path: own for path, own in columns.items() if not own or own.count(None) < len(own)}


def effect_in(value: Any) -> str:
    """The words of a result that say that something was changed; empty if none do.

    They are a short text, or a field at the top level such as ``"deleted": true`` or ``"status":
    "sent"``. Anything deeper is data.
    """
    if isinstance(value, str):
        is_report = len(value) <= _LONGEST_REPORT and _SAYS_DONE.search(value)
        return value if is_report else ""
    for name, part in value.items() if isinstance(value, dict) else ():
        is_flag = part is True or (type(part) is int and part > 0)
        is_state = isinstance(part, str) and _DONE_VALUE.fullmatch(part)
        if (is_flag and _DONE_FIELD.fullmatch(name)) or is_state:
            return f"{name}: {part}"
        if name in _REPORTS and isinstance(part, str) and (words := effect_in(part)):
            return words
    return ""


def resized_lists(first: ResultColumns, second: ResultColumns) -> list[str]:
    """The lists whose length differs between two answers of the same server."""
    sizes = [
        {path.rpartition("[]")[0] or path: len(own) for path, own in look.items() if "[]" in path}
        for look in (first, second)
    ]
    return sorted(name for name, size in sizes[0].items() if sizes[1].get(name, size) != size)


def _parsed(text: Any) -> Any:
    """The JSON value in a text, or the text itself if it is not JSON."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text[:_LONGEST_TEXT], parse_constant=str)
    except (ValueError, RecursionError):
        return text[:_LONGEST_TEXT]

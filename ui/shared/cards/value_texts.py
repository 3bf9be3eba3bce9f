"""JSON values in the cells of a table: texts as they are, other values as JSON."""

from __future__ import annotations

import json
from typing import Any

from toolscope_core.model.tool import canonical_json


def text_of(value: object) -> str:
    """The value as a cell shows it."""
    return value if isinstance(value, str) else canonical_json(value)


def value_of(text: str, kind: str) -> Any:
    """The value of a cell whose column is of the JSON type ``kind``; what is no JSON is a text."""
    if kind == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text

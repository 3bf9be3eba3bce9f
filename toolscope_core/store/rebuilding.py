"""Dataclasses rebuilt from the rows and the JSON objects that they were stored as."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from types import MappingProxyType, NoneType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
_JSON_TYPES = {float: (float, int), Mapping: (dict,), Literal: (str,), None: (NoneType,)}


def rebuilt(kind: type[T], body: Any) -> T:
    """The value of the dataclass ``kind`` with these fields.

    Raises ``ValueError`` where the body is no object, or a field is missing, unknown or of another
    type.
    """
    if not isinstance(body, dict):
        raise ValueError(f"{str(body)[:40]!r} is no {kind.__name__}")
    types = _types(cast(Any, kind))
    for name, value in body.items():
        if name not in types or not isinstance(value, types[name]):
            raise ValueError(f"a {kind.__name__} has no {name} like {str(value)[:40]!r}")
    try:
        return kind(**body)
    except TypeError as error:
        raise ValueError(f"a {kind.__name__} lacks a field: {error}") from error


def of_row(kind: type[T], row: object, **others: Any) -> T:
    """The value of the dataclass ``kind`` with the cells of these names, lists as tuples, and the
    fields that come from elsewhere.
    """
    names = [item.name for item in fields(cast(Any, kind)) if item.name not in others]
    cells = {name: getattr(row, name) for name in names}
    lists = {name: tuple(cell) for name, cell in cells.items() if isinstance(cell, list)}
    return kind(**{**cells, **lists, **others})


@cache
def _types(kind: Any) -> Mapping[str, tuple[type, ...]]:
    """The Python types of each field that ``__init__`` takes, as JSON gives them."""
    hints = get_type_hints(kind)
    return MappingProxyType(
        {item.name: _flat(hints[item.name]) for item in fields(kind) if item.init}
    )


def _flat(hint: Any) -> tuple[type, ...]:
    origin = get_origin(hint) or hint
    if origin in _JSON_TYPES:
        return _JSON_TYPES[origin]
    parts = [_flat(part) for part in get_args(hint)]
    return tuple(one for part in parts for one in part) if parts else (origin,)

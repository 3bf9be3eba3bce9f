"""Converts results of experiments to JSON and back, and to a spreadsheet."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject

_Result = TypeVar("_Result")


def result_json(result: Any) -> Any:
    """A result as it is stored, shown and exported: dataclasses become objects with their field
    names.

    A field that is ``None`` is left out if ``None`` is its default.
    """
    if is_dataclass(result):
        values = {field.name: getattr(result, field.name) for field in fields(result)}
        absent = {one.name for one in fields(result) if one.default is values[one.name] is None}
        return {name: result_json(one) for name, one in values.items() if name not in absent}
    if isinstance(result, Mapping):
        return {key: result_json(one) for key, one in result.items()}
    if isinstance(result, (tuple, list)):
        return [result_json(one) for one in result]
    return result


def read_result(kind: type[_Result], content: JsonObject) -> _Result:
    """A result from the JSON that ``result_json`` wrote; fields with a default may be missing.

    Raises ``ConfigError`` with the first invalid part.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{place}: {first['msg']}; measure again") from error


def table_of(kind: str, result: JsonObject) -> list[dict[str, Any]]:
    """The rows for a spreadsheet, from the JSON of an experiment.

    A row is a query, a noise level, a value, or a query with a toolset.
    """
    if kind in ("comparison", "servers"):
        return [
            {
                **{key: value for key, value in row.items() if not isinstance(value, list)},
                "gold": " ".join("|".join(need) for need in row["gold"]),
                **{key: _places_text(row[key]) for key in ("places_before", "places_after")},
            }
            for row in result["queries"]
        ]
    if kind == "stress":
        return [
            {"toolset": name, **_flat(point, ("recalls", "f1s"))}
            for name, points in result["toolsets"].items()
            for point in points
        ]
    if kind == "agent":
        return [
            {"query": one["query"], **_flat(side, ("called",)), "called": ", ".join(side["called"])}
            for one in result["requests"]
            for side in one["sides"]
        ]
    rows, *first = {
        "ablation": ("rows", "reranker", "merger", "correction"),
        "plan": ("plans",),
    }.get(kind, ("points", "value", "k"))
    return [
        {key: row[key] for key in first} | _flat(row, ("recalls", "configuration"))
        for row in result[rows]
    ]


def _flat(row: JsonObject, without: Sequence[str]) -> dict[str, Any]:
    """A row in which the parts of inner objects are separate columns."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping) and key not in without:
            flat |= {f"{key}_{inner}": one for inner, one in _flat(value, ()).items()}
        elif key not in without:
            flat[key] = value
    return flat


def _places_text(places: Sequence[int | None]) -> str:
    return " ".join("-" if place is None else str(place) for place in places)

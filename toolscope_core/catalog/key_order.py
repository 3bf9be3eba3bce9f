"""One order for the keys of an object, so that nothing depends on the order they came in.

JSON gives keys no order, and equal catalogs make equal bytes. What people read first stands
first; parameters are in the order of ``required``, a list, then by name.
"""

from collections.abc import Iterable, Mapping
from typing import Any

_FIRST = (
    "jsonrpc openapi swagger version info type id server agent name title description summary "
    "function strict inputSchema input_schema parameters properties required items enum returns "
    "outputSchema response annotations tools"
)
_PLACES = {key: place for place, key in enumerate(_FIRST.split())}


def in_order(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The object of the pairs, its keys in their one order."""
    value = dict(sorted(pairs, key=lambda pair: (_PLACES.get(pair[0], len(_PLACES)), pair[0])))
    for key in ("properties", "parameters"):
        if _names_parameters(value.get(key)):
            value[key] = _required_first(value[key], value.get("required"))
    return value


def _names_parameters(value: object) -> bool:
    """Whether the keys may be names of parameters, and are not keywords of a schema."""
    return isinstance(value, dict) and all(
        isinstance(item, (dict, bool)) for item in value.values()
    )


def _required_first(properties: Mapping[str, Any], required: object) -> dict[str, Any]:
    listed = required if isinstance(required, list) else []
    names = dict.fromkeys(name for name in listed if isinstance(name, str) and name in properties)
    return {name: properties[name] for name in (*names, *sorted(properties.keys() - names.keys()))}

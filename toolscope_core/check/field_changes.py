"""The changes of one tool, field by field, and whether a caller of the old version breaks.

A caller sends what the old version declares and nothing else, and reads what it says of the
result. A change breaks such a caller unless ``judging.arguments.subschema`` shows that it does not,
once both versions are written in one form (``normal_schemas``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolscope_core.catalog.formats.format_table import unread
from toolscope_core.catalog.formats.record_format import value_at
from toolscope_core.catalog.schema.contradictions import is_of_type
from toolscope_core.catalog.schema.walking import map_subschemas
from toolscope_core.judging.arguments import subschema
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

_LISTS = ("anyOf", "oneOf")
_NUMBERS = frozenset({"integer", "number"})


def normal_schema(schema: Any) -> Any:
    """The schema without notes and keywords of others, fixed values as ``enum``, and alternatives
    of different types as one list of types; ``true`` is the schema that says nothing.
    """
    if schema is True:
        return {}
    if not isinstance(schema, dict):
        return schema
    plain = {key: sub for key, sub in subschema.core(schema).items() if not key.startswith("x-")}
    if plain.get("required") == []:
        del plain["required"]
    plain = map_subschemas(plain, lambda sub, _: normal_schema(sub))
    if "const" in plain:
        plain["enum"] = [plain.pop("const")]
    for key in _LISTS:
        if isinstance(plain.get(key), list) and len(plain[key]) == 1:
            plain = _absorb(plain, key, plain[key])
    for key in _LISTS:
        if isinstance(plain.get(key), list):
            plain = _absorb(plain, key, [_union(plain[key])]) if _union(plain[key]) else plain
    return _sorted(plain)


def _absorb(schema: dict[str, Any], key: str, options: list[Any]) -> dict[str, Any]:
    """The schema with its only alternative beside it, where the two say nothing of one thing."""
    others = {name: sub for name, sub in schema.items() if name != key}
    (option,) = options
    if not isinstance(option, dict) or others.keys() & option.keys():
        return schema
    return {**others, **option}


def _union(options: list[Any]) -> JsonObject | None:
    """One schema for alternatives that are all fixed values, or all of different types."""
    if not all(isinstance(option, dict) and option for option in options):
        return None
    fixed = [{"enum": [None]} if option == {"type": "null"} else option for option in options]
    if all(option.keys() == {"enum"} for option in fixed):
        values = [value for option in fixed for value in option["enum"]]
        one_each = len({canonical_json(value) for value in values}) == len(values)
        return {"enum": values} if one_each else None
    types = [subschema.type_set(option) for option in options]
    widened = [one | (_NUMBERS if one & _NUMBERS else frozenset()) for one in types]
    if not all(types) or sum(map(len, widened)) != len(frozenset().union(*widened)):
        return None
    merged: dict[str, Any] = {"type": [kind for one in types for kind in sorted(one)]}
    for option, own in zip(options, widened, strict=True):
        others = {key: sub for key, sub in option.items() if key != "type"}
        if others.keys() & merged.keys() or not all(
            own >= subschema.of_keyword(key) for key in others
        ):
            return None
        merged |= others
    return merged


def _sorted(schema: dict[str, Any]) -> JsonObject:
    """The schema with types and fixed values in one order, and no type that these already have."""
    kind, values = schema.get("type"), schema.get("enum")
    if isinstance(kind, list):
        names = sorted(map(str, kind))
        schema = {**schema, "type": names[0] if len(names) == 1 else names}
    if isinstance(values, list):
        ordered = sorted(values, key=canonical_json)
        schema = {**schema, "enum": ordered}
        kinds = sorted(subschema.type_set(schema))
        if "type" in schema and all(is_of_type(value, {"type": kinds}) for value in ordered):
            schema = {key: sub for key, sub in schema.items() if key != "type"}
    return schema


_Place = Literal["schema", "map", "names", "value"]

_ABSENT: Any = object()
_CLOSED = "calls with arguments that are not declared fail now"
_INSIDE: dict[str, _Place] = {
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions"), "map"),
    **dict.fromkeys(("items", "additionalProperties", "not"), "schema"),
    "required": "names",
}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a tool that differs.

    ``field`` is its path, as in findings (``schema/properties/limit/maximum``); ``old`` and
    ``new`` are JSON values, ``None`` on the side where ``kind`` says that there is none.
    ``breaking`` says why a caller breaks; empty where none does. ``warning`` says what is to be
    looked at where only calls break that send what the old version does not declare.
    """

    field: str
    kind: Literal["added", "removed", "changed"]
    old: Any
    new: Any
    breaking: str = ""
    warning: str = ""


def field_changes(old: Tool, new: Tool) -> tuple[FieldChange, ...]:
    """The changes between two versions of a tool, in the order of a definition.

    Local references in schemas are followed. A new id is a change only where server and name
    stayed, since it follows them. Fields that only the raw record holds come last and break nobody.
    """
    return tuple(_changes(old, new))


@dataclass(frozen=True, slots=True)
class _Leaf:
    """The smallest part that differs; ``place`` says what it is a part of."""

    path: tuple[str, ...]
    old: Any
    new: Any
    place: _Place

    @property
    def is_property(self) -> bool:
        return self.place == "map" and self.path[-2] == "properties"

    @property
    def constrains(self) -> bool:
        """Whether it can rule a value out; a new property by itself cannot."""
        if self.is_property and self.old is _ABSENT:
            return False
        return self.place in ("map", "names") or bool(subschema.core({self.path[-1]: True}))

    def change(self, breaking: str) -> FieldChange:
        kind: Literal["added", "removed", "changed"] = "changed"
        if self.old is _ABSENT or self.new is _ABSENT:
            kind = "added" if self.old is _ABSENT else "removed"
        old, new = (None if side is _ABSENT else side for side in (self.old, self.new))
        closes = self.path[-1] == "additionalProperties" and self.new is False and not breaking
        warning = _CLOSED if closes and self.path[0] == "schema" else ""
        return FieldChange("/".join(self.path), kind, old, new, breaking, warning)


def _changes(old: Tool, new: Tool) -> Iterator[FieldChange]:
    if (old.id, old.fingerprint) != (new.id, new.fingerprint):
        yield from _known_changes(old, new)
    if old.raw is not new.raw and canonical_json(old.raw) != canonical_json(new.raw):
        for leaf in _leaves(unread(old.raw), unread(new.raw), (), "value"):
            yield leaf.change(_task_hazard(leaf))


def _known_changes(old: Tool, new: Tool) -> Iterator[FieldChange]:
    if (old.server, old.name) == (new.server, new.name) and old.id != new.id:
        yield FieldChange("id", "changed", old.id, new.id)
    if old.server != new.server:
        yield FieldChange("server", "changed", old.server, new.server, "calls to the old one fail")
    if old.name != new.name:
        yield FieldChange("name", "changed", old.name, new.name, "calls by the old name fail")
    if old.description != new.description:
        yield FieldChange("description", "changed", old.description, new.description)
    yield from _arguments(_object(old.schema), _object(new.schema))
    yield from _result(
        subschema.inline_references(old.returns or {}),
        subschema.inline_references(new.returns or {}),
    )
    for leaf in _leaves(old.annotations, new.annotations, ("annotations",), "value"):
        yield leaf.change(_hazard(leaf))


def _object(schema: JsonObject | None) -> JsonObject:
    """A tool that does not say what it takes is compared as one that takes nothing."""
    return {"type": "object", "properties": {}, **subschema.inline_references(schema or {})}


def _arguments(old: JsonObject, new: JsonObject) -> Iterator[FieldChange]:
    """Breaking: what the old version let a caller send, and the new one is not seen to take."""
    leaves = list(_leaves(old, new, ("schema",), "schema"))
    calls = _closed(normal_schema(old))
    safe = subschema.admits(new, calls) or subschema.admits(normal_schema(new), calls)
    suspects = [] if safe else [leaf for leaf in leaves if leaf.constrains]
    suspects = [s for s in suspects if not _is_same_around(s, old, new)] or suspects
    culprits = [
        s
        for s in suspects
        if not subschema.admits(normal_schema(_with(old, s.path[1:], s.new)), calls)
    ] or suspects
    for leaf in leaves:
        reason = ""
        if leaf.is_property and leaf.new is _ABSENT:
            reason = "calls that send it fail or lose it"
        elif leaf in culprits:
            needed = leaf.place == "names"
            reason = "callers must send it now" if needed else "some calls are no longer valid"
        yield leaf.change(reason)


def _result(old: JsonObject, new: JsonObject) -> Iterator[FieldChange]:
    """Breaking: what the new version may return and a reader of the old one does not expect."""
    leaves = list(_leaves(old, new, ("returns",), "schema"))
    safe = subschema.admits(old, new) or subschema.admits(normal_schema(old), normal_schema(new))
    suspects = [] if safe else [leaf for leaf in leaves if leaf.constrains]
    suspects = [s for s in suspects if not _is_same_around(s, old, new)] or suspects
    culprits = [
        s for s in suspects if not subschema.admits(old, _with(old, s.path[1:], s.new))
    ] or suspects
    for leaf in leaves:
        lost = leaf.is_property and leaf.new is _ABSENT
        yield leaf.change("the result is not what it was" if lost or leaf in culprits else "")


def _task_hazard(leaf: _Leaf) -> str:
    if leaf.path[0] != "execution":
        return ""
    new, old = (
        side.get("taskSupport") if isinstance(side, dict) else side for side in (leaf.new, leaf.old)
    )
    if new == "required":
        return "calls that are no tasks fail"
    return "calls as tasks fail" if old == "required" else ""


def _hazard(leaf: _Leaf) -> str:
    if leaf.path[1:] == ("destructiveHint",) and leaf.new is True:
        return "it may destroy now"
    if leaf.path[1:] == ("readOnlyHint",) and leaf.old is True:
        return "it is no longer read-only"
    return ""


def _is_same_around(leaf: _Leaf, old: JsonObject, new: JsonObject) -> bool:
    """Whether the schema that a keyword stands in says the same in both versions."""
    if leaf.place != "schema":
        return False
    sides = [value_at(side, leaf.path[1:-1]) for side in (old, new)]
    before, after = map(normal_schema, sides)
    return canonical_json(before) == canonical_json(after)


def _leaves(old: Any, new: Any, path: tuple[str, ...], place: _Place) -> Iterator[_Leaf]:
    """The differences inside two mappings, by key; a list is one value, but ``required`` a set."""
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key, _ABSENT), new.get(key, _ABSENT)
        inner: _Place = "value"
        if place in ("schema", "map"):
            inner = "schema" if place == "map" else _INSIDE.get(key, "value")
        if inner == "map":
            a, b = ({} if side is _ABSENT else side for side in (a, b))
        elif inner == "names":
            a, b = ({} if side is _ABSENT else _named(side) for side in (a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            parts = _leaves(a, b, (*path, key), inner)
            yield from parts
        elif a is _ABSENT or b is _ABSENT or canonical_json(a) != canonical_json(b):
            yield _Leaf((*path, key), a, b, place)


def _named(required: Any) -> Any:
    return {str(name): name for name in required} if isinstance(required, list) else required


def _with(schema: JsonObject, path: Sequence[str], value: Any) -> dict[str, Any]:
    """The schema with the part at ``path`` replaced, or left out where ``value`` is absent."""
    key, rest = path[0], path[1:]
    part = schema.get(key)
    if key == "required" and len(rest) == 1 and not isinstance(part, dict):
        others = [name for name in part or () if name != rest[0]]
        value = others if value is _ABSENT else [*others, rest[0]]
    elif rest:
        value = _with(part if isinstance(part, dict) else {}, rest, value)
    siblings = {name: item for name, item in schema.items() if name != key}
    return siblings if value is _ABSENT else {**siblings, key: value}


def _closed(schema: Any) -> Any:
    """The schema of calls that send what is declared and nothing else."""
    if not isinstance(schema, dict):
        return schema
    shut = {**schema, "items": _closed(schema["items"])} if "items" in schema else dict(schema)
    if isinstance(schema.get("properties"), dict):
        shut["properties"] = {name: _closed(sub) for name, sub in schema["properties"].items()}
        shut.setdefault("additionalProperties", False)
    return shut

"""The changes of one tool, field by field, and whether a caller of the old version breaks.

A caller sends what the old version declares and nothing else, and reads what it says of the
result. A change breaks such a caller unless ``accepted_values`` shows that it does not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolscope_core.catalog.formats.format_table import unread
from toolscope_core.check.accepted_values import takes_all
from toolscope_core.check.schema_options import KEYWORDS
from toolscope_core.judging.arguments import subschema
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

_Place = Literal["schema", "map", "names", "value"]

_ABSENT: Any = object()
_CLOSED = "calls with undeclared arguments now fail"
_INSIDE: dict[str, _Place] = {
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions"), "map"),
    **dict.fromkeys(("items", "additionalProperties", "not"), "schema"),
    "required": "names",
}
_UNUSED_BY_THEMSELVES = frozenset(("properties", "$defs", "definitions"))


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
        """Whether it can rule a value out; a new property or definition by itself cannot."""
        if self.place == "map":
            return self.old is not _ABSENT or self.path[-2] not in _UNUSED_BY_THEMSELVES
        return self.place == "names" or self.path[-1] in KEYWORDS

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
    culprits = [] if takes_all(new, old, is_closed=True) else [x for x in leaves if x.constrains]
    culprits = [
        leaf
        for leaf in culprits
        if not takes_all(_with(old, leaf.path[1:], leaf.new), old, is_closed=True, others=new)
    ] or culprits
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
    culprits = [] if takes_all(old, new) else [leaf for leaf in leaves if leaf.constrains]
    culprits = [
        leaf for leaf in culprits if not takes_all(old, _with(old, leaf.path[1:], leaf.new))
    ] or culprits
    for leaf in leaves:
        lost = leaf.is_property and leaf.new is _ABSENT
        yield leaf.change("the result has changed" if lost or leaf in culprits else "")


def _task_hazard(leaf: _Leaf) -> str:
    if leaf.path[0] != "execution":
        return ""
    new, old = (
        side.get("taskSupport") if isinstance(side, dict) else side for side in (leaf.new, leaf.old)
    )
    if new == "required":
        return "calls that are not tasks fail"
    return "calls as tasks fail" if old == "required" else ""


def _hazard(leaf: _Leaf) -> str:
    if leaf.path[1:] == ("destructiveHint",) and leaf.new is True:
        return "it may now delete or overwrite things"
    if leaf.path[1:] == ("readOnlyHint",) and leaf.old is True:
        return "it is no longer read-only"
    return ""


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

"""Compares two versions of a tool field by field, and tells whether callers of the old one break.

The assumption is that a caller sends only what the old version declares, and reads the result as
declared. A change counts as breaking unless ``accepted_values`` proves the contrary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolscope_core.catalog.formats.format_table import unread
from toolscope_core.check.accepted_values import takes_all
from toolscope_core.check.change_kinds import CHANGE_KINDS
from toolscope_core.check.schema_options import KEYWORDS, NUMBERS, SIZES
from toolscope_core.judging.arguments import subschema
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

_Place = Literal["schema", "map", "names", "value", "default"]

_ABSENT: Any = object()
_LIMITS = frozenset(
    (*NUMBERS, *(f"{side}{size}" for side in ("min", "max") for size in SIZES), "pattern")
)
_WORDS = frozenset(("title", "description", "examples", "$comment"))
_INSIDE: dict[str, _Place] = {
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions"), "map"),
    **dict.fromkeys(("items", "additionalProperties", "not"), "schema"),
    "required": "names",
    "default": "default",
}
_UNUSED_BY_THEMSELVES = frozenset(("properties", "$defs", "definitions"))


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs between two versions of a tool.

    ``field`` is a path, as in findings (``schema/properties/limit/maximum``). ``old`` and ``new``
    are JSON values, or ``None`` if ``kind`` says that the side has no value. ``rule`` is a key of
    ``CHANGE_KINDS`` and says how the change affects callers.
    """

    field: str
    kind: Literal["added", "removed", "changed"]
    old: Any
    new: Any
    rule: str

    @property
    def breaking(self) -> str:
        """Why callers break, according to the level in the table; empty if they do not."""
        rule = CHANGE_KINDS[self.rule]
        return rule.effect if rule.level == "breaking" else ""


def field_changes(old: Tool, new: Tool) -> tuple[FieldChange, ...]:
    """The changes between two versions of a tool, in the order of a tool's definition.

    Local references in schemas are followed. A new id counts only if server and name are unchanged,
    since it is derived from them. Changes to fields only in the raw record come last and break
    nobody.
    """
    return tuple(_changes(old, new))


@dataclass(frozen=True, slots=True)
class _Leaf:
    """The smallest part of a schema that differs; ``place`` is the kind of part that contains
    it.
    """

    path: tuple[str, ...]
    old: Any
    new: Any
    place: _Place

    @property
    def is_property(self) -> bool:
        return self.place == "map" and self.path[-2] == "properties"

    @property
    def constrains(self) -> bool:
        """Whether the difference can exclude a value; a new property or definition alone cannot."""
        if self.place == "map":
            return self.old is not _ABSENT or self.path[-2] not in _UNUSED_BY_THEMSELVES
        return self.place == "names" or self.path[-1] in KEYWORDS

    @property
    def is_default(self) -> bool:
        return self.place == "default" or (self.place == "schema" and self.path[-1] == "default")

    @property
    def is_words(self) -> bool:
        return self.place == "schema" and self.path[-1] in _WORDS

    def change(self, rule: str) -> FieldChange:
        kind: Literal["added", "removed", "changed"] = "changed"
        if self.old is _ABSENT or self.new is _ABSENT:
            kind = "added" if self.old is _ABSENT else "removed"
        old, new = (None if side is _ABSENT else side for side in (self.old, self.new))
        return FieldChange("/".join(self.path), kind, old, new, rule)


def _changes(old: Tool, new: Tool) -> Iterator[FieldChange]:
    if (old.id, old.fingerprint) != (new.id, new.fingerprint):
        yield from _known_changes(old, new)
    if old.raw is not new.raw and canonical_json(old.raw) != canonical_json(new.raw):
        for leaf in _leaves(unread(old.raw), unread(new.raw), (), "value"):
            yield leaf.change(_task_rule(leaf))


def _known_changes(old: Tool, new: Tool) -> Iterator[FieldChange]:
    if (old.server, old.name) == (new.server, new.name) and old.id != new.id:
        yield FieldChange("id", "changed", old.id, new.id, "id-changed")
    if old.server != new.server:
        yield FieldChange("server", "changed", old.server, new.server, "server-changed")
    if old.name != new.name:
        yield FieldChange("name", "changed", old.name, new.name, "tool-renamed")
    if old.description != new.description:
        texts = (old.description, new.description)
        yield FieldChange("description", "changed", *texts, "description-changed")
    yield from _arguments(_object(old.schema), _object(new.schema))
    yield from _result(
        subschema.inline_references(old.returns or {}),
        subschema.inline_references(new.returns or {}),
    )
    for leaf in _leaves(old.annotations, new.annotations, ("annotations",), "value"):
        yield leaf.change(_hint_rule(leaf, old.annotations))


def _object(schema: JsonObject | None) -> JsonObject:
    """The schema as an object schema.

    A tool without declared arguments is compared like a tool that takes no arguments.
    """
    return {"type": "object", "properties": {}, **subschema.inline_references(schema or {})}


def _arguments(old: JsonObject, new: JsonObject) -> Iterator[FieldChange]:
    """Changes to the arguments.

    A change is breaking if the old version allows a call that the new version may not accept.
    """
    leaves = list(_leaves(old, new, ("schema",), "schema"))
    takes = takes_all(new, old, is_closed=True)
    culprits = [] if takes else [leaf for leaf in leaves if leaf.constrains]
    culprits = [
        leaf
        for leaf in culprits
        if not takes_all(_with(old, leaf.path[1:], leaf.new), old, is_closed=True, others=new)
    ] or culprits
    for leaf in leaves:
        if leaf.is_property and leaf.new is _ABSENT:
            yield leaf.change("argument-removed")
        elif leaf in culprits:
            yield leaf.change("not-compared" if takes is None else _narrowing(leaf))
        else:
            yield leaf.change(_harmless_argument(leaf))


def _narrowing(leaf: _Leaf) -> str:
    if leaf.place == "names":
        return "argument-required"
    keyword = leaf.path[-1] if leaf.place == "schema" else ""
    if keyword in _LIMITS:
        return "argument-limit-tightened"
    return {
        "type": "argument-type-narrowed",
        "enum": "argument-value-removed",
        "const": "argument-value-removed",
    }.get(keyword, "argument-narrowed")


def _harmless_argument(leaf: _Leaf) -> str:
    """The rule for a change that keeps every valid call valid."""
    if leaf.is_default:
        is_new = leaf.place == "schema" and leaf.old is _ABSENT
        is_gone = leaf.place == "schema" and leaf.new is _ABSENT
        return f"default-{'added' if is_new else 'removed' if is_gone else 'changed'}"
    if leaf.is_property and leaf.old is _ABSENT:
        return "argument-added"
    if leaf.path[-1] == "additionalProperties" and leaf.new is False:
        return "argument-closed"
    return "argument-words" if leaf.is_words else "argument-widened"


def _result(old: JsonObject, new: JsonObject) -> Iterator[FieldChange]:
    """Changes to the result.

    A change is breaking if the new version may return what a reader of the old version does not
    expect.
    """
    leaves = list(_leaves(old, new, ("returns",), "schema"))
    takes = takes_all(old, new)
    culprits = [] if takes else [leaf for leaf in leaves if leaf.constrains]
    culprits = [
        leaf for leaf in culprits if not takes_all(old, _with(old, leaf.path[1:], leaf.new))
    ] or culprits
    for leaf in leaves:
        if leaf.is_property and leaf.new is _ABSENT:
            is_promised = leaf.path[-1] in _required_at(old, leaf.path[1:-2])
            yield leaf.change(f"result-{'' if is_promised else 'optional-'}field-removed")
        elif leaf in culprits:
            yield leaf.change("not-compared" if takes is None else _widening(leaf))
        elif leaf.is_property and leaf.old is _ABSENT:
            yield leaf.change("result-field-added")
        else:
            yield leaf.change("result-words" if leaf.is_words else "result-narrowed")


def _required_at(schema: JsonObject, path: Sequence[str]) -> Sequence[Any]:
    """The names that the subschema at the path requires."""
    part: Any = schema
    for key in path:
        part = part.get(key) if isinstance(part, dict) else None
    required = part.get("required") if isinstance(part, dict) else None
    return required if isinstance(required, list) else ()


def _widening(leaf: _Leaf) -> str:
    if leaf.place == "names":
        return "result-field-optional"
    keyword = leaf.path[-1] if leaf.place == "schema" else ""
    if keyword in _LIMITS:
        return "result-limit-loosened"
    return {
        "type": "result-type-widened",
        "enum": "result-value-added",
        "const": "result-value-added",
    }.get(keyword, "result-widened")


def _task_rule(leaf: _Leaf) -> str:
    if leaf.path[0] != "execution":
        return "record-changed"
    new, old = (
        side.get("taskSupport") if isinstance(side, dict) else side for side in (leaf.new, leaf.old)
    )
    if new == "required":
        return "task-required"
    return "task-refused" if old == "required" else "record-changed"


def _hint_rule(leaf: _Leaf, old: JsonObject) -> str:
    """The rule for a changed annotation. If no hint is given, MCP assumes that a tool is
    destructive.
    """
    hint = leaf.path[1:]
    if hint == ("destructiveHint",) and leaf.new is True:
        is_said = leaf.old is False or old.get("readOnlyHint") is True
        return "destructive-set" if is_said else "destructive-declared"
    if hint == ("readOnlyHint",) and leaf.old is True:
        return "read-only-lost"
    is_lost = hint == ("idempotentHint",) and leaf.old is True
    return "idempotent-lost" if is_lost else "annotation-changed"


def _leaves(old: Any, new: Any, path: tuple[str, ...], place: _Place) -> Iterator[_Leaf]:
    """The differences inside two mappings, in the order of their keys.

    A list is compared as one value, but ``required`` is compared as a set.
    """
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key, _ABSENT), new.get(key, _ABSENT)
        inner: _Place = "value"
        if place in ("schema", "map"):
            inner = "schema" if place == "map" else _INSIDE.get(key, "value")
        elif place == "default":
            inner = place
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
    """The schema with ``value`` at ``path``; the part is removed if ``value`` is ``_ABSENT``."""
    key, rest = path[0], path[1:]
    part = schema.get(key)
    if key == "required" and len(rest) == 1 and not isinstance(part, dict):
        others = [name for name in part or () if name != rest[0]]
        value = others if value is _ABSENT else [*others, rest[0]]
    elif rest:
        value = _with(part if isinstance(part, dict) else {}, rest, value)
    siblings = {name: item for name, item in schema.items() if name != key}
    return siblings if value is _ABSENT else {**siblings, key: value}

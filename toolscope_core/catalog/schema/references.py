"""Resolves ``$ref`` and ``allOf``; only references inside the schema are followed, and cycles are
cut.

A reference is moved under ``x-invalid`` if it leads out of the schema, to nothing, or into a cycle
that consumes no value. There it is called ``reference``, since some clients follow each ``$ref``. A
reference at the top is replaced by its target, so that the parameters are visible. ``allOf`` is
merged if its parts do not restrict the same thing.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import unquote

from toolscope_core.catalog.flaws import MAX_DEPTH
from toolscope_core.catalog.schema import walking
from toolscope_core.catalog.schema.keywords import BROKEN_REFERENCE, INVALID, set_aside
from toolscope_core.catalog.schema.pointers import (
    ExpansionBudget,
    Extent,
    lasting_pointers,
    measure,
)
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

_DEFINITIONS = ("$defs", "definitions")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_IN_PLACE = ("allOf", "anyOf", "if", "then", "else", "dependentSchemas", "$ref")


def drop_narrowed(schema: JsonObject) -> JsonObject:
    """The schema (a root) without keywords that become stricter if parts inside them are missing.

    ``oneOf`` becomes ``anyOf``; all other such keywords are moved under ``x-invalid``.
    """
    if not any(INVALID in node for node in walking.objects_in(schema)):
        return schema
    result: JsonObject = walking.map_schemas(schema, _Dropper(schema).drop)
    return result


class _Dropper:
    """Removes keywords that become stricter if parts are missing from the schemas of one root."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._widened: dict[str, bool] = {}

    def drop(self, schema: dict[str, Any]) -> JsonObject:
        if "oneOf" in schema and self._is_widened(schema["oneOf"]) and "anyOf" not in schema:
            schema["anyOf"] = schema.pop("oneOf")
        return set_aside(schema, self._narrowed(schema))

    def _narrowed(self, schema: JsonObject) -> list[str]:
        """The keywords of a schema that become stricter if something is missing."""
        keys = [key for key in ("not", "oneOf") if self._is_widened(schema.get(key))]
        if self._is_widened(schema.get("if")):
            keys += ["if", "then", "else"]
        if "maxContains" in schema and self._is_widened(schema.get("contains")):
            keys += ["contains", "minContains", "maxContains"]
        if INVALID in schema or any(self._is_widened(schema.get(key)) for key in _IN_PLACE):
            keys += ["unevaluatedProperties", "unevaluatedItems"]
        return [key for key in keys if key in schema]

    def _is_widened(self, value: Any) -> bool:
        """Whether a keyword is missing in a value, or in a schema to which the value refers."""
        nodes = walking.objects_in(value)
        return any(INVALID in node or self._leads_to_widened(node.get("$ref")) for node in nodes)

    def _leads_to_widened(self, reference: Any) -> bool:
        if not isinstance(reference, str):
            return False
        if reference not in self._widened:
            self._widened[reference] = False  # until the cycle is closed
            self._widened[reference] = self._is_widened(walking.resolve(self._root, reference))
        return self._widened[reference]


IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
BASES = ("$id", "$anchor", "$dynamicAnchor")
_ALONE = (
    *("additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"),
    *("if", "then", "else", "unevaluatedItems", INVALID, *BASES),
)
READ_TOGETHER = (
    ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
    ("prefixItems", "items", "unevaluatedItems"),
    ("contains", "minContains", "maxContains"),
    ("if", "then", "else"),
)
"""Keywords that have another meaning together than in two separate schemas."""
JOINED = ("properties", "$defs", "definitions")
NOTES = ("title", "description")
SHORTENED = "Shortened by ToolScope: "
UNMERGED = "allOf is not merged everywhere"


def settle_references(schema: JsonObject, budget: ExpansionBudget | None = None) -> JsonObject:
    """The schema (a root) with checked references, inlined references at the top, and merged
    ``allOf``.

    If the budget is too small, ``allOf`` stays unchanged, and ``$comment`` says so.
    """
    if not any("$ref" in node or "allOf" in node for node in walking.objects_in(schema)):
        return drop_narrowed(schema)
    schema = lasting_pointers(schema)
    checked = drop_narrowed(_check(schema))
    merger = _Merger(checked, budget or ExpansionBudget())
    merged = dict(_unfollowed(merger.merge(_inline(checked, checked))))
    return marked_as_shortened(merged, UNMERGED) if merger.is_refused else merged


def marked_as_shortened(schema: JsonObject, how: str) -> JsonObject:
    """The schema with a comment that says what was not written out."""
    return {**schema, "$comment": f"{SHORTENED}{how}"}


def find_shortened(tool: Tool) -> tuple[Finding, ...]:
    """An *info* finding for each schema of a tool that was not written out completely."""
    comments = {
        field: schema.get("$comment") if schema else None
        for field, schema in (("parameters", tool.schema), ("returns", tool.returns))
    }
    return tuple(
        Finding(tool.id, "info", "shortened-schema", field, _shortened_how(field, comment))
        for field, comment in comments.items()
        if isinstance(comment, str) and comment.startswith(SHORTENED)
    )


def _shortened_how(field: str, comment: str) -> str:
    how = comment.removeprefix(SHORTENED)
    return f"The schema of `{field}` is too large to write out: {how}. No valid call is refused."


def without_unused(schema: JsonObject) -> JsonObject:
    """The schema (a root) without unused definitions, and without entries of discriminators that
    lead nowhere.

    Definitions that only use each other count as unused. The schema is unchanged if a reference is
    not a pointer to a value of the root.
    """
    lean = _with_used(schema)
    nodes = walking.objects_in(lean, walking.VALUES)
    if not any("discriminator" in node and _mapping(node) for node in nodes):
        return lean
    changed = walking.map_objects(lean, lambda node: _with_live_mapping(node, lean), walking.VALUES)
    return lean if changed == lean else changed


def _mapping(node: JsonObject) -> JsonObject:
    """The schema that a discriminator names for each value."""
    discriminator = walking.object_at(node, "discriminator")
    is_one = isinstance(discriminator.get("propertyName"), str)
    return walking.object_at(discriminator, "mapping") if is_one else {}


def _with_live_mapping(node: JsonObject, root: JsonObject) -> JsonObject:
    mapping = _mapping(node)
    names = {name for place in _DEFINITIONS for name in walking.object_at(root, place)}
    live = {
        value: own
        for value, own in mapping.items()
        if own in names or walking.resolve(root, own) is not None
    }
    if len(live) == len(mapping):
        return node
    others = {key: part for key, part in node["discriminator"].items() if key != "mapping"}
    return {**node, "discriminator": {**others, **({"mapping": live} if live else {})}}


def _with_used(schema: JsonObject) -> JsonObject:
    declared: dict[tuple[str, ...], Any] = {
        (place, name): sub
        for place in _DEFINITIONS
        for name, sub in walking.object_at(schema, place).items()
    }
    nearest = [sub for key, sub in schema.items() if key not in _DEFINITIONS]
    nearest += [{"$ref": schema.get("$ref", "#")}]
    used: set[tuple[str, ...]] = set()
    while declared and nearest:
        pointers = set(_pointers(nearest))
        if () in pointers:
            return schema
        further = (pointers & declared.keys()) - used
        used |= further
        nearest = [declared[place] for place in further]
    if used == declared.keys():
        return schema
    names = {place: [name for own, name in used if own == place] for place in _DEFINITIONS}
    return {
        key: {name: sub for name, sub in value.items() if name in names[key]}
        if key in names and isinstance(value, dict)
        else value
        for key, value in schema.items()
        if names.get(key) != []
    }


def _pointers(value: Any) -> Iterator[tuple[str, ...]]:
    """The first two words of every pointer in a value, including the pointers of discriminators.

    An empty result marks a reference that is not a pointer, or a base that gives pointers another
    root.
    """
    for node in walking.objects_in(value):
        if isinstance(node.get("$id"), str):
            yield ()
        for key, text in node.items():
            words = unquote(text).split("/", 3) if isinstance(text, str) else []
            if words[:1] == ["#"] and len(words) > 2:
                yield tuple(one.replace("~1", "/").replace("~0", "~") for one in words[1:3])
            elif key in _REFERENCES and words != ["#"]:
                yield ()


def leads_nowhere(schema: JsonObject | None) -> bool:
    """Whether a reference was removed from a schema because its target was missing."""
    invalid = (node.get(INVALID) for node in walking.objects_in(schema))
    return any(
        BROKEN_REFERENCE in node for node in walking.objects_in([one for one in invalid if one])
    )


def merge_parts(parts: list[JsonObject]) -> JsonObject | None:
    """One schema that is equivalent to all parts together; ``None`` if two parts restrict the
    same thing.
    """
    merged: dict[str, Any] = {}
    required: set[str] = set()
    if any(key in part for part in parts for key in _ALONE) or not all(map(_is_plain, parts)):
        return None
    if _interact(parts):
        return None
    for part in parts:
        for key, value in part.items():
            present: Any = merged.get(key, value)
            if key in JOINED:
                if any(
                    key in present and not _same(present[key], sub) for key, sub in value.items()
                ):
                    return None
                merged[key] = {**present, **value}
            elif key == "required":
                required |= set(value)
                merged[key] = sorted(required)
            elif key in NOTES:
                merged[key] = present
            elif not _same(present, value):
                return None
            else:
                merged[key] = value
    return merged


def _interact(parts: list[JsonObject]) -> bool:
    """Whether keywords that depend on each other are in different schemas."""
    for keys in READ_TOGETHER:
        keyword_sets = [own for part in parts if (own := {k: part[k] for k in keys if k in part})]
        together = len({key for part in keyword_sets for key in part}) > 1
        if together and not all(_same(keyword_sets[0], other) for other in keyword_sets[1:]):
            return True
    return False


def _is_plain(part: JsonObject) -> bool:
    """Whether the keywords to be joined have values of the right form."""
    required = part.get("required", [])
    return (
        isinstance(required, list)
        and all(isinstance(name, str) for name in required)
        and all(isinstance(part.get(key, {}), dict) for key in JOINED)
    )


def _same(one: Any, other: Any) -> bool:
    return canonical_json(one) == canonical_json(other)


def _check(root: JsonObject) -> Any:
    """The schema with every broken or circular reference moved under ``INVALID``.

    Values there that contain such a reference are moved too, since some clients follow it.
    """
    ends: dict[str, bool] = {}

    def is_dead(reference: Any) -> bool:
        return isinstance(reference, str) and not _ends(reference, root, ends, ())

    def check(checked: dict[str, Any]) -> JsonObject:
        dead = ["$ref"] if is_dead(checked.get("$ref")) else []
        values = [key for key in walking.VALUES if key in checked and key != INVALID]
        dead += [key for key in values if any(map(is_dead, walking.references_in(checked[key])))]
        return set_aside(checked, dead)

    return walking.map_objects(root, check, walking.VALUES)


def _unfollowed(value: Any, is_invalid: bool = False) -> Any:
    """The value in which every ``$ref`` under ``INVALID`` is renamed to ``BROKEN_REFERENCE``."""
    if isinstance(value, list):
        return [_unfollowed(item, is_invalid) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        BROKEN_REFERENCE
        if is_invalid and key == "$ref" and not isinstance(sub, dict)
        else key: _unfollowed(sub, is_invalid or key == INVALID)
        for key, sub in value.items()
    }


def _ends(reference: str, root: JsonObject, ends: dict[str, bool], path: tuple[str, ...]) -> bool:
    """Whether following the reference ends, as long as it applies to the same value."""
    if reference in path or len(path) > MAX_DEPTH:
        return False
    if reference not in ends:
        target = walking.resolve(root, reference)
        ends[reference] = isinstance(target, (dict, bool)) and all(
            _ends(further, root, ends, (*path, reference)) for further in _in_place(target)
        )
    return ends[reference]


def _in_place(schema: Any) -> list[str]:
    """The references in a schema that the value itself must satisfy."""
    if not isinstance(schema, dict):
        return []
    references = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    for key in IN_PLACE:
        subs = schema.get(key)
        for sub in subs if isinstance(subs, list) else [subs]:
            references += _in_place(sub)
    return references


def _inline(schema: JsonObject, root: JsonObject) -> JsonObject:
    """The schema with its own ``$ref`` replaced by the target."""
    for _ in range(MAX_DEPTH):
        target = walking.resolve(root, schema.get("$ref"))
        merged = _with_siblings(target, schema) if isinstance(target, dict) else None
        if merged is None:
            break
        schema = merged
    return schema


def _with_siblings(target: JsonObject, schema: JsonObject) -> JsonObject | None:
    """The target of a schema's ``$ref`` with the keywords beside ``$ref``; ``None`` if they
    conflict.
    """
    siblings = {key: sub for key, sub in schema.items() if key != "$ref"}
    target = {key: sub for key, sub in target.items() if key not in BASES[1:]}
    if _interact([target, siblings]) or any(
        key in target and key not in (*NOTES, "$defs") and not _same(target[key], sub)
        for key, sub in siblings.items()
    ):
        return None
    return {**target, **siblings}


@dataclass(slots=True)
class _Merger:
    """Merges every ``allOf`` in one schema (``root``); each referenced part is merged only once.

    A part that leads back to itself keeps its inner schemas as they are written.
    """

    root: JsonObject
    budget: ExpansionBudget
    is_refused: bool = False
    _parts: dict[str, tuple[JsonObject, Extent]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Merges the parts outside cycles before the parts that refer to them."""
        for reference in _before_those_that_name_them(self.root):
            target = _inline({"$ref": reference}, self.root)
            self._keep(reference, self.merge(target))

    def merge(self, value: Any, level: int = 0) -> Any:
        if isinstance(value, list):
            return [self.merge(item, level + 1) for item in value]
        if not isinstance(value, dict):
            return value
        schema = {
            key: sub if key in walking.VALUES else self.merge(sub, level + 1)
            for key, sub in value.items()
        }
        return self._joined(schema, level)

    def _joined(self, schema: JsonObject, level: int) -> JsonObject:
        parts = schema.get("allOf")
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            return schema
        own = {key: sub for key, sub in schema.items() if key != "allOf"}
        if "$ref" in own or not self._affords(parts, level):
            return schema
        merged = merge_parts([own, *map(self._part, parts)])
        return schema if merged is None else merged

    def _affords(self, parts: list[JsonObject], level: int) -> bool:
        values, levels = 0, level
        for part in parts:
            if isinstance(part.get("$ref"), str):
                extent = self._named(part["$ref"])[1]
                values, levels = values + extent.values, max(levels, level + extent.levels)
        enough = levels <= MAX_DEPTH and self.budget.take(values)
        self.is_refused |= not enough
        return enough

    def _part(self, part: JsonObject) -> JsonObject:
        reference = part.get("$ref")
        if not isinstance(reference, str):
            return part
        target = self._named(reference)[0]
        return _with_siblings(target, part) or part

    def _named(self, reference: str) -> tuple[JsonObject, Extent]:
        """The merged target of a reference. Its own parts come to an end, because cycles are
        cut.
        """
        if reference not in self._parts:
            target = _inline({"$ref": reference}, self.root)
            self._keep(reference, self._joined(target, 0))
        return self._parts[reference]

    def _keep(self, reference: str, schema: JsonObject) -> None:
        self._parts[reference] = schema, measure(schema)


def _before_those_that_name_them(root: JsonObject) -> list[str]:
    """The references in ``allOf`` that do not lead into a cycle, each after those that it
    depends on.
    """
    parts_of: dict[str, set[str]] = {}
    stack = _part_references(root)
    while stack:
        reference = stack.pop()
        if reference not in parts_of:
            parts_of[reference] = set(_part_references(_inline({"$ref": reference}, root)))
            stack += parts_of[reference]
    order = TopologicalSorter(parts_of)
    with suppress(CycleError):
        order.prepare()
    ordered: list[str] = []
    while ready := order.get_ready():
        ordered += sorted(ready)
        order.done(*ready)
    return ordered


def _part_references(value: Any) -> list[str]:
    """The references in any ``allOf`` inside a value."""
    parts = [
        part
        for node in walking.objects_in(value, walking.VALUES)
        if isinstance(node.get("allOf"), list)
        for part in node["allOf"]
    ]
    references = [part.get("$ref") for part in parts if isinstance(part, dict)]
    return [reference for reference in references if isinstance(reference, str)]

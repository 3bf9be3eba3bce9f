"""Gives new names to parameters that a target refuses, at every depth, and lists the places where
calls change.

A name gets the same new name everywhere in the schema, and no other property has this new name. So
a call is valid under the new schema exactly if it was valid under the old one, after its names have
been changed at the places in ``nested``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from toolscope_core.catalog.formats.offered_names import spelled_name
from toolscope_core.catalog.schema import walking
from toolscope_core.catalog.schema.references import IN_PLACE
from toolscope_core.model.cluster import NestedRename
from toolscope_core.model.tool import JsonObject, canonical_json, digest
from toolscope_core.model.unicode_forms import comparable_name

_LONGEST = 64
_HASH_DIGITS = 8
MAX_STEPS = 20_000
"""The most subschemas to follow, because references can expand a small schema."""
EVERY = "*"

_UNSURE = ("patternProperties", "propertyNames", "dependencies", "$dynamicRef", "$id", "$anchor")
_OTHERS = ("items", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems")


@dataclass(frozen=True, slots=True)
class Renaming:
    """New names for the parameters of a schema.

    ``names`` maps old names to new ones, and ``top`` does so for the top level. ``schema`` is the
    new schema. ``nested`` lists the nested places, outer places first. If ``obstacle`` (a sentence)
    is not empty, names cannot be changed without losing calls, and nothing is renamed.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    top: Mapping[str, str] = field(default_factory=dict)
    schema: JsonObject = field(default_factory=dict)
    nested: tuple[NestedRename, ...] = ()
    obstacle: str = ""


def renaming(schema: JsonObject, rule: str, is_top: bool = False) -> Renaming:
    """New names for properties that do not match the regular expression ``rule``.

    If ``is_top`` is true, only the top level is checked; otherwise every depth is. New names depend
    only on the property names in the schema.
    """
    all_names = set(property_names(schema))
    bad_names = refused_names(schema, rule, is_top)
    if not bad_names:
        return Renaming(schema=schema)
    names = _offers(bad_names, all_names)
    try:
        for sub in walking.every_schema(schema):
            _check(sub, names)
        steps = iter(range(MAX_STEPS))
        parts, _ = _in_place(schema, [schema], (), names, steps)
        top = sorted({name for part in parts for name in _named(part)} & names.keys())
        nested = tuple(dict.fromkeys(_places(schema, [schema], "", names, (), steps)))
    except _UnsureError as error:
        return Renaming(obstacle=str(error))
    top_names = {name: names[name] for name in top}
    rewritten: JsonObject = walking.map_schemas(schema, lambda sub: _rewritten(sub, names))
    return Renaming(names, top_names, rewritten, nested)


def refused_names(schema: JsonObject, rule: str, is_top: bool = False) -> list[str]:
    """The names of properties that do not match the rule, sorted."""
    names = set(walking.properties_of(schema) if is_top else property_names(schema))
    return sorted(name for name in names if not re.fullmatch(rule, name))


def property_names(schema: Any) -> Iterator[str]:
    """The names of the properties at every depth, in any order and with repeats."""
    for sub in walking.every_schema(schema):
        yield from walking.properties_of(sub)


class _UnsureError(Exception):
    """Raised if names cannot be changed safely; the text is a sentence on the reason."""


def _offers(bad_names: Iterable[str], all_names: Iterable[str]) -> dict[str, str]:
    """A free name for each bad name, made of letters, digits and underscores, which every rule
    allows.
    """
    keys = {comparable_name(name) for name in all_names}
    offers = {}
    for name in bad_names:
        plain = spelled_name(name, "arg", "_")
        stem = plain[: _LONGEST - _HASH_DIGITS - 1]
        hashed = (f"{stem}_{digest(name, n)[:_HASH_DIGITS]}" for n in count())
        names = chain([plain[:_LONGEST]], hashed)
        new = next(n for n in names if comparable_name(n) not in keys)
        keys.add(comparable_name(new))
        offers[name] = new
    return offers


def _check(schema: JsonObject, names: Mapping[str, str]) -> None:
    """Raises ``_UnsureError`` if a schema restricts names in a way that renaming would break."""
    for key in _UNSURE:
        if key in schema:
            raise _UnsureError(
                f"The parameters use {key!r}, so the new name could mean something else."
            )
    values = [schema.get("const"), schema.get("enum")]
    if any(names.keys() & node.keys() for node in walking.objects_in(values)):
        raise _UnsureError("An allowed value is an object that contains the name.")
    words = str(schema.get("$ref", "")).replace("~1", "/").replace("~0", "~")
    if any(f"/{name}" in words for name in names):
        raise _UnsureError(f"The reference {words!r} contains the name.")


def _places(
    root: JsonObject,
    here: list[Any],
    path: str,
    names: Mapping[str, str],
    trail: tuple[str, ...],
    steps: Iterator[int],
) -> Iterator[NestedRename]:
    """The renames below ``path``, given the schemas that apply at this path; the top level is left
    out.

    ``trail`` are the references that were followed so far; ``steps`` counts down.
    """
    parts, trail = _in_place(root, here, trail, names, steps)
    for name in sorted({name for part in parts for name in _named(part)} & names.keys()):
        if path:
            yield NestedRename(f"{path}/{_escaped(name)}", f"{path}/{names[name]}")
    below: dict[str, list[Any]] = {}
    for part in parts:
        for name, sub in part.get("properties", {}).items():
            below.setdefault(_escaped(names.get(name, name)), []).append(sub)
        others = [part[key] for key in _OTHERS if key in part]
        below.setdefault(EVERY, []).extend([*others, *part.get("prefixItems", [])])
    for step, subs in sorted(below.items()):
        if any(_reaches(root, sub, names, set()) for sub in subs):
            yield from _places(root, subs, f"{path}/{step}", names, trail, steps)


def _in_place(
    root: JsonObject,
    here: list[Any],
    trail: tuple[str, ...],
    names: Mapping[str, str],
    steps: Iterator[int],
) -> tuple[list[JsonObject], tuple[str, ...]]:
    """The schemas that apply to one value, including schemas that are referenced or combined."""
    parts: list[JsonObject] = []
    stack, references = list(here), dict.fromkeys(trail)
    while stack:
        part = stack.pop()
        if next(steps, None) is None:
            raise _UnsureError("The parameters are too large to follow every name.")
        if not isinstance(part, dict):
            continue
        parts.append(part)
        reference = part.get("$ref")
        if reference is not None:
            if reference in trail and _reaches(root, part, names, set()):
                raise _UnsureError(f"The parameters refer to themselves ({reference!r}).")
            if reference not in references:
                references[reference] = None
                stack.append(walking.resolve(root, reference))
        for key in IN_PLACE:
            inner = part.get(key)
            stack += inner if isinstance(inner, list) else [inner]
        stack += list(part.get("dependentSchemas", {}).values())
    return parts, tuple(references)


def _reaches(root: JsonObject, schema: Any, names: Mapping[str, str], seen: set[str]) -> bool:
    """Whether one of the names occurs in the schema, or in a schema to which it refers."""
    if not isinstance(schema, dict):
        return False
    if names.keys() & set(_named(schema)):
        return True
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        seen.add(reference)
        if _reaches(root, walking.resolve(root, reference), names, seen):
            return True
    return any(_reaches(root, sub, names, seen) for sub in walking.subschemas(schema))


def _named(schema: JsonObject) -> Iterator[str]:
    """The property names that occur in the schema itself."""
    yield from schema.get("properties", {})
    yield from schema.get("required", [])
    yield from schema.get("dependentSchemas", {})
    for name, others in schema.get("dependentRequired", {}).items():
        yield from (name, *others)


def _rewritten(result: dict[str, Any], names: Mapping[str, str]) -> JsonObject:
    """A schema and its subschemas with the new names."""
    for key in ("properties", "dependentSchemas"):
        if key in result:
            result[key] = {names.get(name, name): sub for name, sub in result[key].items()}
    if "required" in result:
        result["required"] = [names.get(name, name) for name in result["required"]]
    if "dependentRequired" in result:
        result["dependentRequired"] = {
            names.get(name, name): [names.get(other, other) for other in needed]
            for name, needed in result["dependentRequired"].items()
        }
    for key in ("default", "examples"):
        if key in result:
            result[key] = walking.map_objects(
                result[key],
                lambda shown: {names.get(name, name): sub for name, sub in shown.items()},
            )
    return result


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


TOP_LEVEL = ("anyOf", "oneOf", "allOf", "enum", "not")
MAX_INSIDE = 16
_MOST_CHOICES = 8
MAX_ALTERNATIVES = 10_000
"""The most alternatives, and the most levels of nesting, that are opened; others are left out."""


def plain_object(schema: JsonObject) -> JsonObject | None:
    """The schema without the keywords in ``TOP_LEVEL``; unchanged if it has none of them.

    Properties that alternatives declare are merged. A property is required only if all alternatives
    require it (for ``allOf``: any of them). Every valid call with declared arguments stays valid.
    Some invalid calls become valid, and the text names the alternatives. ``None`` if a reference
    leads into a removed part.
    """
    if not any(key in schema for key in TOP_LEVEL):
        return schema
    text = canonical_json(schema)
    if any(f'"#/{key}' in text for key in TOP_LEVEL):
        return None
    plain = _Opener(schema).opened(schema, MAX_INSIDE)
    choice = _unchecked(schema)
    texts = [text for text in (schema.get("description"), choice) if isinstance(text, str) and text]
    return {**plain, "description": " ".join(texts)} if choice else plain


def _unchecked(schema: JsonObject) -> str:
    """A sentence on the choice between required names; empty if there is no choice, or if it is
    too long.
    """
    for key, word in (("oneOf", "only one of"), ("anyOf", "at least one of")):
        parts = schema.get(key)
        required = (
            [walking.required_of(part) for part in parts if isinstance(part, dict)] if parts else []
        )
        always = set.intersection(*map(set, required)) if required else set()
        choices = [
            " with ".join(dict.fromkeys(n for n in names if n not in always)) for names in required
        ]
        if len(choices) > 1 and all(choices) and len(choices) <= _MOST_CHOICES:
            return f"Give {word}: {', '.join(dict.fromkeys(choices))}."
    return ""


@dataclass(slots=True)
class _Opener:
    """Opens the alternatives in one schema (``root``); a reference is resolved once per depth."""

    root: JsonObject
    remaining: int = MAX_ALTERNATIVES
    _by_reference: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)

    def opened(self, schema: JsonObject, depth: int) -> dict[str, Any]:
        plain = {key: value for key, value in schema.items() if key not in TOP_LEVEL}
        properties, required = dict(walking.properties_of(plain)), walking.required_of(plain)
        for key in ("allOf", "anyOf", "oneOf"):
            parts = schema.get(key)
            if not isinstance(parts, list) or not parts or not depth:
                continue
            branches = [self._branch(part, depth - 1) for part in parts]
            for name, alternatives in _declared(branches).items():
                together = "allOf" if key == "allOf" else "anyOf"
                merged = alternatives[0] if len(alternatives) == 1 else {together: alternatives}
                properties.setdefault(name, merged)
            by_branch = [set(walking.required_of(branch)) for branch in branches]
            common = set.union(*by_branch) if key == "allOf" else set.intersection(*by_branch)
            required += sorted(common - set(required))
        if properties or "properties" in plain:
            plain["properties"] = properties
        if required:
            plain["required"] = required
        return plain

    def _branch(self, part: Any, depth: int) -> JsonObject:
        self.remaining -= 1
        if not isinstance(part, dict) or self.remaining < 0:
            return {}
        key = (str(part["$ref"]), depth) if part.keys() == {"$ref"} else None
        if key in self._by_reference:
            return self._by_reference[key]
        target = walking.resolve(self.root, part.get("$ref"))
        opened = self.opened({**target, **part} if isinstance(target, dict) else part, depth)
        if key:
            self._by_reference[key] = opened
        return opened


def _declared(branches: Sequence[JsonObject]) -> dict[str, list[Any]]:
    """The different declarations of each property in the branches, by the property's name."""
    by_name: dict[str, dict[str, Any]] = {}
    for branch in branches:
        for name, sub in walking.properties_of(branch).items():
            by_name.setdefault(name, {}).setdefault(canonical_json(sub), sub)
    return {name: list(by_text.values()) for name, by_text in by_name.items()}

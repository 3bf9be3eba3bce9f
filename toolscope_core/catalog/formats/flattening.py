"""Parameters as one plain object, for targets that take no alternatives at the top."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from toolscope_core.catalog.schema.walking import properties_of, required_of, resolve
from toolscope_core.model.tool import JsonObject, canonical_json

TOP_LEVEL = ("anyOf", "oneOf", "allOf", "enum", "not")
MAX_INSIDE = 16
MOST_CHOICES = 8
MAX_ALTERNATIVES = 10_000
"""So many alternatives, and so many inside each other, are opened; others are left out."""


def plain_object(schema: JsonObject) -> JsonObject | None:
    """The schema without the keywords of ``TOP_LEVEL``; the same where it has none.

    What alternatives declare stands among the properties, required only if all of them (for
    ``allOf``: any) require it. Every call of declared arguments that was valid stays so; some that
    were not become so, and its text says which names were chosen between. ``None`` where a
    reference leads into what would go.
    """
    if not any(key in schema for key in TOP_LEVEL):
        return schema
    text = canonical_json(schema)
    if any(f'"#/{key}' in text for key in TOP_LEVEL):
        return None
    opened = _Opener(schema).opened(schema, MAX_INSIDE)
    lost = _unchecked(schema)
    texts = [text for text in (schema.get("description"), lost) if isinstance(text, str) and text]
    return {**opened, "description": " ".join(texts)} if lost else opened


def _unchecked(schema: JsonObject) -> str:
    """In a sentence the choice between names that alternatives require; empty where there is none
    that is short.
    """
    for key, word in (("oneOf", "one only of"), ("anyOf", "at least one of")):
        parts = schema.get(key)
        listed = [required_of(part) for part in parts if isinstance(part, dict)] if parts else []
        always = set.intersection(*map(set, listed)) if listed else set()
        choices = [
            " with ".join(dict.fromkeys(n for n in names if n not in always)) for names in listed
        ]
        if len(choices) > 1 and all(choices) and len(choices) <= MOST_CHOICES:
            return f"Give {word}: {', '.join(dict.fromkeys(choices))}."
    return ""


@dataclass(slots=True)
class _Opener:
    """Opens the alternatives of one schema (``root``), what a reference names once a depth."""

    root: JsonObject
    left: int = MAX_ALTERNATIVES
    _by_reference: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)

    def opened(self, schema: JsonObject, depth: int) -> dict[str, Any]:
        plain = {key: value for key, value in schema.items() if key not in TOP_LEVEL}
        properties, required = dict(properties_of(plain)), required_of(plain)
        for key in ("allOf", "anyOf", "oneOf"):
            parts = schema.get(key)
            if not isinstance(parts, list) or not parts or not depth:
                continue
            branches = [self._branch(part, depth - 1) for part in parts]
            for name, alternatives in _declared(branches).items():
                together = "allOf" if key == "allOf" else "anyOf"
                joined = alternatives[0] if len(alternatives) == 1 else {together: alternatives}
                properties.setdefault(name, joined)
            needed = [set(required_of(branch)) for branch in branches]
            common = set.union(*needed) if key == "allOf" else set.intersection(*needed)
            required += sorted(common - set(required))
        if properties or "properties" in plain:
            plain["properties"] = properties
        if required:
            plain["required"] = required
        return plain

    def _branch(self, part: Any, depth: int) -> JsonObject:
        self.left -= 1
        if not isinstance(part, dict) or self.left < 0:
            return {}
        key = (str(part["$ref"]), depth) if part.keys() == {"$ref"} else None
        if key in self._by_reference:
            return self._by_reference[key]
        target = resolve(self.root, part.get("$ref"))
        opened = self.opened({**target, **part} if isinstance(target, dict) else part, depth)
        if key:
            self._by_reference[key] = opened
        return opened


def _declared(branches: Sequence[JsonObject]) -> dict[str, list[Any]]:
    """By name, the different things that the branches say of a property."""
    by_name: dict[str, dict[str, Any]] = {}
    for branch in branches:
        for name, sub in properties_of(branch).items():
            by_name.setdefault(name, {}).setdefault(canonical_json(sub), sub)
    return {name: list(by_text.values()) for name, by_text in by_name.items()}

"""Collects the schemas to which a schema refers as the schema's own ``$defs``, within a budget.

If all schemas refer to each other, each of a thousand operations would contain the whole document.
In that case, the most distant schemas are left out, the same share for all. References to them are
removed, which allows any value there, so every valid call stays valid.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from toolscope_core.catalog.schema.pointers import ExpansionBudget, measure
from toolscope_core.catalog.schema.references import marked_as_shortened
from toolscope_core.catalog.schema.walking import (
    VALUES,
    map_objects,
    map_references,
    object_at,
    references_in,
    resolve,
)
from toolscope_core.model.tool import JsonObject

_SCHEMAS = "#/components/schemas/"
"""The prefix of the reference for a discriminator value that is only a name."""


class OutsideError(ValueError):
    """Raised if a reference points outside the document; the message says which reference."""


@dataclass(frozen=True, slots=True)
class _Target:
    """The target of a reference, with its size in values and the distinct references in it."""

    schema: Any
    values: int
    references: tuple[str, ...]


@dataclass(slots=True)
class Definitions:
    """The schemas to which the references of a document lead, each resolved once."""

    document: JsonObject
    budget: ExpansionBudget
    _targets: dict[str, _Target] = field(default_factory=dict)

    def carry(self, schemas: Sequence[JsonObject]) -> Iterator[JsonObject | OutsideError]:
        """Each schema with its referenced schemas under ``$defs``, or an error.

        All schemas together use at most the rest of the budget.
        """
        reached = [self._reach(schema) for schema in schemas]
        sizes = [
            0 if isinstance(targets, OutsideError) else self._size(targets) for targets in reached
        ]
        limit = _fair_share(sizes, self.budget.remaining)
        self.budget.take(sum(min(size, limit) for size in sizes))
        for schema, targets in zip(schemas, reached, strict=True):
            if isinstance(targets, OutsideError):
                yield targets
            else:
                yield self._on_its_own(schema, targets, limit)

    def _reach(self, schema: JsonObject) -> list[str] | OutsideError:
        """The references to which a schema leads, the nearest first, ties sorted by name.

        If a reference points outside the document, the error is returned.
        """
        reached: dict[str, None] = {}
        nearest = set(references_in(schema))
        while nearest:
            reached |= dict.fromkeys(sorted(nearest))
            try:
                further = [self._target(reference).references for reference in nearest]
            except OutsideError as error:
                return error
            nearest = set(chain.from_iterable(further)) - reached.keys()
        return list(reached)

    def _target(self, reference: str) -> _Target:
        if reference not in self._targets:
            schema = resolve(self.document, reference)
            if not isinstance(schema, (dict, bool)):
                raise OutsideError(
                    f"refers to {reference[:80]!r}, but only references within the file, or to "
                    "files below its folder, are read"
                )
            references = tuple(dict.fromkeys(references_in(schema)))
            self._targets[reference] = _Target(schema, measure(schema).values, references)
        return self._targets[reference]

    def _size(self, targets: Iterable[str]) -> int:
        return sum(self._targets[reference].values for reference in targets)

    def _on_its_own(self, schema: JsonObject, targets: Sequence[str], limit: int) -> JsonObject:
        references = []
        budget = limit
        for reference in targets:
            budget -= self._targets[reference].values
            if budget < 0:
                break
            references.append(reference)
        names = _names(references)
        places = {own: f"#/$defs/{name}" for own, name in names.items()}
        result: JsonObject = map_references(schema, places.get)
        if names:
            defs = {
                name: map_references(self._targets[own].schema, places.get)
                for own, name in names.items()
            }
            result = {**result, "$defs": defs}
        result = map_objects(result, partial(_with_own_mapping, places=places), VALUES)
        if len(references) == len(targets):
            return result
        omitted = len(targets) - len(references)
        how = f"{omitted:,} of {len(targets):,} schemas that it refers to are left out"
        return marked_as_shortened(result, how)


def _with_own_mapping(node: dict[str, Any], places: Mapping[str, str]) -> JsonObject:
    """An object whose discriminator maps to the new places of the schemas."""
    discriminator = node.get("discriminator")
    mapping = object_at(discriminator, "mapping")
    if not mapping or not isinstance(discriminator, dict) or "propertyName" not in discriminator:
        return node
    references = {
        key: str(own) if "/" in str(own) else f"{_SCHEMAS}{own}" for key, own in mapping.items()
    }
    new = {key: places.get(own, own) for key, own in references.items()}
    return {**node, "discriminator": {**discriminator, "mapping": new}}


def _fair_share(sizes: Iterable[int], budget: int) -> int:
    """The largest limit per size under which all sizes together fit the budget."""
    rising = sorted(sizes)
    for rank, size in enumerate(rising):
        share = budget // (len(rising) - rank)
        if size > share:
            return share
        budget -= size
    return rising[-1] if rising else 0


def _names(references: Iterable[str]) -> dict[str, str]:
    """A name under ``$defs`` for each reference, made from the reference's last word."""
    names: dict[str, str] = {}
    uses: dict[str, int] = {}
    used: set[str] = set()
    for reference in references:
        stem = re.sub(r"[^A-Za-z0-9_.-]", "_", reference.rpartition("/")[2]) or "root"
        name = stem
        while name in used:
            uses[stem] = uses.get(stem, 1) + 1
            name = f"{stem}_{uses[stem]}"
        used.add(name)
        names[reference] = name
    return names

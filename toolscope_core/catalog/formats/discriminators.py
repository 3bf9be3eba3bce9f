"""What the children of a schema add to it, where OpenAPI says by a ``discriminator`` that it has
some: a schema names its parent in its ``allOf``, and who reads the parent alone misses the rest.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from toolscope_core.catalog.schema.pointers import ExpansionBudget
from toolscope_core.catalog.schema.walking import list_at, object_at, properties_of, resolve
from toolscope_core.model.tool import JsonObject, canonical_json

_HOLDERS = (("components", "schemas"), ("definitions",))
_CHOICES = ("oneOf", "anyOf")
_OF_PARENTS = (*_CHOICES, "discriminator")


def with_children(document: JsonObject, budget: ExpansionBudget) -> JsonObject:
    """The document in which each parent also declares what its children do, none of it required.

    What the parent says for itself stands beside it as ``…_fields``, and that is what its children
    refer to, so that no child declares what another adds and no circle arises. What is added is
    taken from the ``budget``, as far as that goes.
    """
    for path in _HOLDERS:
        holder = object_at(document, *path)
        if any(map(_is_parent, holder.values())):
            schemas = _Family(document, f"#/{'/'.join(path)}/", holder).schemas(budget)
            nested = {**document["components"], path[-1]: schemas} if path[1:] else schemas
            document = {**document, path[0]: nested}
    return document


def _is_parent(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("discriminator"), (dict, str))


class _Family:
    """The named schemas of a document, and which of them are children of which."""

    def __init__(self, document: JsonObject, place: str, named: JsonObject) -> None:
        self._document, self._place, self._named = document, place, named
        self._parents = {name for name, schema in named.items() if _is_parent(schema)}
        self._children: defaultdict[str, list[str]] = defaultdict(list)
        for name, schema in named.items():
            for part in _parts(schema):
                parent = self._parent(part)
                if parent and parent != name:
                    self._children[parent].append(name)

    def schemas(self, budget: ExpansionBudget) -> JsonObject:
        """The named schemas, and beside each parent with children what it says for itself."""
        apart = {name: self._apart(schema) for name, schema in self._named.items()}
        for name in self._children:
            own = apart[name]
            apart[self._own_name(name)] = {k: v for k, v in own.items() if k not in _OF_PARENTS}
            if not own.keys() & set(_CHOICES):
                added = self._added(name, budget)
                apart[name] = {**own, "properties": {**added, **properties_of(own)}}
        return apart

    def _parent(self, part: Any) -> str:
        """The parent that a part of ``allOf`` refers to; empty for any other part."""
        reference = part.get("$ref") if isinstance(part, dict) else None
        name = reference.removeprefix(self._place) if isinstance(reference, str) else ""
        return name if name in self._parents else ""

    def _own_name(self, parent: str) -> str:
        name = f"{parent}_fields"
        while name in self._named:
            name += "_"
        return name

    def _apart(self, schema: Any) -> Any:
        """The schema with what each parent says for itself in its ``allOf``."""
        if not any(map(self._parent, _parts(schema))):
            return schema
        parts = [
            {**part, "$ref": f"{self._place}{self._own_name(parent)}"}
            if (parent := self._parent(part))
            else part
            for part in _parts(schema)
        ]
        return {**schema, "allOf": parts}

    def _added(self, parent: str, budget: ExpansionBudget) -> JsonObject:
        """The properties that descendants declare, with all that they say of one of them."""
        added: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for child in self._descendants(parent):
            for name, sub in self._declared(self._named[child]):
                if budget.take(1):
                    added[name].setdefault(canonical_json(sub), sub)
        return {
            name: next(iter(subs.values())) if len(subs) == 1 else {"anyOf": [*subs.values()]}
            for name, subs in added.items()
        }

    def _descendants(self, parent: str) -> list[str]:
        descendants = dict.fromkeys(self._children[parent])
        waiting = list(descendants)
        while waiting:
            further = [one for one in self._children.get(waiting.pop(), []) if one != parent]
            waiting += [one for one in further if one not in descendants]
            descendants |= dict.fromkeys(further)
        return list(descendants)

    def _declared(self, schema: Any) -> Iterator[tuple[str, Any]]:
        """The properties of a schema and of its parts, but for those of its parents."""
        waiting, seen = [schema], set[int]()
        while waiting:
            part = waiting.pop()
            if isinstance(part, dict) and id(part) not in seen:
                seen.add(id(part))
                yield from properties_of(part).items()
                further = [one for one in _parts(part) if not self._parent(one)]
                waiting += [*further, *(resolve(self._document, r.get("$ref")) for r in further)]


def _parts(schema: Any) -> list[Any]:
    return [part for part in list_at(schema, "allOf") if isinstance(part, dict)]

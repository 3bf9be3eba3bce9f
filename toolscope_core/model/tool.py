"""A tool with its parameters and documents, and the canonical text from which ids are made."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

JsonObject = Mapping[str, Any]


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """The canonical text of a JSON value: sorted keys, no spaces, Unicode kept."""
    return _CANONICAL.encode(value)


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each text changed at every depth, including names."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(name)): with_texts(part, change) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [with_texts(part, change) for part in value]
    return value


def digest(*parts: object) -> str:
    """SHA-256 (64 hex digits) of the canonical JSON of ``parts``."""
    text = canonical_json(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared top-level parameter of a tool; ``schema`` is its JSON Schema."""

    name: str
    required: bool
    schema: JsonObject

    @property
    def type(self) -> str:
        """The JSON type: ``a|b`` for several in the given order, ``any`` if none is declared."""
        declared = self.schema.get("type")
        if isinstance(declared, list):
            return "|".join(str(item) for item in declared) or "any"
        return str(declared) if declared else "any"

    @property
    def description(self) -> str:
        return str(self.schema.get("description") or "")

    @property
    def enum(self) -> tuple[Any, ...]:
        """The allowed values in the given order; empty if any value is allowed."""
        values = self.schema.get("enum")
        return tuple(values) if isinstance(values, list) else ()


@dataclass(frozen=True, slots=True)
class Augmentation:
    """Text written about a tool to help searches find it, in addition to its own.

    It is an expanded description, and questions that the tool answers (Retrieval–Plan–Select,
    §3.1).
    """

    expanded: str
    questions: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether anything was written; a person may want no variant for a tool."""
        return bool(self.expanded or self.questions)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as its server declares it.

    ``schema`` is the JSON Schema (an object) of the arguments, types normalised. ``None`` means
    that the record does not describe its arguments; ``{"type": "object", "properties": {}}`` that
    it takes none. ``server`` is empty in a catalog without servers; ``implied_server`` is then a
    guess: the vendor or product that the name implies. ``augmentation`` is extra text for searches.
    Neither of these two is part of equality, ids or fingerprints. ``annotations`` uses the MCP hint
    names. ``raw`` is the record as it was read, unknown fields included. ``parameters`` are the
    declared top-level ones in their order. ``fingerprint`` hashes server, name and definition;
    ``content_hash`` leaves the server out. ``raw_format`` is the format in which ``raw`` declares
    exactly this; a copy with changes has none.
    """

    id: str
    name: str
    description: str = ""
    server: str = ""
    schema: JsonObject | None = None
    returns: JsonObject | None = None
    annotations: JsonObject = field(default_factory=dict)
    raw: JsonObject = field(default_factory=dict, repr=False)
    implied_server: str = field(default="", compare=False)
    augmentation: Augmentation | None = field(default=None, repr=False, compare=False)
    parameters: tuple[Parameter, ...] = field(init=False, repr=False, compare=False)
    fingerprint: str = field(init=False, repr=False)
    content_hash: str = field(init=False, repr=False)
    raw_format: str = field(init=False, default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        content = digest(
            self.name, self.description, self.schema, self.returns, dict(self.annotations)
        )
        object.__setattr__(self, "parameters", _declared(self.schema))
        object.__setattr__(self, "content_hash", content)
        object.__setattr__(self, "fingerprint", digest(self.server, content))

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def declared_in(self, format: str) -> "Tool":
        """The same tool, marked as what ``raw`` declares in the format."""
        object.__setattr__(self, "raw_format", format)
        return self

    @property
    def owner(self) -> str:
        """The tool's server, or else the server that its name implies, or empty."""
        return self.server or self.implied_server

    @property
    def home(self) -> str:
        """The part that distinguishes it from others of its name: the server, or else the id.

        Empty if the id is the name.
        """
        return self.server or ("" if self.id == self.name else self.id)


@dataclass(frozen=True, slots=True, eq=False)
class SubstituteTool(Tool):
    """A tool that replaces its ``members``; a search also finds it by their words."""

    members: tuple[Tool, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, tool: Tool, members: Iterable[Tool]) -> "SubstituteTool":
        """The tool with its members."""
        own = {item.name: getattr(tool, item.name) for item in fields(Tool) if item.init}
        return cls(**own, members=tuple(members))


def _declared(schema: JsonObject | None) -> tuple[Parameter, ...]:
    properties = (schema or {}).get("properties")
    if not isinstance(properties, dict):
        return ()
    required = (schema or {}).get("required")
    needed = [name for name in required if name] if isinstance(required, list) else []
    return tuple(
        Parameter(name, name in needed, sub if isinstance(sub, dict) else {})
        for name, sub in properties.items()
    )


def sorted_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Ids without repeats in code-point order, the order that breaks ties in every ranking."""
    return tuple(sorted(set(ids)))


def names_of(tools: tuple[Tool, Tool]) -> tuple[str, str]:
    """How a sentence tells two tools apart: by their names, or by their ids
    if the names are equal.
    """
    one, other = tools
    return (one.id, other.id) if one.name == other.name else (one.name, other.name)

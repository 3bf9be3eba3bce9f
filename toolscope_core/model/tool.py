"""A tool and its parameters, its documents and the canonical text that ids are made of."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

JsonObject = Mapping[str, Any]


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """The one text of a JSON value: sorted keys, no spaces, Unicode kept."""
    return _CANONICAL.encode(value)


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each text changed, at every depth, names too."""
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
        """JSON type, ``a|b`` for several in the order given, ``any`` where none is declared."""
        declared = self.schema.get("type")
        if isinstance(declared, list):
            return "|".join(str(item) for item in declared) or "any"
        return str(declared) if declared else "any"

    @property
    def description(self) -> str:
        return str(self.schema.get("description") or "")

    @property
    def enum(self) -> tuple[Any, ...]:
        """The values allowed, in the order given; empty where any value is."""
        values = self.schema.get("enum")
        return tuple(values) if isinstance(values, list) else ()


@dataclass(frozen=True, slots=True)
class Augmentation:
    """What was written about a tool so that searches find it, beside what its server says: an
    expanded description, and questions that it answers (Retrieval–Plan–Select, §3.1).
    """

    expanded: str
    questions: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether anything was written; a person may want a tool to have nothing."""
        return bool(self.expanded or self.questions)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as its server declares it.

    ``schema`` is the JSON Schema (an object) of the arguments, types normalised; ``None`` means
    that the record does not say what the tool takes, ``{"type": "object", "properties": {}}``
    that it takes nothing. ``server`` is empty in a catalog without servers; ``implied_server`` is
    the vendor or product that its name implies there, a guess; ``augmentation`` is what searches
    read too. Neither is a part of equality, ids or fingerprints. ``annotations`` uses the MCP hint
    names. ``raw`` is the record as it was read, unknown fields included. ``parameters`` are the
    declared top-level ones in the order given, none if none are declared. ``fingerprint`` hashes
    server, name and definition; ``content_hash`` leaves the server out.
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

    def __post_init__(self) -> None:
        content = digest(
            self.name, self.description, self.schema, self.returns, dict(self.annotations)
        )
        object.__setattr__(self, "parameters", _declared(self.schema))
        object.__setattr__(self, "content_hash", content)
        object.__setattr__(self, "fingerprint", digest(self.server, content))

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def owner(self) -> str:
        """Whose tool it is: its server, else the server that its name implies, else nobody's."""
        return self.server or self.implied_server

    @property
    def home(self) -> str:
        """What distinguishes it from others of its name: its server, else its id unless that is its
        name, else nothing.
        """
        return self.server or ("" if self.id == self.name else self.id)


@dataclass(frozen=True, slots=True, eq=False)
class SubstituteTool(Tool):
    """A tool that takes the place of its ``members``, by whose words a search finds it too."""

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
    """Ids without repeats in code-point order: the order of every ranking's tie-break."""
    return tuple(sorted(set(ids)))


def names_of(tools: tuple[Tool, Tool]) -> tuple[str, str]:
    """What tells two tools apart in a sentence: their names, or their ids where they share one."""
    one, other = tools
    return (one.id, other.id) if one.name == other.name else (one.name, other.name)

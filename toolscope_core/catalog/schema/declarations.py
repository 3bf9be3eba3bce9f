"""Converts declarations of parameters in every native dialect to JSON Schema, and back.

Three forms are understood: a JSON Schema (with the type words of any dialect), a flat object
``{name: {"type", "description"…}}`` or ``{name: "type"}``, and a list of ``{"name", "type"…}``.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from toolscope_core.catalog.flaws import find_flaw
from toolscope_core.catalog.schema import keywords, walking
from toolscope_core.catalog.schema.pointers import ExpansionBudget, with_current_draft
from toolscope_core.catalog.schema.python_types import JSON_TYPES, schema_of_words
from toolscope_core.catalog.schema.references import settle_references, without_unused
from toolscope_core.model.tool import JsonObject, canonical_json

_OPTIONAL = re.compile(r",\s*optional$|^(typing\.)?Optional\[|\bNone(Type)?\b")
_ENTRY_KEYS: Mapping[str, str] = {
    **{word: word for word in ("name", "description", "type", "required", "optional", "schema")},
    **{"isrequired": "required", "schemadata": "schema", "valueschema": "schema"},
    **{"defaultvalue": "default", "desc": "description"},
}
"""The keys of a listed parameter, in lower case without underscores → the usual keys."""
_OF_ENTRY = ("name", "optional", "required")
_OF_ARCADE = {
    **{"val_type": "type", "inner_val_type": "type", "inner_properties": "properties"},
    **{"required_keys": "required", "inner_required_keys": "required"},
}
"""Arcade's keywords → those of JSON Schema; ``inner`` refers to the items of a list."""
LEAF = frozenset({"type", "description"})
KEYWORDS = {
    *(
        *keywords.MAPS,
        *keywords.LIST_KEYWORDS,
        *keywords.SINGLE,
        "type",
        "description",
        "title",
        "default",
        "enum",
        "const",
        "format",
    ),
    *("required", "examples", "pattern", "minimum", "maximum", "exclusiveMinimum", "nullable"),
    *("exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"),
    *("uniqueItems", "minProperties", "maxProperties", "dependencies", "deprecated", "readOnly"),
    *("writeOnly", "$ref", "$schema", "$id", "$comment", "$anchor", "optional"),
}


class RecordError(ValueError):
    """Raised if a record cannot be read; the message names the part, the value and the remedy."""


UNDECLARED: JsonObject = {"type": "object", "additionalProperties": True}
"""The schema for a tool whose arguments are undeclared, if a format requires a schema."""


def read_parameters(
    value: object, required: object = None, budget: ExpansionBudget | None = None
) -> JsonObject | None:
    """A JSON Schema (an object) for the parameters that a record declares in any form.

    ``required`` is a list of names beside a flat form; ``budget`` is that of the document. The
    result is ``None`` if there is no value, or if it is ``UNDECLARED``. An empty list or object
    declares that there are no parameters. So does ``{"type": "object"}``, as in MCP. Raises
    ``RecordError`` for a value that cannot be read.
    """
    value = _from_text(value) if isinstance(value, str) else value
    if value is None:
        return None
    if isinstance(value, dict) and is_of_zod(value):
        raise RecordError("has parameters in zod's own form; write them with `z.toJSONSchema`")
    if not isinstance(value, (dict, list)):
        raise RecordError(f"has parameters {_shown(value)}; use an object or a list")
    schema = without_unused(settle_references(_read_form(value, required, "parameters"), budget))
    kind = schema.get("type", "object")
    if kind != "object" and "object" not in kind:
        raise RecordError(f"has parameters of type {_shown(kind)}; use the type `object`")
    schema = {**schema, "type": "object"}
    if schema == UNDECLARED:
        return None
    return schema if schema.keys() - {"type"} else {**schema, "properties": {}}


def _from_text(text: str) -> Any:
    """The object or list in a JSON text; otherwise the text itself."""
    try:
        value = json.loads(text) if text.lstrip()[:1] in ("{", "[") else text
    except (ValueError, RecursionError):
        return text
    return text if find_flaw(value) else value


def read_returns(value: object, budget: ExpansionBudget | None = None) -> JsonObject | None:
    """A JSON Schema for the result of a tool; ``None`` if no result is declared.

    A text is read as a type word, or else becomes the description. Raises ``RecordError`` for a
    value that cannot be read.
    """
    if isinstance(value, str) and value.strip():
        return _normalise_object(_as_schema(value), "returns")
    if not isinstance(value, (dict, list)) or not value:
        return None
    return without_unused(settle_references(_read_form(value, None, "returns"), budget))


def modernised(schema: JsonObject) -> JsonObject:
    """A schema of OpenAPI 3.0 or an older draft, converted to JSON Schema 2020-12.

    Raises ``RecordError`` for a schema that cannot be converted.
    """
    return _normalise_object(walking.map_objects(schema, _with_null, walking.VALUES), "parameters")


def rename_types(schema: Any, words: Mapping[str, str]) -> Any:
    """The schema in which JSON types, at every depth, are replaced by the words of a dialect."""

    def rename(kind: Any) -> Any:
        if isinstance(kind, list):
            return [words.get(item, item) for item in kind]
        return words.get(kind, kind)

    def with_words(sub: dict[str, Any]) -> JsonObject:
        return {**sub, "type": rename(sub["type"])} if "type" in sub else sub

    return walking.map_schemas(schema, with_words)


def _read_form(value: Mapping[str, Any] | list[Any], required: object, where: str) -> JsonObject:
    if isinstance(value, list):
        value = _from_list(value, where)
    elif "val_type" in value:
        value = _of_arcade(value)
    elif not is_whole_schema(value):
        required = _required_beside_optional(value) if required is None else required
        value = {"type": "object", "properties": value, "required": required}
    return with_current_draft(keywords.split_invalid(_normalise_object(value, where)))


def _required_beside_optional(value: Mapping[str, Any]) -> list[str] | None:
    """The flat parameters whose types do not say *optional*, as xLAM writes them; ``None`` if
    none says so.
    """
    types = {name: sub.get("type") if isinstance(sub, dict) else sub for name, sub in value.items()}
    optional = {name for name, kind in types.items() if _OPTIONAL.search(str(kind))}
    return [name for name in value if name not in optional] if optional else None


def is_of_zod(value: Mapping[str, Any]) -> bool:
    """Whether an object is a schema of zod, a TypeScript library, as ``JSON.stringify`` writes
    it.
    """
    return "_def" in value or "~standard" in value or "shape" in walking.object_at(value, "def")


def is_whole_schema(value: Mapping[str, Any]) -> bool:
    """Whether an object is a JSON Schema, and not parameters by name (which may be called
    ``type``…).
    """
    properties, kind = value.get("properties"), value.get("type")
    subs = properties.values() if isinstance(properties, dict) else (None,)
    if all(isinstance(sub, (dict, bool)) for sub in subs):
        return True
    if isinstance(kind, list) or (isinstance(kind, str) and _json_type(kind) == "object"):
        return True
    if isinstance(kind, str):
        others = {key: sub for key, sub in value.items() if key not in KEYWORDS}
        return not any(isinstance(sub, dict) or _is_type_word(sub) for sub in others.values())
    if any(isinstance(value.get(key), list) for key in ("anyOf", "oneOf", "allOf", "enum")):
        return True
    texts = [value.get(key) for key in ("$ref", "$schema", "description")]
    return any(isinstance(text, str) and not _is_type_word(text) for text in texts)


def _from_list(entries: list[Any], where: str) -> JsonObject:
    """A list of named parameters as a schema.

    If any entry says whether it is required, only entries that say they are become required.
    Otherwise, all entries that are not ``optional`` become required, as in Docker's MCP registry.
    """
    properties: dict[str, Any] = {}
    required = []
    items = [_parameter_entry(entry) for entry in entries]
    are_flagged = any("required" in item for item in items)
    for number, item in enumerate(items, 1):
        name = item.get("name")
        if not isinstance(name, str):
            raise RecordError(f"has no name for entry {number} of {where}; give every entry a name")
        name = name.lstrip("-")
        if name in properties:
            raise RecordError(f"has {name!r} twice in {where}; keep one")
        properties[name] = _listed_parameter(item)
        if item.get("required") is True if are_flagged else item.get("optional") is not True:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _parameter_entry(entry: Any) -> JsonObject:
    """A listed parameter with the usual keys, whatever the case in which its framework writes
    them.
    """
    if isinstance(entry, str):
        return {"name": entry}
    if not isinstance(entry, dict):
        return {}
    words = {key: _ENTRY_KEYS.get(key.replace("_", "").lower(), key) for key in entry}
    usual = {words[key]: value for key, value in entry.items()}
    return usual if len(usual) == len(entry) else entry


def _listed_parameter(item: JsonObject) -> JsonObject:
    """The schema of one listed parameter, which some frameworks keep inside the entry."""
    inner = item.get("schema")
    if not isinstance(inner, dict):
        return {key: sub for key, sub in item.items() if key not in _OF_ENTRY}
    words = {"description": item["description"]} if item.get("description") else {}
    default = item.get("default")
    schema = _of_arcade(inner) if "val_type" in inner else inner
    return {**words, **schema, **({} if default is None else {"default": default})}


def _of_arcade(value: JsonObject) -> JsonObject:
    """Arcade's description of a value as a schema, at every depth; nulls in it are ignored."""
    schema: dict[str, Any] = {}
    items: dict[str, Any] = {}
    for key, part in value.items():
        usual = _OF_ARCADE.get(key, key)
        holder = items if key.startswith("inner_") else schema
        if usual == "properties" and isinstance(part, dict):
            holder[usual] = {name: _of_arcade(one) for name, one in part.items()}
        elif part is not None:
            holder[usual] = part
    return {**schema, **({"items": items} if items else {})}


def _normalise(schema: Any, where: str) -> JsonObject | bool:
    """A subschema as JSON Schema; a text is a type word or a description, and null is ignored."""
    if isinstance(schema, bool):
        return schema
    if isinstance(schema, str):
        schema = _as_schema(schema)
    if not isinstance(schema, (dict, type(None))):
        raise RecordError(f"has {_shown(schema)} at {where}; use a JSON Schema")
    return _normalise_object(schema or {}, where)


def _normalise_object(schema: JsonObject, where: str) -> JsonObject:
    """The schema, at every depth, with JSON types, and with ``required`` as a sorted list or
    left out.
    """
    if schema.keys() <= LEAF and all(isinstance(value, str) for value in schema.values()):
        json_type = JSON_TYPES.get(schema.get("type", ""))
        if json_type:  # most parameters are no more than this, and reading them takes the most time
            return {**schema, "type": json_type}
    plain = _modernise(
        {("description" if key == "desc" else key): sub for key, sub in schema.items()}
    )
    if "properties" in plain:
        plain |= _read_properties(plain["properties"], where)
    result = walking.map_subschemas(plain, _normalise, where)
    if plain.get("not") and result["not"] == {}:  # an unknown type does not mean every type
        del result["not"]
    names = _required_names(plain)
    result.pop("required", None)
    if names:
        result["required"] = names
    kind = result.pop("type", None)
    if isinstance(kind, str) and (in_words := schema_of_words(kind)):
        kind, result = in_words.get("type"), {**in_words, **result}
        result.pop("type", None)
    kind = _json_types(kind, where)
    if kind and plain.get("nullable") is True:
        kind = list(dict.fromkeys([*([kind] if isinstance(kind, str) else kind), "null"]))
        del result["nullable"]
        if isinstance(result.get("enum"), list) and None not in result["enum"]:
            result["enum"] = [*result["enum"], None]
    return {"type": kind, **result} if kind else result


def _with_null(schema: dict[str, Any]) -> JsonObject:
    """The schema; if it is ``nullable`` and has no type, it also accepts null."""
    if schema.get("nullable") is not True or "type" in schema:
        return schema
    base = {key: sub for key, sub in schema.items() if key != "nullable"}
    if isinstance(base.get("enum"), list):
        return {**base, "enum": [*base["enum"], *([] if None in base["enum"] else [None])]}
    notes = {key: part for key, part in base.items() if key in ("title", "description", "default")}
    constraints = {key: part for key, part in base.items() if key not in notes}
    return {"anyOf": [constraints, {"type": "null"}], **notes} if constraints else notes


def _modernise(schema: dict[str, Any]) -> dict[str, Any]:
    """Keywords of older drafts, OpenAPI 3.0 and Gemini, converted to JSON Schema 2020-12."""
    changes: dict[str, Any] = {}
    for key in keywords.BOUNDS[2:]:
        if isinstance(schema.get(key), bool):
            bound = schema.get(f"m{key.removeprefix('exclusiveM')}")
            changes[key] = bound if schema[key] else None
            if schema[key]:
                changes[f"m{key.removeprefix('exclusiveM')}"] = None
    for key in keywords.COUNTS:
        text = schema.get(key)
        if isinstance(text, str) and re.fullmatch(r"[0-9]{1,9}", text):
            changes[key] = int(text)
    if not isinstance(schema.get("examples", []), list):
        changes["examples"] = [schema["examples"]]
    if isinstance(schema.get("items"), list):
        changes["prefixItems"] = schema["items"] or None
        changes["items"] = schema.get("additionalItems")
        changes["additionalItems"] = None
    if not changes:
        return schema
    return {key: sub for key, sub in {**schema, **changes}.items() if sub is not None}


def _as_schema(text: str) -> JsonObject:
    """A schema for a type in words; any other text becomes the description of a schema."""
    schema = schema_of_words(text)
    return {"description": text} if schema is None else schema


def _required_names(schema: JsonObject) -> list[str]:
    names = set(walking.required_of(schema))
    for name, sub in schema.get("properties", {}).items():
        if isinstance(sub, dict) and sub.get("required") is True:
            names.add(name)
    return sorted(names)


def _read_properties(properties: object, where: str) -> dict[str, Any]:
    """The value of ``properties`` as an object; some exporters write a list instead."""
    if isinstance(properties, dict):
        return {}
    if isinstance(properties, list) and properties:
        schema = _from_list(properties, f"{where}/properties")
        return {key: schema[key] for key in ("properties", "required")}
    if properties is None or properties == []:
        return {"properties": {}}
    raise RecordError(f"has {_shown(properties)} at {where}/properties; use an object")


def _json_types(kind: Any, where: str) -> str | list[str]:
    """The JSON type or types for a ``type``; empty for *any* and unknown words."""
    if kind is None:
        return ""
    words = re.split(r" ?\| ?| or ", " ".join(kind.split())) if isinstance(kind, str) else kind
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise RecordError(f"has {_shown(kind)} at {where}/type; use a type name, such as string")
    types = list(dict.fromkeys(_json_type(word) for word in words))
    if "" in types:
        return ""
    return types if isinstance(kind, list) or len(types) > 1 else types[0]


def _json_type(word: str) -> str:
    """The JSON type for a type word such as ``List[str]``; empty for *any* and unknown words."""
    head = re.match(r"\w*", word.strip().lower())
    return JSON_TYPES.get(head.group() if head else "", "")


def _is_type_word(value: object) -> bool:
    return isinstance(value, str) and schema_of_words(value) is not None


def _shown(value: object) -> str:
    text = canonical_json(value)
    return text if len(text) <= 60 else f"{text[:60]}…"

"""Converts types in words, and parameters declared in Python source, to JSON Schema."""

import ast
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from toolscope_core.catalog.structured_texts import parsed_python
from toolscope_core.model.tool import JsonObject

JSON_TYPES = {
    **dict.fromkeys(("object", "dict", "dictionary", "map", "hashmap", "struct", "json"), "object"),
    **dict.fromkeys(("string", "str", "text", "char"), "string"),
    **dict.fromkeys(("integer", "int", "long"), "integer"),
    **dict.fromkeys(("number", "float", "double", "decimal"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "set", "arraylist", "sequence"), "array"),
    **dict.fromkeys(("null", "none", "nonetype"), "null"),
    "any": "",
}
_COMPOSITE = re.compile(r"[\[<|?]| or |^nullable ", re.IGNORECASE)
_LONGEST_TYPE = 300
_KEPT = 4_096
_BRACKETS = str.maketrans("<>", "[]")
_SPELLINGS = (
    (re.compile(r"\[class '([\w.]+)'\]"), r"\1"),
    (re.compile(r"\?\s*(.+)|(.+?)\s*\?|nullable (.+)", re.IGNORECASE), r"Optional[\1\2\3]"),
    (re.compile(r"([\w.]+)\[\]"), r"array[\1]"),
    (re.compile(r"(.+), or (.+)"), r"\1 or \2"),
)
"""Ways in which people and other languages write types, each with its form in Python."""
_INJECTED = ("self", "cls", "cancellation_token")
"""Arguments that the framework supplies, and not the model."""
_ABOUT = re.compile(r"^[ \t]*(\w+)[ \t]*(?:\([^()\n]*\))?:[ \t]*(\S.*)$", re.MULTILINE)
"""Matches the line of a docstring that describes an argument."""
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@lru_cache(_KEPT)
def schema_of_words(words: str) -> JsonObject | None:
    """A schema for a type such as ``Optional[List[int]]`` or *string or null*.

    ``None`` for words that are not a type.
    """
    text = words.strip()
    if (kind := JSON_TYPES.get(text.lower())) is not None:
        return {"type": kind} if kind else {}
    if len(text) > _LONGEST_TYPE or _COMPOSITE.search(text) is None:
        return None
    text = text.translate(_BRACKETS)
    for spelling, python in _SPELLINGS:
        text = re.sub(rf"^{spelling.pattern}$", python, text, flags=spelling.flags)
    node = parsed_python(text)
    return None if node is None else _of_annotation(node)


def declared_in_source(source: str, name: str) -> JsonObject:
    """The description and parameters of the function with this name, or the values that a tool's
    class sets.

    Empty if the source has neither.
    """
    tree = parsed_python(source, "exec")
    nodes = tree.body if isinstance(tree, ast.Module) else []
    functions = [one for one in nodes if isinstance(one, _Function)]
    for function in functions:
        if function.name == name or len(functions) == 1:
            description = (ast.get_docstring(function) or "").partition("\n\n")[0]
            return {"description": description, "parameters": _parameters(function)}
    classes = [one for one in nodes if isinstance(one, ast.ClassDef)]
    return _set_values(classes[0].body) if len(classes) == 1 else {}


def _of_annotation(node: ast.expr) -> JsonObject | None:
    """The schema for an annotation; ``None`` if it is not a type, empty if it allows any value."""
    if isinstance(node, ast.Constant):
        value = node.value
        return {"type": "null"} if value is None else _of_text(value)
    if isinstance(node, (ast.Name, ast.Attribute)):
        kind = JSON_TYPES.get(_head(node))
        return None if kind is None else {"type": kind} if kind else {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([node.left, node.right])
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return _union(node.values)
    return _of_subscript(node) if isinstance(node, ast.Subscript) else None


def _of_text(value: object) -> JsonObject | None:
    return schema_of_words(value) if isinstance(value, str) else None


def _of_subscript(node: ast.Subscript) -> JsonObject | None:
    head = _head(node.value)
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if head == "optional":
        return _union([*inner, ast.Constant(None)])
    if head == "union":
        return _union(inner)
    if head == "literal":
        values = [one.value for one in inner if isinstance(one, ast.Constant)]
        kinds = [JSON_TYPES.get(type(value).__name__.lower(), "") for value in values]
        return {"type": kinds[0], "enum": values} if len({*kinds}) == 1 else {"enum": values}
    if head == "annotated":
        return _of_annotation(inner[0])
    kind, last = JSON_TYPES.get(head), _of_annotation(inner[-1])
    if kind not in ("array", "object"):
        return {"type": kind} if kind else None
    return {
        "type": kind,
        **({"items" if kind == "array" else "additionalProperties": last} if last else {}),
    }


def _union(nodes: Sequence[ast.expr]) -> JsonObject | None:
    """A schema for a union of types; null is added to the other types as one more type."""
    schemas = [schema or {} for schema in map(_of_annotation, nodes)]
    null: JsonObject = {"type": "null"}
    others = [schema for schema in schemas if schema != null]
    if {} in others:
        return {}
    if all(schema.keys() == {"type"} for schema in schemas):
        kinds = [schema["type"] for schema in schemas]
        flat = [word for kind in kinds for word in (kind if isinstance(kind, list) else [kind])]
        return {"type": [*dict.fromkeys(flat)]}
    if len(others) > 1 or "enum" in others[0]:
        return {"anyOf": schemas}
    return {**others[0], "type": [others[0]["type"], "null"]}


def _head(node: ast.expr) -> str:
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return str(name).lower()


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> JsonObject:
    given = function.args
    arguments = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(arguments) - len(given.defaults)) + [*given.defaults]
    pairs = [*zip(arguments, defaults, strict=True)]
    pairs += zip(given.kwonlyargs, given.kw_defaults, strict=True)
    pairs = [pair for pair in pairs if pair[0].arg not in _INJECTED]
    about = dict(_ABOUT.findall(ast.get_docstring(function) or ""))
    return {
        "type": "object",
        "properties": {
            one.arg: _parameter(one, default, about.get(one.arg)) for one, default in pairs
        },
        "required": [one.arg for one, default in pairs if default is None],
    }


def _parameter(argument: ast.arg, default: ast.expr | None, about: str | None) -> JsonObject:
    """The schema of an argument, with a description from its annotation or from the docstring."""
    texts: list[Any] = [about]
    annotation = argument.annotation
    if isinstance(annotation, ast.Subscript) and _head(annotation.value) == "annotated":
        values = (one.value for one in ast.walk(annotation) if isinstance(one, ast.Constant))
        texts = [*values, *texts]
    description = next((text for text in texts if isinstance(text, str)), "")
    schema = _of_annotation(annotation) if annotation else None
    value = _literal(default)
    return {
        **(schema or {}),
        **({"description": description} if description else {}),
        **({} if value is None else {"default": value}),
    }


def _set_values(body: Sequence[ast.stmt]) -> JsonObject:
    assigned = (one for one in body if isinstance(one, (ast.Assign, ast.AnnAssign)))
    names = (
        (one.targets[0] if isinstance(one, ast.Assign) else one.target, one.value)
        for one in assigned
    )
    values = {name.id: _literal(value) for name, value in names if isinstance(name, ast.Name)}
    return {name: value for name, value in values.items() if value is not None}


def _literal(node: ast.expr | None) -> Any:
    """The value of a literal; ``None`` for anything else."""
    try:
        return None if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None

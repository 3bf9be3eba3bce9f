"""Checks whether clients accept an edited document."""

import re
from typing import Any

import jsonschema_rs

from toolscope_core.model.cluster import Document

NAME_RULE = r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"
"""Names that MCP and most clients accept: 1 to 64 characters (the specifications allow 128)."""
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def document_problems(
    document: Document, before: Document, outside: frozenset[str]
) -> tuple[str, ...]:
    """Sentences about the problems of a document; empty if there are none.

    ``before`` is the document before the edit; the name in it is always allowed. ``outside`` are
    the names of tools outside the cluster.
    """
    problems = []
    if document.name != before.name:
        if not re.fullmatch(NAME_RULE, document.name):
            problems.append(
                f"the name is {document.name!r}; use 1 to 64 letters, digits, _ . - and start "
                "with a letter or _"
            )
        if document.name in outside:
            problems.append(f"the name `{document.name}` belongs to another tool; choose another")
    if not document.description.strip():
        problems.append("the description is empty; say in one sentence what the tool does")
    if document.schema is not None:
        problems += _schema_problems(dict(document.schema))
    return tuple(problems)


def _schema_problems(schema: dict[str, Any]) -> list[str]:
    if schema.get("type") != "object":
        return ["the parameters are not a JSON Schema of an object; keep `type: object` at the top"]
    try:
        jsonschema_rs.meta.validate({**schema, "$schema": _DRAFT})
    except jsonschema_rs.ValidationError as error:
        place = "/".join(str(part) for part in error.instance_path) or "the top"
        return [f"the parameters are not valid JSON Schema: at {place}, {error.message}"]
    properties, required = schema.get("properties") or {}, schema.get("required") or ()
    odd = [name for name, sub in properties.items() if not isinstance(sub, dict)]
    if odd:
        return [f"`{odd[0]}` is declared as {properties[odd[0]]!r}; use a JSON Schema object"]
    missing = [name for name in required if name not in properties]
    return [
        f"`{name}` is required but not declared; declare it, or make it optional"
        for name in missing
    ]

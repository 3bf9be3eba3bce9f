"""Recognises documents that people mistake for a list of tools, and says what to export instead."""

from collections.abc import Callable
from typing import Any

from toolscope_core.catalog.formats.record_format import value_at
from toolscope_core.catalog.schema.walking import object_at
from toolscope_core.model.tool import JsonObject


def what_it_is(value: Any) -> str:
    """Says what kind of document without tools this is, and what to use instead.

    Empty if the kind is not recognised.
    """
    if isinstance(value, dict):
        for title, fits, remedy in _KINDS:
            if fits(value):
                return f"is {title}, which lists no tools; {remedy}"
    return ""


def _text(value: JsonObject, *path: str) -> str:
    part = value_at(value, path)
    return part if isinstance(part, str) else ""


def _has(**kinds: type) -> Callable[[JsonObject], bool]:
    """A test of whether an object has all these keys with values of the given types."""
    return lambda value: all(isinstance(value.get(key), kind) for key, kind in kinds.items())


_ASK_THE_SERVER = "connect to its server, or use its tools/list answer"
_KINDS: tuple[tuple[str, Callable[[JsonObject], bool], str], ...] = (
    (
        "a Postman collection",
        lambda value: (
            isinstance(value.get("item"), list)
            and (
                "postman" in _text(value, "info", "schema")
                or "_postman_id" in object_at(value, "info")
            )
        ),
        "export the API as OpenAPI, from Postman or with postman-to-openapi",
    ),
    (
        "an Insomnia export",
        lambda value: value.get("_type") == "export" and isinstance(value.get("resources"), list),
        "export the API as OpenAPI",
    ),
    (
        "an Arazzo description of workflows",
        _has(arazzo=str),
        "use the OpenAPI documents that its sourceDescriptions name",
    ),
    (
        "an AsyncAPI document of messages",
        _has(asyncapi=str),
        "use an OpenAPI document, or the tools/list of a server that wraps it",
    ),
    ("a GraphQL schema", _has(__schema=dict), "use the tools of a server that wraps it"),
    (
        "a list of Google's APIs",
        lambda value: value.get("kind") == "discovery#directoryList",
        "use the discovery document at an item's discoveryRestUrl",
    ),
    (
        "a server.json of the MCP registry",
        lambda value: (
            "tools" not in value
            and isinstance(value.get("name"), str)
            and any(isinstance(value.get(key), list) for key in ("packages", "remotes"))
            and ("modelcontextprotocol" in _text(value, "$schema") or "version" in value)
        ),
        _ASK_THE_SERVER,
    ),
    (
        "a manifest of a ChatGPT plugin",
        _has(name_for_model=str, api=dict),
        "use the OpenAPI document at its api.url",
    ),
    (
        "an agent card (A2A)",
        lambda value: (
            isinstance(value.get("skills"), list)
            and isinstance(value.get("capabilities"), dict)
            and "tools" not in value
        ),
        "skills list no parameters; use the tools that the agent calls",
    ),
    (
        "an n8n workflow",
        _has(nodes=list, connections=dict),
        "use the tools/list answer of its MCP Server Trigger",
    ),
    (
        "a recording of HTTP traffic (HAR)",
        lambda value: isinstance(value.get("log"), dict) and "entries" in value["log"],
        "use an OpenAPI document of the API",
    ),
    (
        "the package.json of a program",
        lambda value: (
            _has(name=str, version=str)(value)
            and any(isinstance(value.get(key), dict) for key in ("dependencies", "devDependencies"))
        ),
        _ASK_THE_SERVER,
    ),
)
"""The kinds of documents: a name for each, how to recognise it, and what to use instead."""

"""An OpenAPI 3.0 / 3.1 document as an MCP ``tools/list`` page: one operation, one tool.

Names follow FastMCP, which people already use. Where an argument goes in HTTP, and which hints
were inferred from the method, stands under ``_meta``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from toolscope_core.catalog.flaws import Flaw
from toolscope_core.catalog.formats.operations import read_operations
from toolscope_core.catalog.schema.budget import ExpansionBudget
from toolscope_core.catalog.schema.definitions import Definitions
from toolscope_core.catalog.source_words import OPENAPI_META, operation_of
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import JsonObject, Tool

FIELDS = frozenset(
    "openapi swagger $self info servers paths webhooks components security tags externalDocs "
    "jsonSchemaDialect host basePath schemes consumes produces definitions parameters responses "
    "securityDefinitions".split()
)
"""The keys that the specification defines at the top of a document."""
SCHEMAS = ("inputSchema", "outputSchema")


def is_openapi(value: object) -> bool:
    """Whether a document says that it is OpenAPI or Swagger, and has paths or webhooks."""
    if not isinstance(value, dict) or not ("openapi" in value or "swagger" in value):
        return False
    if isinstance(value.get("paths"), dict):
        return True
    return bool({"paths", "webhooks"} & value.keys() and re.match(r"[23]\.", _version(value)))


def read_openapi(document: JsonObject, budget: ExpansionBudget) -> JsonObject | Flaw:
    """``{"server", "description", "paths"}`` with an MCP tool for each operation, in order.

    An operation that cannot be read is a ``Flaw`` in its place; the whole is one for anything but
    OpenAPI 3.
    """
    version = _version(document)
    if not version.startswith("3."):
        return Flaw(f"is OpenAPI (Swagger) {version[:20]}; convert it to OpenAPI 3 first")
    info = document.get("info")
    about = info if isinstance(info, dict) else {}
    texts = {"server": about.get("title"), "description": about.get("description")}
    tools = _named_apart(_on_their_own(read_operations(document, budget), document, budget))
    return {**{key: text for key, text in texts.items() if isinstance(text, str)}, "paths": tools}


def _on_their_own(
    tools: Sequence[JsonObject | Flaw], document: JsonObject, budget: ExpansionBudget
) -> Iterator[JsonObject | Flaw]:
    """The tools with what their schemas refer to in the document beside these."""
    placed = [
        (row, key)
        for row, tool in enumerate(tools)
        if isinstance(tool, dict)
        for key in SCHEMAS
        if key in tool
    ]
    schemas = [tool[key] for row, key in placed if isinstance(tool := tools[row], dict)]
    carried = dict(zip(placed, Definitions(document, budget).carry(schemas), strict=True))
    for row, tool in enumerate(tools):
        own = {key: carried[row, key] for key in SCHEMAS if (row, key) in carried}
        outside = next((schema for schema in own.values() if isinstance(schema, ValueError)), None)
        if isinstance(tool, Flaw) or outside is None:
            yield tool if isinstance(tool, Flaw) else {**tool, **own}
        else:
            meta = tool["_meta"][OPENAPI_META]
            yield Flaw(f"({meta['method']} {meta['path']}) {outside}")


def _named_apart(tools: Iterable[JsonObject | Flaw]) -> list[JsonObject | Flaw]:
    used: Counter[str] = Counter()
    apart: list[JsonObject | Flaw] = []
    for tool in tools:
        if isinstance(tool, dict):
            used[tool["name"]] += 1
            again = f"_{used[tool['name']]}" if used[tool["name"]] > 1 else ""
            apart.append({**tool, "name": f"{tool['name']}{again}"})
        else:
            apart.append(tool)
    return apart


def find_inferred(tool: Tool) -> tuple[Finding, ...]:
    """An *info* finding that names the hints which were inferred from the HTTP method."""
    http = operation_of(tool) or {}
    hints = http.get("inferred")
    if not isinstance(hints, list) or not hints:
        return ()
    names = ", ".join(str(hint) for hint in hints)
    message = f"{names} is guessed from the method {http.get('method')!s}; check it."
    return (Finding(tool.id, "info", "inferred-hint", "annotations", message),)


def _version(document: JsonObject) -> str:
    return str(document.get("openapi") or document.get("swagger"))

"""Catalogs out of JSON values, for tests that write a document by hand."""

import json

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source


def read_json(value, label="x.json", forced=None):
    """The catalog of one document."""
    return read_catalog([Source(label, json.dumps(value).encode())], forced)


def read_schemas(*schemas):
    """The catalog of an MCP list with a tool for each schema of parameters."""
    tools = [
        {"name": f"t{row}", "description": "Does it.", "inputSchema": schema}
        for row, schema in enumerate(schemas)
    ]
    return read_json({"tools": tools})


def read_openapi(paths, **more):
    """The catalog of an OpenAPI document with these paths."""
    return read_json({"openapi": "3.1.0", "info": {"title": "S"}, "paths": paths, **more})

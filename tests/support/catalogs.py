"""Catalogs out of JSON values, for tests that write a document by hand."""

import json
from pathlib import Path

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source, load_paths
from toolscope_core.evaluation.query_sets import example_path
from toolscope_core.model.plan import MergedTool

DATA = Path(__file__).parents[1] / "data"


def json_source(label, value):
    return Source(label, json.dumps(value).encode())


def read_json(value, label="x.json", forced=None):
    """The catalog of one document."""
    return read_catalog([json_source(label, value)], forced)


def read_text(text, label="t.json"):
    """The catalog of one file with this text, or these bytes."""
    return read_catalog([Source(label, text.encode() if isinstance(text, str) else text)])


def read_data(name):
    """The catalog of a file of the tests."""
    return read_catalog(load_paths([DATA / name]))


def example_catalog():
    return read_catalog(load_paths([example_path()]))


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


def answer(schema):
    """What an operation of OpenAPI takes or gives as JSON of this schema."""
    return {"content": {"application/json": {"schema": schema}}}


def operation_tool(operation, **document):
    """The tool of the one operation of an OpenAPI document."""
    paths = {"/x": {"post": {"operationId": "do", **operation}}}
    (tool,) = read_openapi(paths, **document).tools
    return tool


def component(name):
    """A reference to a schema of an OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def accepting(**properties):
    """The schema of an object with these properties."""
    return {"type": "object", "properties": properties}


def unmerged(tools):
    """Tools as a plan has them that merges none."""
    return [MergedTool(tool, (tool.id,)) for tool in tools]

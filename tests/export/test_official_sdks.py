"""What leaves is valid for the official SDKs. Those that are not installed are skipped, and said.

pip install --target DIR anthropic google-genai; npm install @modelcontextprotocol/sdk
PYTHONPATH=DIR NODE_SDKS=node_modules python -m pytest -m nightly tests/export/test_official_sdks.py
"""

import copy
import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from tests.catalog.test_writers import CATALOGS
from toolscope_core.catalog.formats.foreign_formats import is_strict
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.evaluation.query_sets import example_path
from toolscope_core.export.checked_plan import checked_plan, toolsets
from toolscope_core.export.namespaces import described_servers, in_namespaces
from toolscope_core.merging.clusters import apply_clusters

pytestmark = pytest.mark.nightly
MORE = os.environ.get("TOOLSCOPE_DATA", "")
WHOLE = [path for name in ("servers.json", "tools.jsonl") for path in Path(MORE).glob(f"*/{name}")]
FILES = [*CATALOGS, example_path(), *(sorted(WHOLE) if MORE else ())]


@cache
def read(path):
    return read_catalog(load_paths([path]))


def written(path, format):
    """The parts of a toolset as they leave with every fix, what is still refused left out; then as
    they leave it to a search.
    """
    catalog = read(path)
    plan = checked_plan(apply_clusters(catalog, (), gateway=False), format, True, True)
    for part in toolsets(plan, format, True):
        yield write_toolset(part, (), format, sendable=True)
        spaces = described_servers(catalog.servers, (item.tool for item in part), {})
        moved = in_namespaces(part, spaces) if format == "openai-responses" else (part, ())
        yield write_toolset(*moved, format, sendable=True, eager={part[0].tool.id})


def records(document):
    if isinstance(document, list):
        return [record for entry in document for record in records(entry)]
    return records(document["tools"]) if "tools" in document else [document]


@pytest.fixture(params=FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def catalog_file(request):
    if not read(request.param).tools:
        pytest.skip("it names servers and no tools")
    return request.param


def test_openai(catalog_file):
    chat = pytest.importorskip("openai.types.chat")
    responses = pytest.importorskip("openai.types.responses")
    tool = TypeAdapter(chat.ChatCompletionFunctionToolParam)
    for part in written(catalog_file, "openai-chat"):
        for record in part:
            tool.validate_python(record)
            parameters = record["function"].get("parameters", {"properties": {}})
            assert "properties" in parameters
    own = TypeAdapter(responses.ToolParam)
    for part in written(catalog_file, "openai-responses"):
        for record in part:
            own.validate_python(record)


@pytest.mark.parametrize(
    "inner", [{"type": "object", "properties": {"b": {"type": "string"}}}, {"$ref": "#/$defs/x"}]
)
def test_what_openais_own_function_makes_strict_is_strict(inner):
    own = pytest.importorskip("openai.lib._pydantic")
    schema = {
        "type": "object",
        "properties": {"a": inner},
        "$defs": {"x": {"type": "object", "properties": {"c": {"type": "string"}}}},
    }
    assert not is_strict(schema)
    assert is_strict(own._ensure_strict_json_schema(copy.deepcopy(schema), path=(), root=schema))


def test_anthropic(catalog_file):
    types = pytest.importorskip("anthropic.types")
    tool = TypeAdapter(types.ToolUnionParam)
    for part in written(catalog_file, "anthropic"):
        for record in part:
            tool.validate_python(record)


def test_google(catalog_file):
    types = pytest.importorskip("google.genai.types")
    for part in written(catalog_file, "gemini"):
        types.Tool.model_validate(part)


def test_mcp_in_python(catalog_file):
    types = pytest.importorskip("mcp.types")
    for part in written(catalog_file, "mcp"):
        types.ListToolsResult.model_validate({"tools": records(part)})


def test_mcp_in_typescript(catalog_file):
    modules = os.environ.get("NODE_SDKS")
    if not modules or not shutil.which("node"):
        pytest.skip("NODE_SDKS names no node_modules with @modelcontextprotocol/sdk")
    script = Path(__file__).with_name("read_tools.mjs")
    for part in written(catalog_file, "mcp"):
        tools = records(part)
        command = ["node", str(script), str(Path(modules).resolve())]
        given = json.dumps(tools)
        done = subprocess.run(command, input=given, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, str(len(tools))), done.stderr[-800:]

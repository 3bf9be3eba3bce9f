"""Odd tools through a gateway to clients of the official SDKs for TypeScript; each night."""

import json
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.mcp.gateway.npm_packages import install
from tests.mcp.gateway.stub_toolset import merge_nothing, record
from tests.mcp.gateway.test_odd_tools import GARDEN, LAB
from tests.mcp.gateway.test_serving import TOKEN, command, served_over_http
from tests.support.catalogs import accepting

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[3]
SDK, CLIENT = "@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"
IMPORTS = {
    "first": (
        "@modelcontextprotocol/sdk/client/index.js",
        "@modelcontextprotocol/sdk/client/stdio.js",
        "@modelcontextprotocol/sdk/client/streamableHttp.js",
    ),
    "second": (
        "@modelcontextprotocol/client",
        "@modelcontextprotocol/client/stdio",
        "@modelcontextprotocol/client",
    ),
}
SCRIPT = """
import {{ Client }} from '{0}';
import {{ StdioClientTransport }} from '{1}';
import {{ StreamableHTTPClientTransport }} from '{2}';
const [command, ...args] = process.argv.slice(2);
const client = new Client({{ name: 'night', version: '1' }}, {{}});
const requestInit = {{ headers: {{ Authorization: `Bearer ${{args[0]}}` }} }};
await client.connect(
  command.startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(command), {{ requestInit }})
    : new StdioClientTransport({{ command, args, env: process.env }}),
);
const {{ tools }} = await client.listTools();
const errors = {{}}, act = 'structured';
for (const tool of tools) {{
  const result = await client.callTool({{ name: tool.name, arguments: {{ act }} }}).catch(String);
  if (typeof result === 'string' || result.isError) errors[tool.name] = result;
}}
console.log(JSON.stringify({{ names: tools.map((tool) => tool.name).sort(), errors }}));
await client.close();
"""
TEXT = {"type": "string"}
RESULTS = {
    "no_type": {"properties": {"a": TEXT}},
    "array": {"type": "array"},
    "null_too": {"type": ["object", "null"]},
    "boolean": accepting(a=True),
    "dead": accepting(a={"$ref": "#/$defs/no"}),
    "outside": accepting(a={"$ref": "https://x.test/a.json"}),
    "circle": accepting(a={"$ref": "#/properties/a"}),
    "draft4": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "https://x.test/a",
        **accepting(a={"type": "number", "minimum": 1, "exclusiveMinimum": True}),
    },
    "own_dialect": {"$schema": "https://x.test/schema", "type": "object"},
    "python": {"type": "object", "properties": {"a": {"pattern": r"(?P<x>a)\Z"}}},
    "keys": {"type": "object", "patternProperties": {r"\Aa": TEXT}, "additionalProperties": False},
    "no_value": {"type": "object", "properties": {"a": {"enum": []}, "b": {"nullable": True}}},
    "anchors": accepting(a={"$anchor": "n", **TEXT}, b={"$anchor": "n"}),
    "id_1": {"$id": "https://x.test/b", "type": "object", "required": ["never"]},
    "id_2": {"$id": "https://x.test/b", "type": "object", "required": []},
}
"""``id_1`` asks for what no result of the stub has, and so would ``id_2`` under the same id."""
BESIDE = {
    "title": 5,
    "description": None,
    "annotations": {"readOnlyHint": "yes"},
    "icons": [{"src": 5}],
    "execution": {"taskSupport": "maybe"},
    "_meta": [],
    "outputSchema": "text",
}


def odd_tools():
    results = [
        {**record(f"gives_{name}", f"Gives {name}."), "outputSchema": schema}
        for name, schema in RESULTS.items()
    ]
    beside = [
        {**record(f"has_{name}", f"Has an odd {name}."), name: value}
        for name, value in BESIDE.items()
    ]
    return [*LAB, *results, *beside]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The folder with node and both clients."""
    place = tmp_path_factory.mktemp("clients")
    install(place, SDK, CLIENT)
    return place


def answer_of(packages, client, target):
    """What the script of a client says of a gateway."""
    script = packages / f"{client}.mjs"
    script.write_text(SCRIPT.format(*IMPORTS[client]))
    node = packages / "node_modules" / ".bin" / "node"
    done = subprocess.run(
        [str(node), str(script), *target],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", ["stdio", "http"])
@pytest.mark.parametrize("client", IMPORTS)
def test_a_client_reads_all_that_can_be_read_and_calls_it(packages, client, way, tmp_path):
    bundle, config = merge_nothing(tmp_path, {"garden": GARDEN, "lab": odd_tools()})
    with ExitStack() as stack:
        target = command(bundle, config)
        if way == "http":
            url, _ = stack.enter_context(served_over_http(bundle, config))
            target = [url, TOKEN]
        answer = answer_of(packages, client, target)
    names = {tool["name"] for tool in (*GARDEN, *odd_tools())} - {"route"}
    assert set(answer["names"]) == names
    assert set(answer["errors"]) == {"gives_id_1"}

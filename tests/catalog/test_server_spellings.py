"""Every client's spelling of its servers is read alike, and no value leaves the configuration."""

import json

import pytest

from tests.support.catalogs import DATA, read_data, read_json, read_text
from toolscope_core.catalog.clients.configurations import (
    as_usual,
    configured_servers,
    server_entries,
)
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source, load_paths
from toolscope_core.mcp.servers.configured_servers import read_configuration
from toolscope_core.mcp.servers.server_definitions import NamedValue
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import CatalogError, ConfigError

CODEX = """
model = "m"
[mcp_servers.barn]
command = "npx"
args = ["-y", "barn-mcp"]
env = { KEY = "sk-literal-1" }
[mcp_servers.well]
url = "https://well.example/mcp"
bearer_token_env_var = "WELL"
env_http_headers = { "X-Farm" = "FARM" }
"""
CONTINUE = """
name: farm
version: 0.0.1
schema: v1
mcpServers:
  - name: barn
    command: npx
    args: [-y, barn-mcp]
    env: {KEY: sk-literal-1}
  - name: well
    type: streamable-http
    url: https://well.example/mcp
    requestOptions: {headers: {Authorization: "Bearer ${WELL}", X-Farm: "${FARM}"}}
"""
GOOSE = """
extensions:
  developer: {type: builtin, enabled: true}
  barn: {type: stdio, cmd: npx, args: [-y, barn-mcp], envs: {KEY: sk-literal-1}}
  well:
    type: streamable_http
    uri: https://well.example/mcp
    headers: {Authorization: "Bearer $WELL", X-Farm: $FARM}
"""
FAR = {
    "url": "https://well.example/mcp",
    "headers": {"Authorization": "Bearer $WELL", "X-Farm": "$FARM"},
}
NEAR = {"command": "npx", "args": ["-y", "barn-mcp"], "env": {"KEY": "sk-literal-1"}}
OPENCODE = {"mcp": {
    "barn": {"type": "local", "command": ["npx", "-y", "barn-mcp"], "environment": NEAR["env"]},
    "well": {"type": "remote", "url": FAR["url"],
             "headers": {"Authorization": "Bearer {env:WELL}", "X-Farm": "{env:FARM}"}},
}}  # fmt: skip
ZED = {"context_servers": {"barn": {"command": {"path": "npx", **{k: NEAR[k] for k in ("args", "env")}}},
                           "well": {"source": "custom", **FAR}}}  # fmt: skip
AMP = {"amp.mcpServers": {"barn": NEAR, "well": FAR}}
PLUGIN = {"name": "farm", "mcpServers": {"barn": NEAR, "well": {**FAR, "trust": True}}}
FILES = {
    "config.toml": CODEX, "continue.yaml": CONTINUE, "goose.yaml": GOOSE,
    "opencode.json": OPENCODE, "zed.json": ZED, "amp.json": AMP,
    "plugin.json": PLUGIN,
}  # fmt: skip


def text_of(name):
    return FILES[name] if isinstance(FILES[name], str) else json.dumps(FILES[name])


@pytest.mark.parametrize("name", FILES)
def test_servers_are_started_and_reached_alike(name):
    barn, well = sorted(
        read_configuration(name, text_of(name).encode()).servers, key=lambda s: s.name
    )
    assert (barn.name, barn.command_line) == ("barn", "npx -y barn-mcp")
    assert barn.variables == (NamedValue("KEY"),)
    assert (well.name, well.url) == ("well", "https://well.example/mcp")
    assert well.headers == (
        NamedValue("Authorization", "Bearer ${WELL}"),
        NamedValue("X-Farm", "${FARM}"),
    )


@pytest.mark.parametrize(
    ("file", "names"),
    [
        *((name, ["barn", "well"]) for name in FILES),
        ("claude_desktop_config.json", ["granary", "weather-vane"]),
        ("vscode_mcp.json", ["granary", "vane"]),
        ("vscode_settings.json", ["granary"]),
        ("cursor_mcp.json", ["granary", "vane"]),
        ("gemini_settings.json", ["vane"]),
    ],
)
def test_a_file_names_its_servers_and_keeps_no_value(file, names):
    catalog = read_text(text_of(file), file) if file in FILES else read_data(f"documents/{file}")
    assert catalog.tools == ()
    assert [server.name for server in catalog.servers] == names
    positions = [problem.position for problem in catalog.problems]
    assert positions == [f"{file}: server {name}" for name in names]
    assert {"tools/list" in problem.reason for problem in catalog.problems} == {True}
    assert catalog.files[0].format == "mcp-client"
    kept = repr(catalog)
    assert not [one for one in ("sk-literal", "not-a-real", "granary-server") if one in kept]


def test_a_bundle_for_desktops_names_its_server_beside_its_tools():
    server = {"type": "node", "mcp_config": NEAR}
    manifest = {"manifest_version": "0.3", "name": "barn", "server": server}
    assert configured_servers(manifest) == ("barn",)
    assert server_entries(manifest)[""].entries["barn"]["args"] == NEAR["args"]


@pytest.mark.parametrize(
    "value",
    [5, {"mcp": 5}, {"mcp": {"servers": {}}}, {"mcpServers": [{"command": "x"}]},
     {"servers": {"a": {"description": "x"}}}, {"mcpServers": {"a": {"command": "x"}}, "tools": []},
     {"extensions": {"a": {"type": "builtin"}}},
     {"extensions": ["a"]}, {"context_servers": {"a": {"settings": {}}}}, {"mcp_servers": {}}],
)  # fmt: skip
def test_what_names_no_server_stays_as_it_is(value):
    assert as_usual(value) is value and configured_servers(value) == ()


@pytest.mark.parametrize(
    ("value", "odd"),
    [
        ({"mcpServers": {"barn": NEAR, "off": {"disabled": True}, "sse": {"type": "sse"}}}, "off sse"),
        ({"mcpServers": {"barn": NEAR, "sock": {"type": "ws", "url": "wss://a"}, "five": 5}}, "sock five"),
        ({"mcpServers": {"barn": NEAR, "text": {"command": "x", "args": "-y a"}}}, "text"),
        ({"context_servers": {"barn": NEAR, "ctx": {"source": "extension", "settings": {}}}}, "ctx"),
        ({"extensions": {"barn": NEAR, "memory": {"type": "builtin"}}}, "memory"),
        ({"mcp": {"barn": NEAR, "off": {"enabled": False}}}, "off"),
        ({"mcpServers": [{"name": "barn", **NEAR}, {"command": 5}]}, "entry 2"),
        ({"$schema": "x", "barn": NEAR}, ""),
    ],
)  # fmt: skip
def test_an_odd_entry_is_named_and_hides_no_other(value, odd):
    listing = server_entries(value)[""]
    (barn,) = listing.entries.values()
    assert {key: barn[key] for key in NEAR} == NEAR
    assert " ".join(listing.odd) == odd and all(listing.odd.values())


@pytest.mark.parametrize(
    ("entry", "key", "values"),
    [
        ({"env_vars": ["A", {"name": "B"}, 5], "env": {"C": "c"}}, "env", {"A": "${A}", "B": "${B}", "C": "c"}),
        ({"env_keys": ["A", "B"], "envs": {"A": "own"}}, "env", {"A": "own", "B": "${B}"}),
        ({"url": "https://x", "authorization_token": "t"}, "headers", {"Authorization": "Bearer t"}),
    ],
)  # fmt: skip
def test_variables_and_tokens_of_other_spellings_reach_the_server(entry, key, values):
    (usual,) = server_entries({"mcpServers": {"a": {"command": "x", **entry}}})[""].entries.values()
    assert usual[key] == values


def test_text_that_is_no_toml_or_yaml_says_so():
    with pytest.raises(CatalogError, match="is not TOML"):
        read_text("a = ", "config.toml")
    with pytest.raises(ConfigError, match=r"config\.toml.* TOML"):
        read_configuration("config.toml", b"a = ")
    with pytest.raises(ConfigError, match="is not YAML"):
        read_configuration("c.yaml", b"a: [")
    with pytest.raises(ConfigError, match=r"config\.toml.*nan"):
        read_configuration("config.toml", b"a = nan")


def test_a_configuration_beside_the_tools_of_its_server():
    tools = Source("t.json", b'{"server": "granary", "tools": [{"name": "fill"}]}')
    catalog = read_catalog(
        [*load_paths([DATA / "documents" / "claude_desktop_config.json"]), tools]
    )
    assert [tool.id for tool in catalog.tools] == ["granary/fill"]
    assert catalog.servers == (Server("granary"), Server("weather-vane"))


def test_settings_that_hold_a_configuration_and_one_that_is_forced():
    inner = {"mcp": {"servers": {"a\ud800": {"url": "x"}}}}
    assert configured_servers(inner) == ("a\\ud800",)
    with pytest.raises(CatalogError, match="configuration"):
        read_json({"name": "a"}, forced="mcp-client")


@pytest.mark.parametrize(
    ("holder", "title"),
    [
        ({"serverInfo": {"name": "barn", "title": "Barn of Ann"}}, "Barn of Ann"),
        ({"name": "barn", "source": {"server": "Barn of Ann"}}, "Barn of Ann"),
        ({"serverInfo": {"name": "barn", "title": "barn"}}, ""),
        ({"name": "barn", "title": 3}, ""),
    ],
)
def test_the_title_of_a_server_is_read_where_it_is_not_its_name(holder, title):
    tools = [{"name": "ring", "inputSchema": {"type": "object"}}]
    data = json.dumps([{**holder, "tools": tools}]).encode()
    (server,) = read_catalog([Source("a.json", data)]).servers
    assert (server.name, server.title) == ("barn", title)

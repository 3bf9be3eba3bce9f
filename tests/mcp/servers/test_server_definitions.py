"""Servers read from the configurations that clients use: how each is started, and no values."""

import json
import shlex

import pytest

from toolscope_core.mcp.servers.configured_servers import read_configuration
from toolscope_core.mcp.servers.server_definitions import (
    LARGEST,
    NamedValue,
    ServerDefinition,
    configuration_of_url,
)
from toolscope_core.model.errors import ConfigError

SECRETS = ("sk-literal-value-1", "pw-in-args", "user:pass", "querykey")
CLAUDE = {
    "mcpServers": {
        "notes": {
            "command": "npx",
            "args": ["-y", "notes-server", "--api-key", "pw-in-args", "${HOME}/notes"],
            "env": {"TOKEN": "sk-literal-value-1", "REF": "${NOTES_TOKEN}", "A": "${X:-dflt}"},
            "cwd": "/srv",
        },
        "far": {
            "url": "https://user:pass@example.com/mcp?k=querykey",
            "headers": {"Authorization": "Bearer ${FAR_TOKEN}", "X-Key": "sk-literal-value-1"},
        },
    }
}


def read(value, label="mcp.json"):
    return read_configuration(label, json.dumps(value).encode())


def test_servers_are_defined_by_names_not_by_values():
    notes, far = read(CLAUDE).servers
    assert notes == ServerDefinition(
        name="notes",
        transport="stdio",
        command="npx",
        args=("-y", "notes-server", "--api-key", "***", "${HOME}/notes"),
        cwd="/srv",
        variables=(NamedValue("A"), NamedValue("REF", "${NOTES_TOKEN}"), NamedValue("TOKEN")),
        masked=True,
    )
    assert shlex.split(notes.command_line) == [notes.command, *notes.args]
    own, outer = "the configuration", "$NOTES_TOKEN of the environment"
    assert [one.source for one in notes.variables] == [own, outer, own]
    assert far.url == "https://***@example.com/mcp?k=***"
    assert far.host == "example.com"
    assert far.headers == (NamedValue("Authorization", "Bearer ${FAR_TOKEN}"), NamedValue("X-Key"))
    assert (far.transport, far.command_line) == ("http or sse", "")


def test_no_value_is_in_what_is_shown_or_stored_and_definitions_come_back():
    configuration = read(CLAUDE)
    stored = json.dumps([one.as_json() for one in configuration.servers])
    shown = repr(configuration) + stored
    assert not [secret for secret in (*SECRETS, "dflt") if secret in shown]
    assert tuple(map(ServerDefinition.of_json, json.loads(stored))) == configuration.servers


@pytest.mark.parametrize(
    "damage", [{"transport": "telnet"}, {"args": [5]}, {"headers": [[1, 2, 3]]}, {"command": None}]
)
def test_a_damaged_definition_is_refused(damage):
    for value in ({**read(CLAUDE).servers[0].as_json(), **damage}, {}):
        with pytest.raises(ConfigError, match="cannot be read"):
            ServerDefinition.of_json(value)


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"command": "x", "type": "stdio"}, "stdio"),
        ({"type": "http", "url": "http://a/b"}, "http"),
        ({"type": "streamableHttp", "url": "http://a/b"}, "http"),
        ({"transport": "sse", "url": "http://a/b"}, "sse"),
        ({"serverUrl": "http://a/b"}, "http or sse"),
        ({"httpUrl": "http://a/b"}, "http or sse"),
    ],
)
def test_the_way_to_a_server_is_that_of_its_entry(entry, transport):
    assert read({"mcpServers": {"s": entry}}).servers[0].transport == transport


def test_vs_code_writes_comments_and_commas():
    text = b"""{
      // the servers
      "servers": { "a": { "command": "x", "args": ["//no comment", "b,]"], }, },
      "inputs": [], /* none */
    }"""
    (server,) = read_configuration("mcp.json", text).servers
    assert server.args == ("//no comment", "b,]")


def test_claude_code_keeps_servers_below_projects():
    value = {
        "mcpServers": {"a": {"command": "x", "disabled": True}},
        "projects": {"/p": {"mcpServers": {"a": {"command": "y"}, "b": {"command": "z"}}}, "/q": 5},
    }
    servers = [(server.name, server.disabled) for server in read(value).servers]
    assert servers == [("a", True), ("a (p)", False), ("b", False)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[]", "names no MCP server"),
        (b'{"tools": []}', "names no MCP server"),
        (b'{"mcpServers": {"a": {"args": []}}}', "names no MCP server"),
        (b"{", "mcp.json is not JSON: .*, column 2"),
        (b"\xff\xfe\xff", "UTF-8"),
        (b'{"mcpServers": {"a": {"url": "ftp://x"}}}', "the address of server 'a', 'ftp://x'"),
        (b" " * (LARGEST + 1), "20,000,001 bytes"),
        (b"[" * 100_000, "cannot be read as JSON"),
    ],
)
def test_what_is_no_configuration_is_refused_in_words(data, words):
    with pytest.raises(ConfigError, match=words):
        read_configuration("mcp.json", data)


def test_an_address_alone_is_a_server_named_for_its_host():
    configuration = configuration_of_url(" https://tools.example.com/mcp ")
    (server,) = configuration.servers
    assert (server.name, server.url) == ("tools.example.com", "https://tools.example.com/mcp")
    assert configuration.entries.get("tools.example.com") == {
        "url": "https://tools.example.com/mcp"
    }
    with pytest.raises(ConfigError, match="address"):
        configuration_of_url("https://[")

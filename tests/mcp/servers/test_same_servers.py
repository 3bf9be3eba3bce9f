"""Which configured servers are one, what differs between others, and how they are called."""

import json
from dataclasses import replace

import pytest

from toolscope_core.mcp.servers.client_places import Origin
from toolscope_core.mcp.servers.configured_servers import (
    alike_servers,
    configured_parts,
    configured_servers_of,
    read_configurations,
)

SECRET = "sk-one-account-1234567"
NPX = {"command": "npx", "args": ["-y", "ferry-mcp@1.2", "--user", "ann"], "env": {"KEY": SECRET}}
FAR = {"url": "https://Tide.example/mcp/", "headers": {"Authorization": f"Bearer {SECRET}"}}
DOCKER = {"command": "docker", "args": ["run", "-i", "-e", "KEY", "mcp/ferry"]}
HERE = {"command": "node", "args": ["server.js"]}


def servers_of(*entries, name="ferry", same_folder=False):
    """The servers of two clients that configure one entry each."""
    parts = []
    for number, entry in enumerate(entries):
        client = ("Cursor", "VS Code", "Zed")[number]
        folder = "" if same_folder is None else f"/p/{0 if same_folder else number}"
        origin = Origin(f"~/{client}.json", client, folder, folder)
        data = json.dumps({"mcpServers": {name: entry}}).encode()
        parts += configured_parts("mcp.json", data, origin)
    return configured_servers_of(parts)


def with_parts(entry, **parts):
    return {**entry, **parts}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NPX, with_parts(NPX, type="stdio")),
        (NPX, with_parts(NPX, args=NPX["args"][1:])),
        (NPX, with_parts(NPX, command="/opt/bin/npx", env={"KEY": SECRET})),
        (NPX, with_parts(NPX, command="cmd", args=["/c", "npx", *NPX["args"]])),
        (NPX, with_parts(NPX, disabled=True)),
        (with_parts(NPX, env={"KEY": "${KEY}"}), with_parts(NPX, env={"KEY": "${env:KEY}"})),
        (FAR, {"httpUrl": "https://tide.example/mcp", "headers": {"authorization": f"Bearer {SECRET}"}}),
        (FAR, with_parts(FAR, type="sse")),
    ],
)  # fmt: skip
def test_one_server_in_two_clients_is_one(one, other):
    (server,) = servers_of(one, other)
    assert server.name == "ferry"
    assert [use.origin.client for use in server.uses] == ["Cursor", "VS Code"]
    assert server.definition.disabled is bool(one.get("disabled"))


@pytest.mark.parametrize(
    ("one", "other", "differences"),
    [
        (NPX, with_parts(NPX, env={"KEY": "sk-other-account-99"}), ("variable KEY",)),
        (NPX, with_parts(NPX, env={"KEY": SECRET, "ZONE": "x"}), ("variable ZONE",)),
        (NPX, with_parts(NPX, args=[*NPX["args"][:-1], "bob"]), ("argument --user",)),
        (NPX, with_parts(NPX, args=["ferry-mcp@latest", *NPX["args"][2:]]), ("argument 1",)),
        (
            DOCKER,
            with_parts(DOCKER, args=["run", "--rm", "-e", "K2", "mcp/ferry"]),
            ("argument -i", "argument -e", "argument --rm"),
        ),
        (FAR, with_parts(FAR, headers={"Authorization": "Bearer other-9"}), ("header Authorization",)),
        (FAR, with_parts(FAR, url=f"{FAR['url']}?key={SECRET}"), ("query of the address",)),
        (FAR, with_parts(FAR, url="https://ann:pw1234@tide.example/mcp"), ("user of the address",)),
        (HERE, HERE, ("folder",)),
    ],
)  # fmt: skip
def test_another_account_is_another_server_and_no_value_is_said(one, other, differences):
    servers = servers_of(one, other)
    assert [server.name for server in servers] == ["ferry (Cursor, 0)", "ferry (VS Code, 1)"]
    (alike,) = alike_servers(servers)
    assert alike.servers == tuple(server.name for server in servers)
    assert alike.differences == differences
    text = alike.in_words + repr(servers) + repr(alike)
    assert not [
        word for word in (SECRET, "sk-other-account-99", "other-9", "pw1234") if word in text
    ]


def test_a_relative_path_is_one_in_one_folder():
    assert len(servers_of(HERE, HERE, same_folder=True)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["ferry-mcp"], ["tide-mcp"]),
        (["mcp-remote", "https://ferry.example"], ["mcp-remote", "https://tide.example"]),
        (["--directory", "/a", "run", "server.py"], ["--directory", "/b", "run", "server.py"]),
    ],
)
def test_another_program_of_the_same_kind_is_not_alike(one, other):
    (one,), (two,) = (
        servers_of({"command": "npx", "args": args}, name=args[-1]) for args in (one, other)
    )
    two = replace(two, uses=(replace(two.uses[0], name="two"),))
    assert alike_servers((one, two)) == ()


def test_names_that_another_has_carry_client_and_folder_but_for_the_users_own():
    keys = [{**HERE, "env": {"KEY": str(number)}} for number in range(3)]
    own = servers_of(keys[0], same_folder=None)[0].uses[0].origin
    origins = [own, Origin("b", "Zed", "/p/x", "/p/x"), Origin("c", "Zed", "/q/x", "/q/x")]
    parts = [
        part
        for key, origin in zip(keys, origins, strict=True)
        for part in configured_parts("m.json", json.dumps({"a": key, "b": {}}).encode(), origin)
    ]
    names = [server.name for server in configured_servers_of(parts)]
    assert names == ["a", "a (Zed, x)", "a (Zed, /q/x)"]


def test_two_names_in_one_file_stay_two():
    data = json.dumps({"mcpServers": {"a": NPX, "b": NPX}}).encode()
    servers = configured_servers_of(list(configured_parts("m.json", data, Origin("m", "m"))))
    assert [server.name for server in servers] == ["a", "b"]
    (alike,) = alike_servers(servers)
    assert alike.differences == ()


def test_files_of_two_clients_that_share_a_server_are_read_together(tmp_path):
    paths = [tmp_path / "app" / folder / "mcp.json" for folder in (".cursor", ".vscode")]
    other = with_parts(FAR, headers={})
    for path, key, far in zip(paths, ("mcpServers", "servers"), (FAR, other), strict=True):
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({key: {"ferry": NPX, "tide": far}}))
    configuration = read_configurations(list(map(str, paths)))
    names = [server.name for server in configuration.servers]
    assert names == ["ferry", "tide (Cursor, app)", "tide (VS Code, app)"]
    assert configuration.entries.get("ferry")["cwd"] == str(tmp_path / "app")

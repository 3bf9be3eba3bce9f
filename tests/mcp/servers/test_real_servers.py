"""Reference servers of npm and PyPI, read as people would read them; each night."""

import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.connect_speed import LIMIT, seconds_over_the_slowest
from tests.mcp.servers.stubs import MARK, configuration, living, new_mark, wait_until
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.mcp.servers.offers import read_offers
from toolscope_core.model.configuration import ready_within

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1200)]
ROOT = Path(__file__).parents[3]
NPM = ("server-filesystem", "server-memory", "server-everything")
PYPI = ("mcp-server-git", "mcp-server-fetch", "mcp-server-time")
EXPECTED = {  # some tools that each is known for
    "files-a": {"read_text_file", "write_file", "list_directory"},
    "files-b": {"read_text_file", "write_file", "list_directory"},
    "memory": {"create_entities", "search_nodes", "read_graph"},
    "everything": {"echo", "get-sum"},
    "git": {"git_status", "git_log", "git_diff"},
    "fetch": {"fetch"},
    "time": {"get_current_time", "convert_time"},
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The configuration of the servers, installed into a folder of their own."""
    place = tmp_path_factory.mktemp("servers")
    npm = shutil.which("npm")
    assert npm, "Node is needed: apt-get install nodejs npm"
    packages = [f"@modelcontextprotocol/{name}" for name in NPM]
    subprocess.run([npm, "install", "--silent", "--no-audit", *packages], cwd=place, check=True)
    target = place / "python"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(target), *PYPI]
    subprocess.run(pip, check=True)
    for name in ("a", "b", "repository"):
        (place / name).mkdir()
    subprocess.run(["git", "init", "-q", str(place / "repository")], check=True)
    node = place / "node_modules" / ".bin"
    module = {"command": sys.executable, "env": {"PYTHONPATH": str(target)}}
    repository = ["--repository", str(place / "repository")]
    entries = {
        "files-a": {"command": str(node / "mcp-server-filesystem"), "args": [str(place / "a")]},
        "files-b": {"command": str(node / "mcp-server-filesystem"), "args": [str(place / "b")]},
        "memory": {"command": str(node / "mcp-server-memory")},
        "everything": {"command": str(node / "mcp-server-everything")},
        "git": {**module, "args": ["-m", "mcp_server_git", *repository]},
        "fetch": {**module, "args": ["-m", "mcp_server_fetch"]},
        "time": {**module, "args": ["-m", "mcp_server_time"]},
    }
    mark = new_mark()
    for one in entries.values():
        one["env"] = {**one.get("env", {}), MARK: mark}
    config = place / "mcp.json"
    config.write_text(json.dumps({"mcpServers": entries}))
    return config, mark


def connect(config, out, *names):
    asked = [word for name in names for word in ("--server", name)]
    command = [sys.executable, "-m", "toolscope_core", "connect", str(config), "--out", str(out)]
    return subprocess.run(
        [*command, *asked], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )


def test_reference_servers_become_a_catalog(installed, tmp_path):
    config, mark = installed
    done = connect(config, tmp_path / "catalog.json", *EXPECTED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert living(mark) == []
    catalog = read_catalog(load_paths([tmp_path / "catalog.json"]))
    assert catalog.problems == ()
    names = {server: set() for server in EXPECTED}
    for tool in catalog.tools:
        names[tool.server].add(tool.name)
    missing = {server: wanted - names[server] for server, wanted in EXPECTED.items()}
    assert not any(missing.values()), missing
    assert " 7 resources" in done.stdout


NEWEST = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("newest", instructions="Add.")
@server.tool()
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b
@server.resource("file:///one")
def one() -> str:
    return "1"
server.run(TRANSPORT)
"""


@pytest.mark.parametrize("transport", ["stdio", "streamable-http", "sse"])
def test_a_server_of_the_same_sdk_speaks_the_newest_protocol(tmp_path, transport):
    command = [sys.executable, str(tmp_path / "newest.py")]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = "'stdio'" if transport == "stdio" else f"{transport!r}, port={port}"
    (tmp_path / "newest.py").write_text(NEWEST.replace("TRANSPORT", given))
    if transport == "stdio":
        offer = offer_of({"command": command[0], "args": command[1:]})
        assert (offer.title, offer.instructions, offer.others["resource"]) == ("newest", "Add.", 1)
    else:
        with subprocess.Popen(command, stderr=-3) as server:
            wait_until(lambda: reachable(port), 60)
            path = "sse" if transport == "sse" else "mcp"
            offer = offer_of({"url": f"http://127.0.0.1:{port}/{path}"})
            server.terminate()
    assert [tool["name"] for tool in offer.tools] == ["add"], offer.failure
    assert transport == "sse" or offer.protocol >= "2026-07-28"


def reachable(port):
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def offer_of(server):
    config = configuration(s=server)
    (offer,) = read_offers(config.servers, config, os.environ, ready_within(60))
    return offer


def test_many_servers_take_little_longer_than_the_slowest():
    over = min(seconds_over_the_slowest(24, 1.0) for _ in range(3))
    assert over <= LIMIT

"""The official conformance suite against ``serve --http``, before a server that has what its
scenarios ask for, and against the server of ``toolscope mcp``; each night.
"""

import json
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
import uvicorn

from tests.cli.test_cli import run
from tests.mcp.gateway.conformance_stub import records
from tests.mcp.gateway.npm_packages import install
from tests.mcp.gateway.test_serving import ROOT, served_over_http
from toolscope_core.cli.agent_answers import CatalogFiles
from toolscope_core.cli.mcp_command import tools_for_agents
from toolscope_core.mcp.tool_server import tool_server

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
STUB = str(Path(__file__).with_name("conformance_stub.py"))
TASKS = "tasks are an extension, which the SDK's server does not have"
WITHOUT_TOKEN = (
    *(sys.executable, "-c"),
    """
from toolscope_core.mcp.gateway import http_transport
http_transport._with_token = lambda inner, token: inner
from toolscope_core.__main__ import main
main()
""",
)
"""``toolscope`` for the suite, which cannot send a token."""
EXPECTED = {
    "2025-11-25": {
        "server-sse-polling": "pending in the suite itself: streams that can be taken up again need "
        "a store of events, and answers of tools are not kept"
    },
    "2026-07-28": dict.fromkeys(
        (
            f"tasks-{name}"
            for name in (
                *("lifecycle", "capability-negotiation", "wire-fields", "request-state-removal"),
                *("mrtr-input", "request-headers", "dispatch-and-envelope", "required-task-error"),
                "mrtr-composition",
            )
        ),
        TASKS,
    ),
}
"""By revision the scenarios that fail, and why; one that passes is to be taken out."""


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """The command of the suite."""
    place = tmp_path_factory.mktemp("suite")
    node = install(place, SUITE)
    return [
        node,
        place / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist/index.js",
    ]


@pytest.fixture(scope="module")
def fixture_bundle(tmp_path_factory):
    """The bundle and the configuration of the server with what the scenarios need."""
    place = tmp_path_factory.mktemp("fixture")
    catalog, config = place / "catalog.json", place / "mcp.json"
    catalog.write_text(json.dumps([{"server": "fixture", "tools": list(records())}]))
    server = {"command": sys.executable, "args": [STUB], "env": {"PYTHONPATH": str(ROOT)}}
    config.write_text(json.dumps({"mcpServers": {"fixture": server}}))
    run("merge", catalog, "--accept", "none", "--out", place / "bundle")
    return place / "bundle", config


def outcomes(suite, url, revision, folder):
    """The scenarios that a revision requires, those that failed and those that passed; what the
    suite printed.
    """
    command = [*suite, "server", "--url", url, "--requirements", revision, "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    failed, passed = (
        set(re.findall(rf"^{mark} ([\w-]+):", done.stdout, re.MULTILINE)) for mark in "✗✓"
    )
    return failed, passed, done.stdout


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("revision", EXPECTED)
def test_what_a_revision_requires_holds_through_the_gateway(
    suite, fixture_bundle, revision, tmp_path
):
    with served_over_http(*fixture_bundle, program=WITHOUT_TOKEN) as (url, _):
        failed, passed, printed = outcomes(suite, url, revision, tmp_path)
    assert failed == set(EXPECTED[revision]), printed
    assert len(passed) > 30


OF_TOOLS = {
    "2025-11-25": {
        *("server-initialize", "server-session-lifecycle", "ping", "tools-list"),
        *("tools-call-simple-text", "tools-call-error", "server-sse-multiple-streams"),
    },
    "2026-07-28": {
        *("tools-list", "tools-call-simple-text", "tools-call-error", "http-header-validation"),
        *("server-sse-multiple-streams", "input-required-result-unsupported-methods"),
    },
}
"""By revision what is asked of a server that has tools alone, none of them the suite's own."""


@contextmanager
def at_an_address(server):
    """A server of the SDK over HTTP, for a suite that cannot start one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
        http = uvicorn.Server(config)
        thread = Thread(target=http.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            http.should_exit = True
            thread.join()


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("revision", OF_TOOLS)
def test_what_a_revision_requires_of_tools_holds_for_the_server_that_agents_ask(
    suite, revision, tmp_path
):
    tools = tools_for_agents(CatalogFiles((tmp_path,)))
    with at_an_address(tool_server(tools, "", "1")) as url:
        _, passed, printed = outcomes(suite, url, revision, tmp_path)
    assert OF_TOOLS[revision] <= passed, printed

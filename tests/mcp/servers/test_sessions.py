"""Connections that are open for longer than a listing, and servers at an address."""

import asyncio
import json
import logging
import socket
from contextlib import nullcontext
from dataclasses import replace

import mcp_types as types
import pytest
import uvicorn
from mcp import MCPError

from tests.mcp.gateway import conformance_stub
from tests.mcp.servers.stub_http import stub_http
from tests.mcp.servers.stubs import MARK, QUICK, launch, living, new_mark
from toolscope_core.mcp.servers.configured_servers import read_configuration
from toolscope_core.mcp.servers.launches import Launch, read_launch
from toolscope_core.mcp.servers.offers import ServerOffer, read_offer
from toolscope_core.mcp.servers.server_definitions import ServerDefinition
from toolscope_core.mcp.servers.server_failures import stderr_excerpt
from toolscope_core.mcp.servers.server_processes import ProcessRecord
from toolscope_core.mcp.servers.sessions import connected, load_sdk

load_sdk()
KEY = "s3cr3t-value-xyz"
SHORT = replace(QUICK, start_seconds=0.1)


def test_an_error_of_the_caller_stays_what_it_is():
    mark = new_mark()

    async def broken():
        async with connected(launch("good", **{MARK: mark}), QUICK):
            raise KeyError("mine")

    with pytest.raises(KeyError):
        asyncio.run(broken())
    assert living(mark) == []


def offer_at(url: str, limits=QUICK, **entry: object) -> ServerOffer:
    servers = {"far": {"url": url, "headers": {"Authorization": "Bearer ${TOK}"}, **entry}}
    config = read_configuration("c.json", json.dumps({"mcpServers": servers}).encode())
    launched = read_launch(config.servers[0], config.entries.get("far"), {"TOK": KEY})
    offer = asyncio.run(read_offer(launched, limits))
    assert KEY not in repr(offer)
    assert KEY not in repr(launched)
    return offer


@pytest.mark.parametrize(
    ("path", "entry"),
    [("/mcp", {}), ("/mcp", {"type": "http"}), ("/sse", {"type": "sse"}), ("/sse", {})],
)
def test_a_server_at_an_address_is_listed(path, entry):
    """An old one is tried by SSE."""
    with stub_http() as (base, seen):
        offer = offer_at(base + path, **entry)
    assert (offer.failure, [tool["name"] for tool in offer.tools]) == ("", ["far"])
    assert {headers["Authorization"] for _, headers in seen} == {f"Bearer {KEY}"}
    assert (seen[-1][0] == "/messages?session=1") == (path == "/sse")


def test_no_message_or_address_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    with stub_http() as (base, _):
        assert len(offer_at(f"{base}/mcp?key=abcdefgh-123").tools) == 1
    assert "abcdefgh-123" not in caplog.text
    assert "tools/list" not in caplog.text


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        ("/401", "refused", "(401)"),
        ("/404", "missing", "(404)"),
        ("/429", "busy", "is busy; try again later (429)"),
        ("/500", "busy", "(500)"),
        ("/moved", "missing", "'http://127.0.0.1:1/mcp' (307)"),
        ("/html", "missing", "'text/html', not"),
        ("/long", "garbage", "200,000 bytes"),
        ("/gzip", "garbage", "sent a compressed reply"),
        ("/silent", "silent", "within 0.1 s"),
    ],
)
def test_an_address_that_does_not_answer_as_it_should(path, kind, words):
    with stub_http() as (base, _):
        offer = offer_at(base + path, SHORT if path == "/silent" else QUICK)
    assert offer.kind == kind
    assert words in offer.failure


def test_nobody_at_an_address_or_one_that_is_not_secure():
    offer = offer_at("http://127.0.0.1:9/mcp?key=abcdefgh")
    assert offer.kind == "unreachable"
    assert "far: no connection to 127.0.0.1:9: " in offer.failure
    with stub_http() as (base, _):
        offer = offer_at(base.replace("http:", "https:") + "/mcp")
    assert offer.kind == "tls"
    assert "the secure connection to 127.0.0.1:" in offer.failure


def test_whole_lines_since_a_request_began_are_quoted():
    record = ProcessRecord(stderr=bytearray(b"one\ntwo tok"), stderr_bytes=11)
    earlier = replace(record)
    assert record.since(earlier).stderr == b""
    record.stderr += b"en\nthree\n"
    record.stderr_bytes += 9
    assert record.since(earlier).stderr == b"three\n"
    assert record.since(ProcessRecord()).stderr == record.stderr
    record.used_by("a")
    assert record.since(earlier).stderr == b"three\n"
    record.used_by("b")
    record.used_by("b")
    assert record.since(ProcessRecord()).stderr == b""


def test_an_argument_that_belongs_into_a_header_is_there_too():
    """The server refuses a call without it."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = json.dumps(
        {"mcpServers": {"far": {"url": f"http://127.0.0.1:{port_of(listener)}/mcp"}}}
    )
    definition = read_configuration("c.json", config.encode()).servers[0]
    app = conformance_stub.server.streamable_http_app()
    web = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on"))
    web.capture_signals = nullcontext

    async def call():
        async with connected(read_launch(definition, {}, {}), QUICK) as server:
            session, given = server.client.session, {"region": "eu"}
            params = types.CallToolRequestParams(name="test_headers", arguments=given)
            request = types.CallToolRequest(params=params)
            unlisted = await refused(session.send_request(request, types.CallToolResult))
            await server.tools_page(None)
            return unlisted, await refused(session.send_request(request, types.CallToolResult))

    async def run():
        async with asyncio.TaskGroup() as group:
            group.create_task(web.serve(sockets=[listener]))
            codes = await call()
            web.should_exit = True
            return codes

    assert asyncio.run(asyncio.wait_for(run(), 30)) == (types.HEADER_MISMATCH, 0)


def port_of(listener):
    return listener.getsockname()[1]


async def refused(answer):
    """The code of the error that a request ends in."""
    try:
        await answer
    except MCPError as error:
        return error.code
    return 0


@pytest.mark.parametrize(
    ("stderr", "shown"),
    [
        ("one\ntwo\nthree\nfour\n", "two | three | four"),
        ("x\nError: no module 'sqlite'\n  at load\n  at run\n{\n  code: 1\n}\n\nNode.js v20\n",
         "Error: no module 'sqlite' | at load | at run"),
        ("Traceback:\n  File x\nModuleNotFoundError: no y\n", "ModuleNotFoundError: no y"),
    ],
)  # fmt: skip
def test_what_a_server_says_begins_where_it_names_an_error(stderr, shown):
    record = ProcessRecord(stderr=bytearray(stderr.encode()))
    assert stderr_excerpt(Launch(ServerDefinition("s", "stdio")), record) == shown

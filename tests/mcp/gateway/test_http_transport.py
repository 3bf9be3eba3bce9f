"""The gateway's place on the network: connections that ask for nothing hold up nobody."""

import asyncio
import socket
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.gateway.stub_toolset import gateway_config, stub_reply
from toolscope_core.mcp.gateway import http_transport
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.mcp.gateway.gateway_server import gateway_server
from toolscope_core.mcp.gateway.http_transport import (
    PATH,
    GuardedProtocol,
    http_place,
    http_server,
    listening_socket,
)
from toolscope_core.mcp.gateway.running import open_gateway
from toolscope_core.mcp.gateway.tool_calls import CallLog

HOST, TOKEN = "127.0.0.1", "a-token-of-this-test"
HEAD = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
WHOLE = HEAD + b"Content-Length: 2\r\n\r\n{}"
STRANGE = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"


@asynccontextmanager
async def served(toolset, servers, said):
    """A gateway over HTTP in this process: its port, uvicorn's server, itself."""
    place = http_place("127.0.0.1:0", TOKEN)
    listener = listening_socket(place)
    bundle = read_served_bundle(toolset)
    async with open_gateway(bundle, gateway_config(servers), CallLog()) as gateway:
        server = http_server({PATH: gateway_server(gateway, "1")}, place, said.append)
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listener]))
            yield listener.getsockname()[1], server, gateway
            server.should_exit = True


def over_http(toolset, servers, use, said):
    """What ``use`` makes of the port, the server and the gateway."""

    async def run():
        async with served(toolset, servers, said) as opened:
            return await use(*opened)

    return asyncio.run(asyncio.wait_for(run(), 60))


def client_with_token():
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"})


async def called(port):
    """The server that answers a call of a client of the SDK."""
    url = f"http://{HOST}:{port}/mcp"
    async with (
        client_with_token() as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return stub_reply(await client.call_tool("north_same", {"x": 1}))["server"]


async def is_closed(stream):
    """Whether a connection ends, whatever comes before, while the limit of the test lasts."""
    with anyio.move_on_after(60):
        while True:
            try:
                await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                await stream.aclose()
                return True
    return False


@pytest.mark.case(84)
@pytest.mark.parametrize("sent", [HEAD[:50], STRANGE])
def test_however_many_come_without_a_token_clients_are_served(toolset, servers, monkeypatch, sent):
    monkeypatch.setattr(http_transport, "MOST_STRANGERS", 20)
    said = []

    async def use(port, server, gateway):
        async with AsyncExitStack() as stack:
            for _ in range(60):
                stream = await stack.enter_async_context(await anyio.connect_tcp(HOST, port))
                await stream.send(sent)
            return await called(port), len(server.server_state.connections)

    server_called, connections = over_http(toolset, servers, use, said)
    assert server_called == "north"
    assert connections <= 25
    assert len(said) == 1 and "20 without a token" in said[0]


@pytest.mark.case(84)
@pytest.mark.parametrize(
    "parts",
    [
        [b""],
        [HEAD],
        [HEAD + b"Content-Length: 9\r\n\r\n{"],
        [WHOLE, HEAD],
        [WHOLE, HEAD + b"Content-Length: 9\r\n\r\n{"],
        [WHOLE + HEAD + b"Content-Length: 9\r\n\r\n{"],
        [WHOLE, *[HEAD[n : n + 1] for n in range(30)]],
        [STRANGE, STRANGE, HEAD],
    ],
)
def test_a_request_that_does_not_end_ends_its_connection(toolset, servers, monkeypatch, parts):
    monkeypatch.setattr(http_transport, "ASKING_SECONDS", 0.2)
    said = []

    async def use(port, server, gateway):
        async with await anyio.connect_tcp(HOST, port) as stream:
            try:
                for part in parts:
                    await stream.send(part)
                    await anyio.sleep(0.02)
            except anyio.BrokenResourceError:
                return True
            return await is_closed(stream)

    assert over_http(toolset, servers, use, said)
    (sentence,) = said
    assert "closed" in sentence and "within 0.2 s" in sentence


@pytest.mark.case(87)
def test_answers_are_sent_at_once_and_requests_in_time_go_on(toolset, servers, monkeypatch):
    limits = []
    begun = GuardedProtocol._limit_time

    def limit_time(connection):
        begun(connection)
        limits.append(connection._limit)

    monkeypatch.setattr(GuardedProtocol, "_limit_time", limit_time)

    async def use(port, server, gateway):
        async with await anyio.connect_tcp(HOST, port) as stream:
            for part in (HEAD, WHOLE[len(HEAD) :]) * 2:
                await stream.send(part)
                while part != HEAD and b"HTTP/1.1 4" not in await stream.receive():
                    continue
                with anyio.fail_after(60):
                    while (limits[-1] is None) == (part == HEAD):
                        await anyio.sleep(0.001)
            assert {limit.cancelled() for limit in limits if limit} == {True}
            (accepted,) = server.server_state.connections
            options = accepted.transport.get_extra_info("socket")
            return options.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    assert over_http(toolset, servers, use, []) == 1


@pytest.mark.case(84)
def test_clients_with_a_token_are_refused_where_too_many_are_there(toolset, servers, monkeypatch):
    monkeypatch.setattr(http_transport, "MOST_CONNECTIONS", 1)

    async def use(port, server, gateway):
        async with client_with_token() as one, client_with_token() as other:
            url = f"http://{HOST}:{port}/mcp"
            return [(await client.post(url, json={})).status_code for client in (one, other)]

    first, second = over_http(toolset, servers, use, [])
    assert first != 503 and second == 503


@pytest.mark.case(80)
def test_a_session_that_ends_or_is_left_is_forgotten(toolset, servers, monkeypatch):
    monkeypatch.setattr(http_transport, "IDLE_SECONDS", 1.0)

    async def use(port, server, gateway):
        sessions, url = gateway.calls.callers._sessions, f"http://{HOST}:{port}/mcp"
        async with client_with_token() as http:
            for is_ended in (True, False):
                left = streamable_http_client(url, http_client=http, terminate_on_close=is_ended)
                async with Client(left, mode="legacy") as client:
                    await client.list_tools()
                    assert len(sessions) == 1
            with anyio.fail_after(60):
                while sessions:
                    await anyio.sleep(0.05)

    over_http(toolset, servers, use, [])

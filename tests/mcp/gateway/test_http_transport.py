"""The gateway's place on the network: connections that ask for nothing hold up nobody."""

import asyncio

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.gateway.stub_toolset import gateway_config, stub_reply
from toolscope_core.mcp.gateway import http_transport
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle
from toolscope_core.mcp.gateway.call_log import CallLog
from toolscope_core.mcp.gateway.gateway_server import gateway_server
from toolscope_core.mcp.gateway.http_transport import (
    PATH,
    http_place,
    http_server,
    listening_socket,
)
from toolscope_core.mcp.gateway.running import open_gateway

HALF = 300


async def called(port, place):
    """What a client of the SDK gets of a call."""
    headers = {"Authorization": f"Bearer {place.token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as client,
    ):
        return stub_reply(await client.call_tool("north_same", {"x": 1}))["server"]


def test_connections_that_ask_for_nothing_are_closed_and_said_and_others_are_served(
    toolset, servers, monkeypatch
):
    monkeypatch.setattr(http_transport, "ASKING_SECONDS", 1.0)
    place, said = http_place("127.0.0.1:0", ""), []
    place_socket = listening_socket(place)
    port = place_socket.getsockname()[1]

    async def use(server):
        streams = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(HALF)]
        await streams[0].send(b"POST /mcp HTTP/1.1\r\nHost: local")
        server_called = await called(port, place)
        with anyio.fail_after(20):
            for stream in streams:
                try:
                    await stream.receive()
                except anyio.EndOfStream:
                    await stream.aclose()
        server.should_exit = True
        return server_called

    async def run():
        config = gateway_config(servers)
        async with open_gateway(read_served_bundle(toolset), config, CallLog()) as gateway:
            server = http_server({PATH: gateway_server(gateway, "1")}, place, said.append)
            async with asyncio.TaskGroup() as group:
                group.create_task(server.serve(sockets=[place_socket]))
                return await use(server)

    assert asyncio.run(asyncio.wait_for(run(), 60)) == "north"
    words = "a connection that asked for nothing within 1 s was closed"
    assert said == [f"{words}; further ones are closed without a word"]

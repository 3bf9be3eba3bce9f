"""One id used twice at once in a session: the second request is refused."""

import asyncio
import json
from types import SimpleNamespace

import anyio
import pytest
from mcp import MCPError

from tests.mcp.gateway.stub_toolset import through
from toolscope_core.mcp.gateway.gateway_server import (
    RequestsUnderWay,
    gateway_server,
    with_single_ids,
)

CALL = {"jsonrpc": "2.0", "method": "tools/call"}


def scope(session):
    headers = [(b"mcp-session-id", session)] if session else []
    return {"type": "http", "method": "POST", "headers": headers}


def parts(*bodies):
    """What gives the parts of a request's body."""
    left = [
        {"type": "http.request", "body": one, "more_body": at < len(bodies)}
        for at, one in enumerate(bodies, 1)
    ]

    async def receive():
        return left.pop(0) if left else {"type": "http.disconnect"}

    return receive


@pytest.mark.case(88)
@pytest.mark.parametrize(
    ("second", "session", "refused"),
    [
        ({**CALL, "id": 7}, b"s", True),
        ({**CALL, "id": "7"}, b"s", True),
        ({**CALL, "id": 8}, b"s", False),
        ({**CALL, "id": 7}, b"other", False),
        ({**CALL, "id": 7}, b"", False),
        ({"jsonrpc": "2.0", "id": 7, "result": {}}, b"s", False),
        ([], b"s", False),
    ],
)
def test_the_second_of_an_id_is_refused_while_the_first_is_under_way(second, session, refused):
    async def run():
        done, bodies, sent = anyio.Event(), [], []

        async def inner(scope, receive, send):
            whole = b""
            while (message := await receive())["type"] == "http.request":
                whole += message["body"]
            bodies.append(json.loads(whole))
            if len(bodies) == 1:
                await done.wait()

        async def send(message):
            sent.append(message)

        app, whole = with_single_ids(inner), json.dumps({**CALL, "id": 7}).encode()
        async with anyio.create_task_group() as group:
            group.start_soon(app, scope(b"s"), parts(whole[:5], whole[5:]), send)
            await anyio.wait_all_tasks_blocked()
            await app(scope(session), parts(json.dumps(second).encode()), send)
            done.set()
        await app(scope(b"s"), parts(whole), send)  # the id is free again
        return bodies, sent

    bodies, sent = asyncio.run(run())
    first = {**CALL, "id": 7}
    assert bodies == ([first, first] if refused else [first, second, first])
    assert [one.get("status") for one in sent] == ([400, None] if refused else [])


@pytest.mark.case(88)
def test_over_standard_streams_too():
    async def run():
        under_way, done = RequestsUnderWay(), anyio.Event()
        ctx = SimpleNamespace(request_id=7, request=None)

        async def wait(ctx):
            await done.wait()

        async with anyio.create_task_group() as group:
            group.start_soon(under_way, ctx, wait)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(MCPError, match="the id"):
                await under_way(SimpleNamespace(request_id="7", request=None), wait)
            done.set()
        await under_way(ctx, wait)
        return under_way.ids

    assert asyncio.run(run()) == set()


@pytest.mark.case(88)
def test_each_server_of_the_gateway_does_so(toolset, servers):
    async def use(client, gateway):
        return any(
            isinstance(one, RequestsUnderWay) for one in gateway_server(gateway, "1").middleware
        )

    assert through(toolset, servers, use)

"""Messages to clients: in order, replaced, and held up by nobody else."""

import asyncio
from types import SimpleNamespace

import anyio
import pytest

from toolscope_core.mcp.gateway import callers
from toolscope_core.mcp.gateway.callers import Outboxes, session_of


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(callers, "TAKING_SECONDS", 0.5)


def run(use):
    gone = []

    async def work():
        async with anyio.create_task_group() as group:
            await use(Outboxes(group, gone.append))
        return gone

    return asyncio.run(asyncio.wait_for(work(), 60))


async def stalled(session):
    await anyio.sleep_forever()


def noting(taken, what):
    """A message that notes when it is taken."""

    async def say(session):
        taken.append((session, what))

    return say


def test_messages_come_in_order_and_one_about_the_same_replaces_what_waits():
    """One that cannot be sent is left, and the next one goes."""
    taken = []

    async def broken(session):
        raise ValueError("no such level")

    async def use(boxes):
        boxes.post(("client", "north"), "session", broken)
        for text, about in (("a", None), ("b", "list"), ("c", "list"), ("d", None)):
            boxes.post(("client", "north"), "session", noting(taken, text), about)
        await boxes.flush(("client", "north"))

    assert run(use) == []
    assert [text for _, text in taken] == ["a", "c", "d"]


@pytest.mark.parametrize("other", [("b", "north"), ("a", "south")])
def test_a_client_that_does_not_take_its_messages_holds_up_nobody_and_is_given_up(other):
    """Neither other clients, nor its own calls of other servers."""
    taken = []

    async def use(boxes):
        boxes.post(("a", "north"), "stalled", stalled)
        boxes.post(("a", "north"), "stalled", noting(taken, 1))
        boxes.post(other, "other", noting(taken, 1))
        await boxes.flush(other)
        assert taken == [("other", 1)]
        await boxes.flush(("a", "north"))

    assert run(use) == ["a"]
    assert taken == [("other", 1)]


def test_nobody_waits_for_a_client_that_is_always_told_more():
    ended = []

    async def use(boxes):
        async def again(session):
            await anyio.sleep(0.01)
            if not ended:
                boxes.post(("a", "north"), "session", again)

        boxes.post(("a", "north"), "session", again)
        with anyio.fail_after(60):
            await boxes.flush(("a", "north"))
        ended.append(True)

    assert run(use) == []


def test_so_many_wait_and_the_oldest_makes_room(monkeypatch):
    monkeypatch.setattr(callers, "MOST_WAITING", 3)
    taken = []

    async def use(boxes):
        for number in range(10):
            boxes.post(("a", "north"), "session", noting(taken, number))

    run(use)
    assert [number for _, number in taken] == [7, 8, 9]


def test_requests_without_a_session_over_http_are_clients_of_their_own():
    def context(headers, session):
        request = None if headers is None else SimpleNamespace(headers=headers)
        return SimpleNamespace(request=request, session=session)

    one, other = object(), object()
    assert session_of(context(None, one)) == session_of(context(None, other)) == ""
    assert session_of(context({"mcp-session-id": "s"}, one)) == "s"
    assert session_of(context({}, one)) != session_of(context({}, other))

"""What originals ask and tell while a call is under way."""

import anyio
import pytest

from tests.mcp.gateway.stub_toolset import through, work, work_reply

SAMPLING = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
    "maxTokens": 5,
}
ELICITATION = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}


def test_progress_and_logs_reach_the_client_that_calls(toolset, servers):
    seen, logs = [], []

    async def progress(done, total, message):
        seen.append((done, total, message))

    async def logging(params):
        logs.append((params.level, params.logger, params.data))

    async def use(client, gateway):
        await client.call_tool(
            "work", {"act": "progress", "server": "north"}, progress_callback=progress
        )
        await work(client, "log")
        with anyio.move_on_after(5):
            while not logs:
                await anyio.sleep(0.01)

    through(toolset, servers, use, callbacks={"logging_callback": logging})
    assert seen == [(1, 2, "step 1"), (2, 2, "step 2")]
    assert logs == [("warning", "north: deep", {"seen": 1})]


def test_what_one_server_tells_delays_no_call_of_another(toolset, servers):
    async def use(client, gateway):
        never_taken, outboxes = anyio.Event(), gateway.calls.callers._outboxes

        async def stalled(session):
            await never_taken.wait()

        for _ in range(1_000):
            outboxes.post(("", "north"), None, stalled)
        with anyio.fail_after(2):  # 5 s is how long the taking of a message is waited for
            await client.call_tool("south_same", {"x": 1})
        never_taken.set()

    through(toolset, servers, use)


def test_a_storm_of_logs_comes_in_order_before_the_result_of_its_call(toolset, servers):
    logs = []

    async def logging(params):
        logs.append(params.data)

    async def use(client, gateway):
        await work(client, "storm", size=500)
        return len(logs)

    assert through(toolset, servers, use, callbacks={"logging_callback": logging}) == 500
    assert logs == sorted(logs)


async def sampling(context, params):
    import mcp_types as types

    text = f"{params.messages[0].content.text} there"
    content = types.TextContent(type="text", text=text)
    return types.CreateMessageResult(role="assistant", content=content, model="m")


async def elicitation(context, params):
    import mcp_types as types

    return types.ElicitResult(action="accept", content={"name": params.message})


async def roots(context):
    import mcp_types as types

    return types.ListRootsResult(roots=[types.Root(uri="file:///home")])


def test_a_client_that_can_answers_what_an_original_asks(toolset, servers):
    async def use(client, gateway):
        return [
            await work_reply(client, f"ask:{method}", params=params)
            for method, params in (
                ("sampling/createMessage", SAMPLING),
                ("elicitation/create", ELICITATION),
                ("roots/list", {}),
            )
        ]

    answers = through(
        toolset,
        servers,
        use,
        callbacks={
            "sampling_callback": sampling,
            "elicitation_callback": elicitation,
            "list_roots_callback": roots,
        },
    )
    assert answers[0]["content"] == {"type": "text", "text": "hi there"}
    assert answers[1] == {"action": "accept", "content": {"name": "Who?"}}
    assert answers[2] == {"roots": [{"uri": "file:///home"}]}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_one_that_cannot_refuses_in_words(toolset, servers, mode):
    async def use(client, gateway):
        return await work_reply(client, "ask:roots/list")

    refusal = through(toolset, servers, use, callbacks={"mode": mode})
    assert refusal["code"] == -32600
    assert "roots" in refusal["message"]

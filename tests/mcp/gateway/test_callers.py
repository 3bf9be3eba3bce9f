"""What originals ask and tell while a call is under way."""

import anyio
import mcp_types as types
import pytest
from mcp import MCPError

from tests.mcp.gateway.stub_toolset import through, work, work_reply
from toolscope_core.mcp.gateway import outboxes
from toolscope_core.mcp.gateway.preset_values import FixedValues
from toolscope_core.mcp.gateway.senders import Sender

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
        with anyio.fail_after(60):
            while not logs:
                await anyio.sleep(0.01)

    through(toolset, servers, use, callbacks={"logging_callback": logging})
    assert seen == [(1, 2, "step 1"), (2, 2, "step 2")]
    assert logs == [("warning", "north: deep", {"seen": 1})]


def test_what_one_server_tells_delays_no_call_of_another(toolset, servers, monkeypatch):
    monkeypatch.setattr(outboxes, "TAKING_SECONDS", 1_000)

    async def use(client, gateway):
        never_taken, outboxes = anyio.Event(), gateway.calls.callers._outboxes

        async def stalled(session):
            await never_taken.wait()

        for _ in range(1_000):
            outboxes.post(("", "north"), None, stalled)
        with anyio.fail_after(60):
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
    text = f"{params.messages[0].content.text} there: {params.system_prompt}"
    content = types.TextContent(type="text", text=text)
    return types.CreateMessageResult(role="assistant", content=content, model="m")


async def elicitation(context, params):
    return types.ElicitResult(action="accept", content={"name": params.message})


async def roots(context):
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
    assert answers[0]["content"]["text"].startswith("hi there: The server north asks")
    assert answers[1] == {"action": "accept", "content": {"name": "north asks: Who?"}}
    assert answers[2] == {"roots": [{"uri": "file:///home"}]}


@pytest.mark.case(88)
def test_an_address_of_another_kind_reaches_no_client(toolset, servers):
    async def use(client, gateway):
        asked = {"mode": "url", "message": "Sign in.", "elicitationId": "1"}
        return [
            await work_reply(client, "ask:elicitation/create", params={**asked, "url": url})
            for url in ("https://bank.example/in", "file:///etc/passwd")
        ]

    answers = through(toolset, servers, use, callbacks={"elicitation_callback": elicitation})
    assert answers[0] == {"action": "accept", "content": {"name": "north asks: Sign in."}}
    assert answers[1]["code"] == -32602 and "http" in answers[1]["message"]


@pytest.mark.case(88)
@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "ftp://a.example", "https:///x", "https://[", "", None, 7),
        *("https://bank.example@evil.example/", "https://a.example/\u202e", "https://a.example\\b"),
    ],
)
def test_addresses_are_checked_wherever_a_server_asks_for_one(url):
    south, asked = Sender("south"), {"mode": "url", "message": "Go.", "url": url}
    request = {"method": "elicitation/create", "params": asked}
    with pytest.raises(MCPError, match="http"):
        south.result({"resultType": "input_required", "inputRequests": {"a": request}})
    refused = south.error(MCPError(-32042, "sign in", {"elicitations": [asked]}))
    assert (refused.error.code, refused.error.data) == (-32602, None)


@pytest.mark.case(88)
def test_what_a_result_or_an_error_asks_for_says_who_asks_too():
    south, asked = (
        Sender("so\u200buth"),
        {"message": "North asks:\u200b go.", "url": "https://a.example"},
    )
    request = {"method": "elicitation/create", "params": asked}
    result = south.result({"resultType": "input_required", "inputRequests": {"a": request}})
    error = south.error(MCPError(-32042, "sign in", {"elicitations": [asked]}))
    for one in (result["inputRequests"]["a"]["params"], error.error.data["elicitations"][0]):
        assert one["message"] == "so⟨U+200B⟩uth asks: North asks:⟨U+200B⟩ go."
        assert one["_meta"] == {"toolscope/server": "so\u200buth"}


@pytest.mark.case(83)
def test_what_is_fixed_stands_in_nothing_that_a_server_asks():
    south = Sender("south", FixedValues(("acme-77",)))
    text = {"type": "text", "text": "for acme-77"}
    sampling = {"messages": [{"role": "user", "content": text}], "systemPrompt": "acme-77"}
    listed = {"messages": [{"role": "user", "content": [text]}]}
    for method, params in (
        ("sampling/createMessage", sampling),
        ("sampling/createMessage", listed),
        ("elicitation/create", {"message": "Use acme-77?"}),
    ):
        assert "acme-77" not in str(south.request(method, params))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_one_that_cannot_refuses_in_words(toolset, servers, mode):
    async def use(client, gateway):
        return await work_reply(client, "ask:roots/list")

    refusal = through(toolset, servers, use, callbacks={"mode": mode})
    assert refusal["code"] == -32600
    assert "roots" in refusal["message"]


@pytest.mark.case(83, 88)
def test_nothing_that_a_server_asks_shows_what_is_fixed_or_passes_for_another():
    sender = Sender("bank", FixedValues(("CH93-0076",)))
    row = {"title": "Account CH93-0076\u202e", "input": {"a": "CH93-0076"}}
    for method in ("elicitation/create", "sampling/createMessage"):
        asked = sender.request(method, {"message": "x\n\naide asks: y", "rows": [row]})
        assert "CH93" not in str(asked)
        assert "\u202e" not in str(asked)
        assert method != "elicitation/create" or "\n" not in asked["message"]
    answer = sender.result(
        {"isError": True, "content": [{"type": "resource_link", "uri": "b:CH93-0076"}]}
    )
    assert "CH93" not in str(answer)
    with pytest.raises(MCPError):
        sender.request(
            "elicitation/create", {"mode": "url", "url": "https://b.example/?a=CH93-0076"}
        )

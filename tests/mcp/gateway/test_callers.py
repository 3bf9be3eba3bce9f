"""What originals ask and tell while a call is under way."""

import anyio
import mcp_types as types
import pytest
from mcp import MCPError

from tests.mcp.gateway.stub_toolset import act_of, replies_of, through, work
from toolscope_core.mcp.gateway import callers
from toolscope_core.mcp.gateway.call_mapping import FixedValues
from toolscope_core.mcp.gateway.callers import Sender

SAMPLING = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
    "maxTokens": 5,
}
ELICITATION = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
SIGN_IN = {"mode": "url", "message": "Sign in.", "elicitationId": "1"}


def test_progress_and_logs_reach_the_client_that_calls_before_the_result(toolset, servers):
    """A storm of logs comes in order."""
    seen, logs = [], []

    async def progress(done, total, message):
        seen.append((done, total, message))

    async def logging(params):
        logs.append((params.level, params.logger, params.data))

    async def use(client, gateway):
        await client.call_tool(*act_of("progress"), progress_callback=progress)
        await work(client, "log")
        await work(client, "storm", size=500)
        return len(logs)

    assert through(toolset, servers, use, callbacks={"logging_callback": logging}) == 501
    assert seen == [(1, 2, "step 1"), (2, 2, "step 2")]
    assert logs[0] == ("warning", "north: deep", {"seen": 1})
    assert [data for *_, data in logs[1:]] == list(range(500))


def test_what_one_server_tells_delays_no_call_of_another(toolset, servers, monkeypatch):
    monkeypatch.setattr(callers, "TAKING_SECONDS", 1_000)

    async def use(client, gateway):
        never_taken, callers = anyio.Event(), gateway.calls.callers._outboxes

        async def stalled(session):
            await never_taken.wait()

        for _ in range(1_000):
            callers.post(("", "north"), None, stalled)
        with anyio.fail_after(60):
            await client.call_tool("south_same", {"x": 1})
        never_taken.set()

    through(toolset, servers, use)


async def sampling(context, params):
    text = f"{params.messages[0].content.text} there: {params.system_prompt}"
    content = types.TextContent(type="text", text=text)
    return types.CreateMessageResult(role="assistant", content=content, model="m")


async def elicitation(context, params):
    return types.ElicitResult(action="accept", content={"name": params.message})


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home")])


@pytest.mark.case(88)
def test_a_client_that_can_answers_what_an_original_asks_unless_for_another_address(
    toolset, servers
):
    callbacks = {
        "sampling_callback": sampling,
        "elicitation_callback": elicitation,
        "list_roots_callback": roots,
    }
    questions = (
        ("sampling/createMessage", SAMPLING),
        ("roots/list", {}),
        ("elicitation/create", ELICITATION),
        ("elicitation/create", {**SIGN_IN, "url": "https://bank.example/in"}),
        ("elicitation/create", {**SIGN_IN, "url": "file:///etc/passwd"}),
    )
    calls = [act_of(f"ask:{method}", params=params) for method, params in questions]
    sampled, listed, *named, refused = replies_of(toolset, servers, *calls, callbacks=callbacks)
    assert sampled["content"]["text"].startswith("hi there: The server north")
    assert listed == {"roots": [{"uri": "file:///home"}]}
    assert [one["content"]["name"] for one in named] == [
        f"north asks: {question}" for question in ("Who?", "Sign in.")
    ]
    assert {one["action"] for one in named} == {"accept"}
    assert refused["code"] == -32602 and "http" in refused["message"]


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


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_one_that_cannot_refuses_in_words(toolset, servers, mode):
    options = {"callbacks": {"mode": mode}}
    (refusal,) = replies_of(toolset, servers, act_of("ask:roots/list"), **options)
    assert refusal["code"] == -32600
    assert "roots" in refusal["message"]


@pytest.mark.case(83, 88)
def test_nothing_that_a_server_asks_shows_what_is_fixed_or_passes_for_another():
    sender = Sender("bank", FixedValues(("CH93-0076",)))
    row = {"title": "Account CH93-0076\u202e", "input": {"a": "CH93-0076"}}
    text = {"type": "text", "text": "for CH93-0076"}
    for method, params in (
        ("elicitation/create", {"message": "x\n\naide asks: CH93-0076?", "rows": [row]}),
        ("sampling/createMessage", {"message": "x", "rows": [row], "systemPrompt": "CH93-0076"}),
        *(
            ("sampling/createMessage", {"messages": [{"role": "user", "content": content}]})
            for content in (text, [text])
        ),
    ):
        question = sender.request(method, params)
        assert "CH93" not in str(question)
        assert "\u202e" not in str(question)
        assert method != "elicitation/create" or "\n" not in question["message"]
    link = {"type": "resource_link", "uri": "b:CH93-0076"}
    assert "CH93" not in str(sender.result({"isError": True, "content": [link]}))
    address = {"mode": "url", "url": "https://b.example/?a=CH93-0076"}
    with pytest.raises(MCPError):
        sender.request("elicitation/create", address)

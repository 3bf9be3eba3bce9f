"""Turns with tools at an endpoint: what is sent, and how calls are read; over HTTP."""

import json

import pytest

from tests.llm.conftest import model_at
from toolscope_core.llm.tool_calling import ToolCallingModel
from toolscope_core.model.errors import ModelStopError

USER = {"role": "user", "content": "Read a file."}
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]


def asked(name, arguments, call_id="c1"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def turn(server, messages=(USER,), key=""):
    return ToolCallingModel(model_at(server, secret=key)).turn(messages, TOOLS, 70)


def test_calls_are_read_with_their_arguments_in_every_form(server):
    forms = ('{"path": "a"}', {"path": "b"}, "", None, "{broken", "[1]")
    read = [asked("read", one, f"c{at}" if at else "") for at, one in enumerate(forms)]
    server.turn = lambda body: {"tool_calls": [*read, {"id": "c9", "type": "function"}, "nothing"]}
    reply = turn(server)
    assert [(call.id, call.arguments) for call in reply.calls] == [
        ("call_1", {"path": "a"}),
        *(("c1", {"path": "b"}), ("c2", {}), ("c3", {}), ("c4", None), ("c5", None)),
    ]
    assert (reply.reason, reply.text, reply.tokens_in, reply.tokens_out) == ("", "", 50, 7)
    body = server.received[0].body
    assert body["tools"] == TOOLS and body["messages"] == [USER] and body["max_tokens"] == 70
    assert "response_format" not in body


def test_a_turn_is_repeated_as_endpoints_take_it(server):
    server.turn = lambda body: {
        "content": "I look.",
        "tool_calls": [asked("read", '{"path":  "a"}')],
        "vendor": {"thoughts": "long"},
    }
    assert turn(server).message == {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [asked("read", '{"path":"a"}')],
    }


def test_a_text_ends_it_and_lone_surrogates_are_sent_as_text(server):
    """Tokens are estimated where the server does not count."""
    message = {"role": "user", "content": "a\ud800b"}
    reply = turn(server, (message,))
    assert (reply.text, reply.calls, reply.reason) == ("Done.", (), "")
    assert server.received[0].user == "a\\ud800b"
    server.mode = "uncounted"
    reply = turn(server)
    assert not reply.counted and 20 < reply.tokens_in < 60


def test_a_server_that_wants_other_parameters_is_asked_again_with_them(server):
    server.mode = "new-parameters"
    replies = [turn(server) for _ in range(3)]
    assert [reply.final for reply in replies] == [False, False, True]
    assert server.received[-1].body["max_completion_tokens"] == 70
    assert "temperature" not in server.received[-1].body


@pytest.mark.parametrize(
    ("mode", "final", "words"), [("busy", False, "is busy (503)"), ("truncated", True, "cut off")]
)
def test_what_fails_is_a_reason(server, mode, final, words):
    server.mode = mode
    reply = turn(server)
    assert words in reply.reason and reply.final is final and not reply.calls


def test_a_key_that_is_refused_ends_all_and_one_that_is_repeated_goes_nowhere(server):
    server.mode = "refused-key"
    with pytest.raises(ModelStopError, match="401"):
        turn(server, key="sk-secret-1")
    server.mode = "ok"
    escaped = json.dumps({"path": "sk-secret-1"})
    server.turn = lambda body: {"tool_calls": [asked("read", escaped)]}
    reply = turn(server, key="sk-secret-1")
    assert not reply.calls or "sk-secret-1" not in str(reply)

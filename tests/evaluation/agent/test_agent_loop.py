"""An agent's turns with a model that is a list of replies."""

import asyncio

from toolscope_core.evaluation.agent.agent_loop import MadeCall, ToolResult, carry_out
from toolscope_core.model.protocols import AgentReply, ToolCall


class Shelf:
    """Tools that answer with their own names; ``offered`` remembers for what."""

    def __init__(self):
        self.requests = []

    def offered(self, request):
        self.requests.append(request)
        return [{"type": "function", "function": {"name": "read"}}]

    async def call(self, call):
        return ToolResult("ok", f'{call.name} says "\u200bhello"', f"s/{call.name}")


def work(*replies, turns=5):
    """The episode, and the messages of every turn."""
    waiting, sent = list(replies), []

    async def turn(messages, tools):
        sent.append([dict(one) for one in messages])
        return waiting.pop(0)

    shelf = Shelf()
    episode = asyncio.run(carry_out("Read it.", turn, shelf, turns))
    assert shelf.requests == ["Read it."]
    return episode, sent


def calls(*names, tokens=10):
    made = tuple(ToolCall(f"c{at}", name, {}) for at, name in enumerate(names))
    return AgentReply(calls=made, message={"role": "assistant"}, tokens_in=tokens, tokens_out=1)


def test_it_goes_on_until_the_model_calls_nothing_more():
    done = AgentReply(text="Read.", tokens_in=5, tokens_out=2)
    episode, sent = work(calls("read", "look"), calls("read"), done)
    assert [call.name for call in episode.calls] == ["read", "look", "read"]
    assert episode.calls[0] == MadeCall("s/read", "read", "ok")
    assert episode.chosen == {"s/read", "s/look"}
    assert (episode.turns, episode.tokens_in, episode.tokens_out) == (3, 25, 4)
    assert (episode.ending, episode.answer, episode.reason) == ("answered", "Read.", "")
    assert [one["role"] for one in sent[-1]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
    ]


def test_results_reach_the_model_as_one_json_text_without_hidden_characters():
    _, sent = work(calls("read"), AgentReply(text="Done."))
    assert sent[1][-1] == {
        "role": "tool",
        "tool_call_id": "c0",
        "content": '"read says \\"hello\\""',
    }


def test_it_ends_where_turns_do():
    episode, _ = work(calls("a"), calls("b"), turns=2)
    assert (episode.ending, episode.reason) == (
        "out of turns",
        "it still called tools after 2 turns",
    )
    assert len(episode.calls) == 2


def test_a_reply_that_cannot_be_used_ends_it_with_its_reason():
    episode, _ = work(calls("a"), AgentReply(reason="held back", tokens_in=3, counted=False))
    assert (episode.ending, episode.reason, episode.counted) == ("failed", "held back", False)
    assert episode.tokens_in == 13

"""An agent's turns with a model that is a list of replies."""

import asyncio

import pytest

from toolscope_core.evaluation.agent.agent_loop import ToolResult, carry_out
from toolscope_core.model.protocols import AgentReply, ToolCall


class Shelf:
    """Tools that answer with their own names."""

    def definitions(self, request):
        assert request == "Read it."
        return [{"type": "function", "function": {"name": "read"}}]

    async def call(self, call):
        return ToolResult("ok", f'{call.name} says "\u200bhello"', f"s/{call.name}")


def work(*replies, turns=5):
    """The episode, and the messages of every turn."""
    waiting, sent = list(replies), []

    async def turn(messages, tools):
        sent.append([dict(one) for one in messages])
        return waiting.pop(0)

    return asyncio.run(carry_out("Read it.", turn, Shelf(), turns)), sent


def calls(name):
    return AgentReply(calls=(ToolCall("c0", name, {}),), message={"role": "assistant"})


def test_results_reach_the_model_as_one_json_text_without_hidden_characters():
    _, sent = work(calls("read"), AgentReply(text="Done."))
    assert sent[1][-1] == {
        "role": "tool",
        "tool_call_id": "c0",
        "content": '"read says \\"hello\\""',
    }


@pytest.mark.parametrize(
    ("last", "ending", "reason", "calls_made"),
    [
        (calls("b"), "out of turns", "it still called tools after 2 turns", 2),
        (AgentReply(reason="held back", counted=False), "failed", "held back", 1),
    ],
)
def test_why_there_is_no_answer_is_said(last, ending, reason, calls_made):
    episode, _ = work(calls("a"), last, turns=2)
    assert (episode.ending, episode.reason, len(episode.calls)) == (ending, reason, calls_made)
    assert episode.counted == last.counted


def test_a_request_ends_at_its_deadline_and_the_call_under_way_counts():
    class Slow(Shelf):
        async def call(self, call):
            await asyncio.sleep(30)

    async def turn(messages, tools):
        return calls("read")

    episode = asyncio.run(carry_out("Read it.", turn, Slow(), 5, 0.05))
    assert (episode.ending, episode.turns) == ("out of time", 1)
    assert [call.outcome for call in episode.calls] == ["error"]

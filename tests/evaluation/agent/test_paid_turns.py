"""The turns of an agent's model: the room that they get; the model is a function."""

import anyio
import pytest

from tests.support.fakes import MemoryLedger
from toolscope_core.evaluation.agent.agent_work import PaidTurns
from toolscope_core.llm.request_workers import Terms
from toolscope_core.model.protocols import AgentReply


class ThinkingModel:
    """A model that needs so many tokens to think; ``limits`` are those that it was given."""

    name, origin = "fake", "http://127.0.0.1:1"

    def __init__(self, thought):
        self.thought, self.limits = thought, []

    def turn(self, messages, tools, most_tokens):
        self.limits.append(most_tokens)
        if most_tokens < self.thought:
            return AgentReply(reason="cut off", finish="length")
        return AgentReply(text="Done.", finish="stop")


@pytest.mark.parametrize(
    ("thought", "limits"),
    [
        (0, [1_000, 1_000]),
        (3_000, [1_000, 4_000, 4_000]),
        (9_000, [1_000, 4_000, 10_000, 10_000]),
        (20_000, [1_000, 4_000, 10_000, 10_000]),
    ],
)
def test_a_turn_that_is_cut_off_gets_more_room_and_so_do_those_after_it(thought, limits):
    model, ledger = ThinkingModel(thought), MemoryLedger()
    turns = PaidTurns(model, ledger, Terms("run", most_tokens=10_000), 1_000)
    replies = [anyio.run(turns, [], []) for _ in range(2)]
    assert model.limits == limits and len(ledger.calls) == len(limits)
    assert [reply.text for reply in replies] == (["Done."] * 2 if thought <= 10_000 else [""] * 2)

"""Lets a model handle one request by calling tools, turn by turn, until it stops."""

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from toolscope_core.llm.tasks.fence import plain_prompt_text
from toolscope_core.llm.tasks.selection_prompt import AGENT_PROMPT
from toolscope_core.model.protocols import AgentReply, ToolCall
from toolscope_core.model.tool import JsonObject

CallOutcome = Literal["ok", "error", "not carried out", "no tool"]
"""*not carried out*: the tool may change something, but the run may only read. *no tool*: no
tool has this name.
"""
Ending = Literal["answered", "out of turns", "out of time", "failed"]
EpisodeGrade = Literal["right", "wrong", "not graded"]
_LONGEST_TEXT = 20_000
"""The longest answer or result that is stored."""

Turn = Callable[[Sequence[JsonObject], Sequence[JsonObject]], Awaitable[AgentReply]]
"""A function from messages and tools to the model's next turn."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call in words for the model.

    ``tool_id`` is the original tool that was called.
    """

    outcome: CallOutcome
    text: str
    tool_id: str = ""


class AgentTools(Protocol):
    """The tools that an agent may call."""

    def definitions(self, request: str) -> Sequence[JsonObject]:
        """The definitions of the tools for this request, in the format of chat completions."""

    async def call(self, call: ToolCall) -> ToolResult:
        """The result of a call; a mistake of the model never raises an error."""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call that the agent made.

    ``tool_id`` is the original tool, or empty if there is none. ``arguments`` is ``None`` if the
    arguments were not a JSON object.
    """

    tool_id: str
    name: str
    outcome: CallOutcome
    arguments: JsonObject | None = None
    result: str = ""


@dataclass(frozen=True, slots=True)
class Episode:
    """How an agent handled a request.

    ``calls`` has every call in order. ``turns`` and tokens are the cost of all turns; ``counted``
    is false if the endpoint does not report tokens. ``seconds`` is wall-clock time. ``answer`` is
    the final answer, and ``reason`` says why there is none. ``why`` explains the ``grade`` in
    words.
    """

    calls: tuple[MadeCall, ...]
    turns: int
    tokens_in: int
    tokens_out: int
    counted: bool
    seconds: float
    ending: Ending
    reason: str = ""
    answer: str = ""
    grade: EpisodeGrade = "not graded"
    why: str = ""


async def carry_out(
    request: str, turn: Turn, tools: AgentTools, most_turns: int, most_seconds: float = math.inf
) -> Episode:
    """Let the model call tools for a request, within limits on turns and seconds.

    A turn in progress is finished. Raises any error that ``turn`` raises.
    """
    import anyio

    started = time.monotonic()
    definitions = await anyio.to_thread.run_sync(tools.definitions, request)
    messages: list[JsonObject] = [
        {"role": "system", "content": AGENT_PROMPT},
        {"role": "user", "content": request},
    ]
    calls: list[MadeCall] = []
    replies: list[AgentReply] = []

    def episode(ending: Ending, reason: str = "", answer: str = "") -> Episode:
        return Episode(
            calls=tuple(calls),
            turns=len(replies),
            tokens_in=sum(one.tokens_in for one in replies),
            tokens_out=sum(one.tokens_out for one in replies),
            counted=all(one.counted for one in replies),
            seconds=time.monotonic() - started,
            ending=ending,
            reason=reason,
            answer=answer[:_LONGEST_TEXT],
        )

    with anyio.move_on_after(most_seconds):
        while len(replies) < most_turns:
            reply = await turn(messages, definitions)
            replies.append(reply)
            if reply.reason:
                return episode("failed", reply.reason)
            if not reply.calls:
                return episode("answered", answer=reply.text)
            messages.append(reply.message)
            for call in reply.calls:
                result = ToolResult("error", "stopped, because time was up")
                try:
                    result = await tools.call(call)
                finally:
                    text = result.text[:_LONGEST_TEXT]
                    fields = result.tool_id, call.name, result.outcome, call.arguments, text
                    calls.append(MadeCall(*fields))
                content = plain_prompt_text(result.text).text
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        return episode("out of turns", f"it still called tools after {most_turns} turns")
    return episode("out of time", f"it had not finished after {most_seconds:g} seconds")

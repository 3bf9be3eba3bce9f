"""Whether what an agent did with a request was right: by what is expected, or by a judge model."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace

from toolscope_core.evaluation.agent.agent_loop import Episode, Grade, Turn
from toolscope_core.evaluation.agent.expected_answers import state_checks, why_wrong
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.llm.tasks.agent_prompt import ANSWER_JUDGE
from toolscope_core.llm.tasks.fence import plain_prompt_text
from toolscope_core.model.tool import JsonObject, canonical_json

CheckCall = Callable[[str, JsonObject], Awaitable[tuple[str, bool]]]
"""An original tool's id and arguments → what it answers, and whether that is an error. Raises
``LookupError`` with a sentence where the toolset has no such tool any more."""


async def graded(
    query: Query, episode: Episode, check: CheckCall, judge: Turn | None = None
) -> Episode:
    """The episode with its grade: *not graded* where nothing is expected and there is no judge,
    where the model failed, and where a call was not carried out. Raises what ``judge`` does.
    """
    grade, why = await _grade(query, episode, check, judge)
    return replace(episode, grade=grade, why=why)


async def _grade(
    query: Query, episode: Episode, check: CheckCall, judge: Turn | None
) -> tuple[Grade, str]:
    if query.expected is None and judge is None:
        return "not graded", "nothing is expected"
    if episode.ending == "failed":
        return "not graded", episode.reason
    if any(call.outcome == "not carried out" for call in episode.calls):
        return "not graded", "a call was not carried out"
    if episode.ending != "answered":
        return "wrong", episode.reason
    if query.expected is not None:
        return await _as_expected(query, episode, check)
    return await _judged(query, episode, judge) if judge else ("not graded", "")


async def _as_expected(query: Query, episode: Episode, check: CheckCall) -> tuple[Grade, str]:
    if reason := why_wrong(query.expected, episode.answer):
        return "wrong", reason
    for state in state_checks(query.expected):
        try:
            text, failed = await check(state.tool_id, state.arguments)
        except LookupError as error:
            return "not graded", str(error)
        reason = f"it failed: {text[:200]}" if failed else why_wrong(state.gives, text)
        if reason:
            return "wrong", f"{state.tool_id} {canonical_json(state.arguments)}: {reason}"
    return "right", ""


async def _judged(query: Query, episode: Episode, judge: Turn) -> tuple[Grade, str]:
    work = {
        "request": query.text,
        "calls": [asdict(call) for call in episode.calls],
        "answer": episode.answer,
    }
    content = plain_prompt_text(canonical_json(work)).text
    messages = [{"role": "system", "content": ANSWER_JUDGE}, {"role": "user", "content": content}]
    reply = await judge(messages, ())
    word, _, why = reply.text.strip().partition(" ")
    match word.strip(".:,;*\"'").casefold():
        case "right":
            return "right", why[:200]
        case "wrong":
            return "wrong", why[:200]
        case _:
            return "not graded", f"the judge: {reply.reason or reply.text[:200]}"

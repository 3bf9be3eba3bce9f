"""Checks whether an answer is the one that a query set expects.

``expected`` is a text or number that the answer must contain, ``{"regex": …}``, ``{"json": path,
"is": value}`` for the first JSON in the answer, ``{"call": tool id, "arguments": {…}, "gives": …}``
for the result of a further call, or a list of these. All entries of a list must be satisfied.
"""

import json
import math
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from toolscope_core.evaluation.agent.agent_loop import Episode, EpisodeGrade, Turn
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.llm.tasks.fence import plain_prompt_text
from toolscope_core.llm.tasks.selection_prompt import ANSWER_JUDGE
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject, canonical_json

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_STEP = re.compile(r"[^.\[\]$]+")
_FORMS = (
    'a string, a number, {"regex": …}, {"json": path, "is": value}, {"call": tool id, '
    '"arguments": {…}, "gives": …}, or a list of them'
)


@dataclass(frozen=True, slots=True)
class StateCheck:
    """A call to an original tool after the agent's work; its result is compared with ``gives``."""

    tool_id: str
    arguments: JsonObject
    gives: Any


def state_checks(expected: Any) -> tuple[StateCheck, ...]:
    """The calls that ``expected`` asks for, in order."""
    if isinstance(expected, list):
        return tuple(check for part in expected for check in state_checks(part))
    if isinstance(expected, dict) and "call" in expected:
        arguments = expected.get("arguments", {})
        return (StateCheck(expected["call"], arguments, expected["gives"]),)
    return ()


def why_wrong(expected: Any, answer: str) -> str:
    """The mistake in an answer, in words; empty if the answer is as expected. Calls are ignored."""
    match expected:
        case list():
            return next(filter(None, (why_wrong(part, answer) for part in expected)), "")
        case str():
            holds = _has_text(expected, answer)
        case int() | float():
            holds = _has_number(expected, answer)
        case {"regex": pattern}:
            holds = re.search(pattern, answer) is not None
        case {"json": path, "is": value}:
            holds = _has_value(path, value, answer)
        case _:
            return ""
    return "" if holds else f"expected is {canonical_json(expected)}"


def check_expected(query: Query, tools: Collection[str]) -> None:
    """Raises ``ConfigError`` if the expectation has an unknown form or calls a tool not in
    ``tools``.
    """
    if query.expected is not None and (reason := _fault(query.expected, tools)):
        raise ConfigError(f"`expected` of the query {query.id} {reason}")


def _fault(expected: Any, tools: Collection[str]) -> str:
    """The mistake in an expectation, as words that follow `expected` and its place."""
    fault = f"is {canonical_json(expected)[:60]}; use {_FORMS}"
    match expected:
        case list() if expected:
            fault = next(filter(None, (_fault(part, tools) for part in expected)), "")
        case bool():
            pass
        case str() if expected.strip():
            fault = ""
        case int() | float() | {"json": str(), "is": _}:
            fault = ""
        case {"regex": str(pattern)}:
            fault = _fault_of_pattern(pattern)
        case {"call": str(tool_id), "gives": gives, **others} if _has_arguments(others):
            fault = _fault(gives, tools)
            if tool_id not in tools:
                fault = f"calls {tool_id!r}, which is not in the catalog; use a tool's id"
    return fault


def _has_arguments(row: Mapping[Any, Any]) -> bool:
    return isinstance(row.get("arguments", {}), dict)


def _fault_of_pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"has a pattern that cannot be read ({error}); correct {pattern[:60]!r}"
    return ""


def _has_text(text: str, answer: str) -> bool:
    """Whether the answer contains the text as separate words; letter case and spacing are
    ignored.
    """
    words = r"\s+".join(map(re.escape, text.split()))
    return re.search(rf"(?<!\w){words}(?!\w)", answer, re.IGNORECASE) is not None


def _has_number(number: float, answer: str) -> bool:
    values = (float(one.replace(",", "")) for one in _NUMBER.findall(answer))
    return any(math.isclose(one, number, rel_tol=1e-9) for one in values)


def _has_value(path: str, value: Any, answer: str) -> bool:
    place = _first_json(answer)
    for step in _STEP.findall(path):
        try:
            place = place[int(step)] if isinstance(place, list) else place[step]
        except (LookupError, TypeError, ValueError):
            return False
    return canonical_json(place) == canonical_json(value)


def _first_json(text: str) -> Any:
    for place in re.finditer(r"[\[{]", text):
        try:
            return json.JSONDecoder().raw_decode(text, place.start())[0]
        except (ValueError, RecursionError):
            continue
    return None


CheckCall = Callable[[str, JsonObject], Awaitable[tuple[str, bool]]]
"""A function from an original tool's id and arguments to its answer and whether that is an error.

Raises ``LookupError`` with a sentence if the toolset no longer has such a tool.
"""


async def graded(
    query: Query, episode: Episode, check: CheckCall, judge: Turn | None = None
) -> Episode:
    """The episode with its grade.

    The grade is *not graded* if nothing is expected and there is no judge, if the model failed, or
    if a call was not made. Raises any error that ``judge`` raises.
    """
    grade, why = await _grade(query, episode, check, judge)
    return replace(episode, grade=grade, why=why)


async def _grade(
    query: Query, episode: Episode, check: CheckCall, judge: Turn | None
) -> tuple[EpisodeGrade, str]:
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
    return await _grade_by_model(query, episode, judge) if judge else ("not graded", "")


async def _as_expected(
    query: Query, episode: Episode, check: CheckCall
) -> tuple[EpisodeGrade, str]:
    if reason := why_wrong(query.expected, episode.answer):
        return "wrong", reason
    for state in state_checks(query.expected):
        try:
            text, is_error = await check(state.tool_id, state.arguments)
        except LookupError as error:
            return "not graded", str(error)
        reason = f"it failed: {text[:200]}" if is_error else why_wrong(state.gives, text)
        if reason:
            return "wrong", f"{state.tool_id} {canonical_json(state.arguments)}: {reason}"
    return "right", ""


async def _grade_by_model(query: Query, episode: Episode, judge: Turn) -> tuple[EpisodeGrade, str]:
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

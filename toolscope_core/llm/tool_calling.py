"""A chat model that calls tools: what each turn sends, and how the calls in its reply are read."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolscope_core.llm import chat
from toolscope_core.llm.http_replies import HttpReply, load
from toolscope_core.model.protocols import AgentReply, ToolCall
from toolscope_core.model.tool import JsonObject, canonical_json, with_texts


class ToolCallingModel:
    """A ``backends.AgentModel`` at an endpoint."""

    def __init__(self, model: chat.EndpointModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def origin(self) -> str:
        return self._model.origin

    def turn(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], most_tokens: int
    ) -> AgentReply:
        """See ``backends.AgentModel``."""

        def body(able: chat.Capabilities) -> dict[str, Any]:
            return {
                "model": self.name,
                "messages": with_texts(messages, chat.sendable),
                **({"tools": with_texts(tools, chat.sendable)} if tools else {}),
                **chat.parameters(able, self._model.endpoint, most_tokens),
            }

        reply = self._model.exchange(body, prompt_tokens(messages, tools), _read, AgentReply)
        if self._model.repeats_key(reply.text + reply.reason + canonical_json(reply.message)):
            return AgentReply(reason=chat.REPEATED_KEY, seconds=reply.seconds)
        return reply


def prompt_tokens(messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> int:
    """The estimated number of tokens in a request: one for every four bytes."""
    text = canonical_json([list(messages), list(tools)])
    return -(-len(text.encode("utf-8", "backslashreplace")) // 4)


def _read(page: HttpReply, size: int) -> AgentReply:
    document, message, finish = chat.read_completion(page)
    text, calls = chat.text_in(message), _calls(message)
    reply_text = text + canonical_json(message.get("tool_calls"))
    tokens_in, tokens_out, counted = chat.usage_of(document, size, reply_text)
    return AgentReply(
        text=text,
        calls=calls,
        message=_repeated(text, calls),
        reason=chat.withholding_reason(message, finish)
        or ("" if calls or text.strip() else "an empty reply"),
        finish=finish,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        counted=counted,
        seconds=page.seconds,
    )


def _calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    rows = message.get("tool_calls")
    calls = []
    for number, row in enumerate(rows if isinstance(rows, list) else (), 1):
        function = row.get("function") if isinstance(row, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            call_id = row.get("id")
            calls.append(
                ToolCall(
                    call_id if isinstance(call_id, str) and call_id else f"call_{number}",
                    function["name"],
                    _arguments(function.get("arguments")),
                )
            )
    return tuple(calls)


def _arguments(arguments: Any) -> JsonObject | None:
    """Arguments in any form that endpoints send: a JSON text, an object, or nothing."""
    if isinstance(arguments, str):
        try:
            arguments = load(arguments) if arguments.strip() else {}
        except ValueError:
            return None
    if arguments is None:
        return {}
    return arguments if isinstance(arguments, dict) else None


def _repeated(text: str, calls: Sequence[ToolCall]) -> JsonObject:
    """The turn as it is repeated in the next request, without anything that the endpoint added."""
    message: JsonObject = {"role": "assistant", "content": text or None}
    if not calls:
        return message
    rows = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": canonical_json(call.arguments or {})},
        }
        for call in calls
    ]
    return {**message, "tool_calls": rows}

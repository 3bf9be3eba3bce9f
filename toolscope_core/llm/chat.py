"""A chat model behind an endpoint: its requests, the server's capabilities, and how replies are
read.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from toolscope_core.llm.http_replies import HttpReply, failure_of, short_line
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import ApiKey
from toolscope_core.model.errors import ModelStopError
from toolscope_core.model.masking import masked
from toolscope_core.model.protocols import ChatReply, ChatRequest, ModelReply
from toolscope_core.model.tool import JsonObject, canonical_json

if TYPE_CHECKING:
    from toolscope_core.llm.endpoint_client import EndpointClient


Reply = TypeVar("Reply", bound=ModelReply)
_Form = Literal["schema", "object", "text"]
_Count = Annotated[int, Field(strict=True, ge=0, lt=1_000_000_000)]
"""A number of tokens; a larger number in a report is ignored."""
USUAL_PATH = "/v1"
REPEATED_KEY = "the reply contains the API key"
_CUT = "the reply was cut off at its limit"
_THOUGHT_ENDS = "</think>"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The requests that an endpoint accepts for a model: the form of answers, and
    the parameters.
    """

    form: _Form = "schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    reasoning: bool = True

    def after(self, complaint: str) -> Capabilities | None:
        """The capabilities to try next after a refusal with this complaint; ``None`` if there are
        none.
        """
        if "max_completion_tokens" in complaint and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if "temperature" in complaint and self.temperature:
            return replace(self, temperature=False)
        if "reasoning" in complaint and self.reasoning:
            return replace(self, reasoning=False)
        if "response_format" in complaint or "json_schema" in complaint:
            forms: dict[_Form, _Form] = {"schema": "object", "object": "text"}
            return replace(self, form=forms[self.form]) if self.form in forms else None
        return None


class _Usage(BaseModel):
    prompt_tokens: _Count
    completion_tokens: _Count


_capabilities: dict[tuple[str, str], Capabilities] = {}
"""The server's capabilities for each base URL and model, shared by all runs."""


class EndpointModel:
    """A ``backends.ChatModel`` at an endpoint. No connection is opened before the
    first question.
    """

    def __init__(self, endpoint: Endpoint, key: ApiKey) -> None:
        self.endpoint = endpoint
        self._key = key
        self._client: EndpointClient | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self.endpoint.model

    @property
    def origin(self) -> str:
        return self.endpoint.origin

    @property
    def parameters(self) -> JsonObject:
        """The other parameters on which an answer depends.

        They are the temperature; the reasoning effort, if it is set; the base path if it is
        unusual, since another service may be behind it; and whose prompts are used, if they are not
        ours.
        """
        path = urlsplit(self.endpoint.base_url).path.rstrip("/")
        place = {} if path == USUAL_PATH else {"path": path}
        effort = {"reasoning": self.endpoint.reasoning} if self.endpoint.reasoning else {}
        words = {} if self.endpoint.prompts == "own" else {"prompts": self.endpoint.prompts}
        return {"temperature": self.endpoint.temperature, **effort, **place, **words}

    @property
    def capabilities(self) -> Capabilities:
        """The requests that the endpoint accepts, as far as its refusals have shown."""
        return _capabilities.get((self.endpoint.base_url, self.name), Capabilities())

    def ask(self, request: ChatRequest) -> ChatReply:
        """See ``backends.ChatModel``. The first refusal may only show what the server supports."""
        reply = self.exchange(
            lambda able: body_of(request, able, self.endpoint),
            request.tokens,
            partial(read_reply, is_text=request.schema is None),
            partial(ChatReply, None),
        )
        text = reply.text + reply.reason + canonical_json(reply.value)
        if self.repeats_key(text):
            return replace(reply, value=None, reason=REPEATED_KEY, text="")
        return reply

    def exchange(
        self,
        body: Callable[[Capabilities], Mapping[str, Any]],
        tokens: int,
        read: Callable[[HttpReply, int], Reply],
        no_reply: Callable[..., Reply],
    ) -> Reply:
        """The result of ``read`` on a reply of at most ``tokens`` tokens; ``no_reply`` if there is
        none.

        The body is built to suit the server's capabilities. After a refusal that shows what the
        server supports, or after an unreadable reply (``ValueError``), the question may be repeated
        at once.
        """
        capabilities = self.capabilities
        page = self._open_client().chat(body(capabilities))
        ask_again = partial(no_reply, final=False, seconds=page.seconds, wait=0.0)
        better = capabilities.after(page.complaint()) if page.status in (400, 422) else None
        if better is not None:
            _capabilities[self.endpoint.base_url, self.name] = better
            lesson = f"the server rejected part of the request: {page.complaint()}"
            return ask_again(reason=lesson)
        failure = failure_of(page, self.endpoint, keyed=bool(self._key.secret))
        if failure is not None:
            return no_reply(**failure.reply_fields(page, tokens))
        try:
            return read(page, tokens)
        except ValueError as error:
            return ask_again(reason=str(error))

    def repeats_key(self, text: str) -> bool:
        """Whether a text contains the key or half of it, in any spelling."""
        return masked(text, self._key.secret) != text

    def _open_client(self) -> EndpointClient:
        from toolscope_core.llm.endpoint_client import EndpointClient

        with self._lock:
            if self._client is None:
                self._client = EndpointClient(self.endpoint, self._key)
            return self._client


def body_of(request: ChatRequest, capabilities: Capabilities, endpoint: Endpoint) -> dict[str, Any]:
    """The body of the request; if the server accepts no schema, the prompt contains the schema."""
    system, form = request.system, "text" if request.schema is None else capabilities.form
    if request.schema is not None and form != "schema":
        system += (
            "\n\nReply with one JSON object and nothing else. It has to be valid against this "
            f"JSON Schema:\n{canonical_json(request.schema)}"
        )
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [
            {"role": "system", "content": sendable(system)},
            {"role": "user", "content": sendable(request.user)},
        ],
        **parameters(capabilities, endpoint, request.most_tokens),
    }
    if request.schema is not None and form == "schema":
        schema = {"name": request.name, "schema": dict(request.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif form == "object":
        body["response_format"] = {"type": "json_object"}
    return body


def parameters(able: Capabilities, endpoint: Endpoint, most_tokens: int) -> dict[str, Any]:
    """The parameters of a call that the server supports."""
    effort = endpoint.reasoning if able.reasoning else None
    return {
        able.limit: most_tokens,
        **({"temperature": endpoint.temperature} if able.temperature else {}),
        **({"reasoning_effort": effort} if effort else {}),
    }


def read_reply(page: HttpReply, tokens: int, is_text: bool = False) -> ChatReply:
    """The reply in a completion of at most ``tokens`` tokens. Raises the errors of
    ``read_completion``.
    """
    document, message, finish = read_completion(page)
    text = text_in(message)
    reason = withholding_reason(message, finish)
    value = None if reason else answer_text(text) if is_text else last_object(text)
    tokens_in, tokens_out, counted = usage_of(document, tokens, text)
    return ChatReply(
        value=value,
        reason=reason or ("" if value is not None else "the reply contains no JSON object"),
        text=text,
        finish=finish,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        counted=counted,
        seconds=page.seconds,
    )


def read_completion(page: HttpReply) -> tuple[JsonObject, JsonObject, str]:
    """The completion, its message, and why it ended.

    If the reply is not a completion, raises a ``ValueError`` that describes the reply.
    """
    try:
        document = page.document()
        choice = document["choices"][0]
        message = dict(choice["message"])
        finish = short_line(str(choice.get("finish_reason") or ""))[:40]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        start = short_line(page.body[:200].decode("utf-8", "replace"))
        raise ValueError(
            f"the reply is not a chat completion ({page.kind or 'of no type'}): {start[:80]}"
        ) from error
    return document, message, finish


def text_in(message: JsonObject) -> str:
    """The text of a message; empty if the message has none."""
    content = message.get("content")
    return content if isinstance(content, str) else ""


def answer_text(text: str) -> JsonObject:
    """A text without the reasoning before it, as an object."""
    return {"text": text.rpartition(_THOUGHT_ENDS)[2].strip()}


def last_object(text: str) -> JsonObject | None:
    """The last complete JSON object in a text, unless reasoning ends after it.

    An inner object with a repeated key becomes empty, and an invalid number becomes null; only the
    value that contains them is affected.
    """
    last: JsonObject | None = None
    end, start = 0, text.find("{")
    while start >= 0:
        try:
            last, end = _LENIENT.raw_decode(text, start)
            start = text.find("{", end)
        except ValueError as error:
            start = text.find("{", max(getattr(error, "pos", 0), start + 1))
        except RecursionError:
            break
    return None if _THOUGHT_ENDS in text[end:] else last


def _once(pairs: list[tuple[str, Any]]) -> JsonObject:
    value = dict(pairs)
    return value if len(value) == len(pairs) else {}


_LENIENT = json.JSONDecoder(object_pairs_hook=_once, parse_constant=lambda _: None)


def withholding_reason(message: Mapping[str, Any], finish: str) -> str:
    """Why the model withheld part of its answer; empty if it withheld nothing."""
    if message.get("refusal"):
        return f"the model refused: {short_line(str(message['refusal']))}"
    return {"content_filter": "blocked by the endpoint's filter", "length": _CUT}.get(finish, "")


def usage_of(document: JsonObject, tokens: int, text: str) -> tuple[int, int, bool]:
    """The tokens in and out of a completion, and whether the endpoint counted them.

    If it did not, they are estimated: ``tokens`` in, and one for every four bytes of ``text`` out.
    """
    try:
        usage = _Usage.model_validate(document.get("usage"))
    except ValidationError:
        return tokens, -(-len(text.encode("utf-8", "replace")) // 4), False
    return usage.prompt_tokens, usage.completion_tokens, True


def sendable(text: str) -> str:
    """The text without lone surrogates, which no request can contain."""
    return text.encode("utf-8", "backslashreplace").decode()


TRIES = 5
"""The number of calls that may be needed to learn what the server supports."""
_FORMS = {
    "schema": "it follows a JSON Schema",
    "object": "it answers in JSON but does not follow a schema, so ToolScope checks each reply",
    "text": "it answers in plain text, which ToolScope parses strictly",
}
_READY = {"ready": True}
_QUESTION = ChatRequest(
    system="You check whether a connection works.",
    user='Reply with {"ready": true}.',
    name="connection",
    schema={
        "type": "object",
        "properties": {"ready": {"type": "boolean"}},
        "required": ["ready"],
        "additionalProperties": False,
    },
    most_tokens=2_000,
)


@dataclass(frozen=True, slots=True)
class Connection:
    """The result of a test: ``lines`` are sentences, and ``seconds`` is how long the last call
    took.
    """

    works: bool
    lines: tuple[str, ...]
    seconds: float = 0.0


def check_connection(endpoint: Endpoint, key: ApiKey) -> Connection:
    """Ask one small question, which costs a call or two. Failures are part of the result."""
    model = EndpointModel(endpoint, key)
    try:
        for _ in range(TRIES):
            before = model.capabilities
            reply = model.ask(_QUESTION)
            if reply.final or model.capabilities == before:
                break
    except ModelStopError as error:
        return Connection(False, (f"{error}.",))
    if not reply.final:
        return Connection(False, (f"{reply.reason}.",), reply.seconds)
    lines = [
        f"{endpoint.origin} answered in {reply.seconds:.2f} s.",
        "The key is accepted." if key.secret else "It asks for no key.",
        f"The model {endpoint.model} answers.",
        f"Structured outputs: {_FORMS[model.capabilities.form]}.",
        "It reports tokens." if reply.counted else "It reports no tokens; they are estimated.",
    ]
    works = reply.value == _READY
    if not works:
        lines.append(f"Its answer could not be used: {reply.reason or 'not the expected text'}.")
    return Connection(works, tuple(lines), reply.seconds)

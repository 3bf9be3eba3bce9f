"""Whether an endpoint can be used, in words."""

from dataclasses import dataclass

from toolscope_core.llm.chat import EndpointModel
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import ApiKey
from toolscope_core.model.errors import ModelStopError
from toolscope_core.model.protocols import ChatReply, ChatRequest

TRIES = 5
"""Calls that may be needed to find out what the server supports."""
FORMS = {
    "schema": "it answers by JSON Schema",
    "object": "it answers in JSON but knows no schema; replies are checked here",
    "text": "it answers in plain text; replies are read strictly here",
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
    """The result of a test: ``lines`` are sentences, ``seconds`` the time of the last call."""

    works: bool
    lines: tuple[str, ...]
    seconds: float = 0.0


def check_connection(endpoint: Endpoint, key: ApiKey) -> Connection:
    """Ask one small question; costs a call or two. Failures are in the result."""
    model = EndpointModel(endpoint, key)
    try:
        reply = _asked(model)
    except ModelStopError as error:
        return Connection(False, (f"{error}.",))
    if not reply.final:
        return Connection(False, (f"{reply.reason}.",), reply.seconds)
    lines = [
        f"{endpoint.origin} answered in {reply.seconds:.2f} s.",
        "The key is accepted." if key.secret else "It asks for no key.",
        f"The model {endpoint.model} answers.",
        f"Structured outputs: {FORMS[model.capabilities.form]}.",
        "It reports tokens." if reply.counted else "It reports no tokens; they are estimated.",
    ]
    works = reply.value == _READY
    if not works:
        lines.append(f"Its answer could not be used: {reply.reason or 'it says something else'}.")
    return Connection(works, tuple(lines), reply.seconds)


def _asked(model: EndpointModel) -> ChatReply:
    for _ in range(TRIES):
        before = model.capabilities
        reply = model.ask(_QUESTION)
        if reply.final or model.capabilities == before:
            break
    return reply

"""The original server that the official conformance suite finds behind the gateway: what its
scenarios ask servers to have, by the names they call it. Run as ``python conformance_stub.py``.
"""

import base64
import hashlib
import hmac
import json
import sys

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ToolsListChanged,
)

from tests.support.catalogs import accepting
from toolscope_core.mcp.gateway.original_calls import FRESH

bus, CHANGES = InMemorySubscriptionBus(), []
TEXT = {"type": "string"}
PICTURE = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63"
        "64f8cf500f00038501803c9b6d2e0000000049454e44ae426082"
    )
).decode()
SOUND = base64.b64encode(b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0data\0\0\0\0").decode()
KEY = b"only for these tests"
PAUSE = 0.05
SAID = {"type": "text", "text": "This is a simple text response for testing."}
IMAGE = {"type": "image", "data": PICTURE, "mimeType": "image/png"}


def resource(uri, text, kind="text/plain"):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}


def said(text, **more):
    return {"content": [{"type": "text", "text": text}], **more}


def elicit(message, **properties):
    required = [] if any("default" in one for one in properties.values()) else list(properties)
    schema = {**accepting(**properties), "required": required}
    return {
        "method": "elicitation/create",
        "params": {"message": message, "requestedSchema": schema},
    }


def sample(text, most=100):
    content = {"type": "text", "text": text}
    params = {"messages": [{"role": "user", "content": content}], "maxTokens": most}
    return {"method": "sampling/createMessage", "params": params}


ROOTS = {"method": "roots/list", "params": {}}
NAME = elicit("What is your name?", name=TEXT)


def signed(step):
    return f"{step}.{hmac.new(KEY, step.encode(), hashlib.sha256).hexdigest()}"


def step_of(state):
    """What a state says that this server gave; an error for another."""
    step = (state or "").partition(".")[0]
    if state and not hmac.compare_digest(state, signed(step)):
        raise MCPError(types.INVALID_PARAMS, "the state is not one that this server gave")
    return step


def needed(requests, step=""):
    state = {"requestState": signed(step)} if step else {}
    return {"resultType": "input_required", "inputRequests": requests, **state}


def answers_of(params):
    """The answers to what was asked, by their keys, as plain values."""
    dumped = params.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped.get("inputResponses") or {}


def asks(requests, finish, step=""):
    """A tool that asks for all of ``requests`` before it is done."""

    async def run(context, params):
        answers = answers_of(params)
        given = step_of(params.request_state) == step
        if not given or not requests.keys() <= {key for key in answers if is_answer(answers[key])}:
            return needed(requests, step)
        return finish(answers, params.arguments or {})

    return run


def is_answer(value):
    return isinstance(value, dict) and bool({"action", "content", "roots"} & value.keys())


def asks_what_is_given(argument, request):
    async def run(context, params):
        answers = answers_of(params)
        if "it" not in answers:
            return needed({"it": request(params.arguments[argument])})
        return said(outcome(answers["it"]))

    return run


def outcome(answer):
    if "action" in answer:
        content = json.dumps(answer.get("content") or {})
        return f"User response: action={answer['action']}, content={content}"
    content = answer["content"]
    return f"LLM response: {(content[0] if isinstance(content, list) else content)['text']}"


def gives(*content):
    async def run(context, params):
        return {"content": list(content)}

    return run


async def fails(context, params):
    return said("This tool intentionally returns an error for testing", isError=True)


async def logs(context, params):
    for text in ("started", "processing data", "completed"):
        await context.session.send_log_message(
            "info", f"Tool execution {text}", related_request_id=context.request_id
        )
        await anyio.sleep(PAUSE)
    return said("done")


async def progresses(context, params):
    for step in (0, 50, 100):
        await context.session.report_progress(step, 100, f"{step} of 100")
        await anyio.sleep(PAUSE)
    return said("done")


async def in_rounds(context, params):
    step, answers = step_of(params.request_state), answers_of(params)
    if step == "two" and "step2" in answers:
        return said("done in three rounds")
    if step == "one" and "step1" in answers:
        return needed({"step2": elicit("Step 2: What is your favorite color?", color=TEXT)}, "two")
    return needed({"step1": elicit("Step 1: What is your name?", name=TEXT)}, "one")


async def asks_what_the_client_can(context, params):
    can = context.session.client_capabilities
    possible = {"elicitation": NAME, "sampling": sample("Greet me"), "roots": ROOTS}
    requests = {key: one for key, one in possible.items() if can and getattr(can, key) is not None}
    return said("done") if answers_of(params) or not requests else needed(requests)


async def needs_sampling(context, params):
    can = context.session.client_capabilities
    if can is None or can.sampling is None:
        needs = {"requiredCapabilities": {"sampling": {}}}
        code = types.MISSING_REQUIRED_CLIENT_CAPABILITY
        raise MCPError(code, "this takes a client that can sample", needs)
    return said("done")


async def changes_a_tool(context, params):
    CHANGES.append(len(CHANGES))
    await bus.publish(ToolsListChanged())
    return said("done")


async def changes_prompts(context, params):
    await bus.publish(PromptsListChanged())
    return said("done")


def chosen(values, **more):
    return {"type": "string", "enum": values, **more}


def titled(values):
    return [{"const": value, "title": value.title()} for value in values]


DEFAULTS = {
    "name": {**TEXT, "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": chosen(["active", "inactive", "pending"], default="active"),
    "verified": {"type": "boolean", "default": True},
}
CHOICES = ["option1", "option2", "option3"]
ENUMS = {
    "untitledSingle": chosen(CHOICES),
    "titledSingle": {**TEXT, "oneOf": titled(CHOICES)},
    "legacyEnum": chosen(CHOICES, enumNames=["One", "Two", "Three"]),
    "untitledMulti": {"type": "array", "items": chosen(CHOICES)},
    "titledMulti": {"type": "array", "items": {"anyOf": titled(CHOICES)}},
}
MIXED = resource(
    "test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json"
)
ALL = {"user_name": NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
CONFIRM = elicit("Please confirm", ok={"type": "boolean"})
IRR = "test_input_required_result_"


def greets(answers, arguments):
    return said(f"Hello, {(answers['user_name'].get('content') or {}).get('name')}!")


def is_done(answers, arguments):
    return said("state-ok: done")


TOOLS = {
    "test_simple_text": gives(SAID),
    "test_image_content": gives(IMAGE),
    "test_audio_content": gives({"type": "audio", "data": SOUND, "mimeType": "audio/wav"}),
    "test_embedded_resource": gives(
        resource("test://embedded-resource", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": gives(SAID, IMAGE, MIXED),
    "test_tool_with_logging": logs,
    "test_logging_tool": logs,
    "test_missing_capability": needs_sampling,
    "test_trigger_tool_change": changes_a_tool,
    "test_trigger_prompt_change": changes_prompts,
    "test_streaming_elicitation": asks({"user_name": NAME}, lambda answers, _: said("done")),
    "test_tool_with_progress": progresses,
    "test_error_handling": fails,
    "test_sampling": asks_what_is_given("prompt", sample),
    "test_elicitation": asks_what_is_given(
        "message", lambda text: elicit(text, username=TEXT, email=TEXT)
    ),
    "test_elicitation_sep1034_defaults": asks(
        {"it": elicit("Who?", **DEFAULTS)}, lambda answers, _: said(outcome(answers["it"]))
    ),
    "test_elicitation_sep1330_enums": asks(
        {"it": elicit("Which?", **ENUMS)}, lambda answers, _: said(outcome(answers["it"]))
    ),
    f"{IRR}elicitation": asks({"user_name": NAME}, greets),
    f"{IRR}sampling": asks(
        {"capital_question": sample("What is the capital of France?")},
        lambda answers, _: said(outcome(answers["capital_question"])),
    ),
    f"{IRR}list_roots": asks(
        {"client_roots": ROOTS}, lambda answers, _: said(json.dumps(answers["client_roots"]))
    ),
    f"{IRR}request_state": asks({"confirm": CONFIRM}, is_done, "confirm"),
    f"{IRR}tampered_state": asks({"confirm": CONFIRM}, is_done, "tamper"),
    f"{IRR}multiple_inputs": asks(ALL, is_done, "all"),
    f"{IRR}multi_round": in_rounds,
    f"{IRR}capabilities": asks_what_the_client_can,
}
TAKES = {"test_sampling": "prompt", "test_elicitation": "message"}
PHONE, MAIL = {"required": ["phone"]}, {"required": ["email"]}
RICH = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", **accepting(street=TEXT, city=TEXT)}},
    "properties": {
        "name": TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": chosen(["phone", "email"]),
        "phone": TEXT,
        "email": TEXT,
    },
    "allOf": [{"anyOf": [PHONE, MAIL]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": PHONE,
    "else": MAIL,
    "additionalProperties": False,
}
HEADED = accepting(region={**TEXT, "x-mcp-header": "Region"}, query=TEXT)


def records():
    for name in TOOLS:
        schema = accepting(**({TAKES[name]: TEXT} if name in TAKES else {}))
        yield {"name": name, "description": f"{name} for conformance.", "inputSchema": schema}
    yield {"name": "json_schema_2020_12_tool", "description": "A rich one.", "inputSchema": RICH}
    yield {"name": "test_headers", "description": "One with a header.", "inputSchema": HEADED}
    changes = "As it was." if len(CHANGES) % 2 == 0 else "Changed."
    yield {"name": "test_changing", "description": changes, "inputSchema": accepting()}


async def list_tools(context, params):
    return {"tools": list(records())}


async def call_tool(context, params):
    if params.name not in TOOLS:
        return said("done")
    return await TOOLS[params.name](context, params)


RESOURCES = {
    "test://static-text": {"text": "This is the content of the static text resource."},
    "test://static-binary": {"blob": PICTURE, "mimeType": "image/png"},
    "test://watched-resource": {"text": "Watched."},
}


async def list_resources(context, params):
    return {"resources": [{"uri": uri, "name": uri[7:]} for uri in RESOURCES]}


async def list_templates(context, params):
    return {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "template"}]}


async def read_resource(context, params):
    content = RESOURCES.get(str(params.uri))
    if content is None and str(params.uri) == "test://template/123/data":
        content = {"text": '{"id": "123", "templateTest": true}', "mimeType": "application/json"}
    if content is None:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": str(params.uri)})
    return {"contents": [{"uri": str(params.uri), "mimeType": "text/plain", **content}]}


def message(content):
    return {"role": "user", "content": content}


def prompts(arguments, answers):
    first, second = arguments.get("arg1"), arguments.get("arg2")
    uri = arguments.get("resourceUri", "test://none")
    context = (answers.get("user_context", {}).get("content") or {}).get("context")
    return {
        "test_simple_prompt": ["This is a simple prompt for testing."],
        "test_prompt_with_arguments": [f"Prompt with arguments: arg1='{first}', arg2='{second}'"],
        "test_prompt_with_embedded_resource": [resource(uri, "Embedded."), "Process it."],
        "test_prompt_with_image": [IMAGE, "Please analyze the image above."],
        f"{IRR}prompt": [f"Context: {context}"],
    }


NEEDS = {
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
}


async def list_prompts(context, params):
    listed = [
        {
            "name": name,
            "description": name,
            "arguments": [{"name": one, "required": True} for one in NEEDS.get(name, ())],
        }
        for name in prompts({}, {})
    ]
    return {"prompts": listed}


async def get_prompt(context, params):
    answers = answers_of(params)
    if params.name == f"{IRR}prompt" and "user_context" not in answers:
        return needed({"user_context": elicit("What context should the prompt use?", context=TEXT)})
    content = prompts(params.arguments or {}, answers).get(params.name)
    if content is None:
        raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name}")
    blocks = [SAID | {"text": one} if isinstance(one, str) else one for one in content]
    return {"messages": [message(one) for one in blocks]}


async def complete(context, params):
    return {"completion": {"values": ["paris", "park"], "total": 2, "hasMore": False}}


def whole(answer):
    """What results have since MCP 2026-07-28, beside what ``answer`` gives."""

    async def run(context, params):
        return {**FRESH, **await answer(context, params)}

    return run


server = Server(
    "fixture",
    version="1",
    on_list_tools=whole(list_tools),
    on_call_tool=whole(call_tool),
    on_list_resources=whole(list_resources),
    on_list_resource_templates=whole(list_templates),
    on_read_resource=whole(read_resource),
    on_list_prompts=whole(list_prompts),
    on_get_prompt=whole(get_prompt),
    on_completion=whole(complete),
    on_subscriptions_listen=ListenHandler(bus),
)


async def main():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1:] == ["records"]:
        sys.stdout.write(json.dumps(list(records())))
    else:
        anyio.run(main)

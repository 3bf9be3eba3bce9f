import pytest

from tests.llm.conftest import SECRET, endpoint_at, model_at
from tests.support.model_server import NO_OBJECT, THOUGHTS, completion
from toolscope_core.llm.chat import Capabilities, check_connection, last_object
from toolscope_core.model.environment import ApiKey
from toolscope_core.model.errors import ModelStopError
from toolscope_core.model.protocols import ChatRequest

SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
REQUEST = ChatRequest("Be brief.", "Ready? \ud800", "ready", SCHEMA, most_tokens=77)


def test_a_question_is_sent_as_it_is_and_answered(server, model):
    reply = model.ask(REQUEST)
    assert reply.value == {"ready": True} and reply.final and not reply.reason
    assert (reply.tokens_in, reply.tokens_out, reply.counted) == (50, 7, True)
    assert reply.finish == "stop" and reply.seconds > 0
    (got,) = server.received
    assert got.path == "/v1/chat/completions"
    assert got.headers["authorization"] == f"Bearer {SECRET}"
    assert got.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Ready? \\ud800"},
        ],
        "max_tokens": 77,
        "temperature": 0.0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "ready", "schema": SCHEMA, "strict": True},
        },
    }


def test_the_ledger_knows_the_model_by_name_origin_and_parameters(server, model):
    assert (model.name, model.origin) == ("m", server.origin)
    assert model.parameters == {"temperature": 0.0}
    thinking = model_at(server, reasoning="low", most_tokens=500).parameters
    assert thinking == {"temperature": 0.0, "reasoning": "low"}


@pytest.mark.parametrize(("mode", "form"), [("no-schema", "object"), ("no-format", "text")])
def test_what_the_server_supports_is_found_out_once(server, mode, form):
    server.mode = mode
    model, tries = model_at(server), 0
    while not (reply := model.ask(REQUEST)).final:
        assert reply.wait == 0.0 and "response_format" in reply.reason
        tries += 1
    assert reply.value == {"ready": True} and model.capabilities.form == form
    assert tries == {"object": 1, "text": 2}[form]
    assert '"ready"' in server.received[-1].system and "JSON Schema" in server.received[-1].system
    assert model_at(server).ask(REQUEST).final, "another model of the same endpoint remembers"
    assert model_at(server, model="other").capabilities == Capabilities()


def test_parameters_that_a_model_does_not_know_are_left_out(server):
    server.mode, model = "new-parameters", model_at(server, reasoning="high")
    assert [model.ask(REQUEST).final for _ in range(3)] == [False] * 3
    assert server.received[0].body["reasoning_effort"] == "high"
    assert model.ask(REQUEST).value == {"ready": True}
    sent = server.received[-1].body
    assert sent["max_completion_tokens"] == 77
    assert not sent.keys() & {"temperature", "max_tokens", "reasoning_effort"}


def test_capabilities_that_are_refused_to_the_end_teach_nothing():
    last = Capabilities("text", "max_completion_tokens", temperature=False, reasoning=False)
    refused = "response_format max_completion_tokens temperature reasoning"
    assert last.after(refused) is None


@pytest.mark.parametrize("text", NO_OBJECT, ids=lambda text: text[:30])
def test_a_reply_without_an_object_is_refused(server, model, text):
    server.contents.append(text)
    reply = model.ask(REQUEST)
    assert reply.value is None and reply.final and "no JSON object" in reply.reason


@pytest.mark.parametrize(
    "text",
    [
        '{"ready": true}',
        ' \n{"ready": true}\n ',
        '```json\n{"ready": true}\n```',
        'Here you are: {"ready": true}. Anything else?',
        'First {"ready": false}, no: {"ready": true}',
        'Of {x, y} and {"a" I take {"ready": true}',
        THOUGHTS % '{"ready": true}',
        'It may be {"ready": false}.</think>{"ready": true}',
    ],
)
def test_the_last_whole_object_counts_whatever_stands_around_it(text):
    assert last_object(text) == {"ready": True}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": {"x": NaN, "y": 1}, "b": 2}', {"a": {"x": None, "y": 1}, "b": 2}),
        ('{"a": {"x": 1, "x": 2}, "b": 2}', {"a": {}, "b": 2}),
    ],
)
def test_what_is_ambiguous_or_no_json_spoils_its_own_place_only(text, value):
    assert last_object(text) == value


@pytest.mark.parametrize(
    ("mode", "reason", "finish", "wait"),
    [
        ("truncated", "cut off", "length", None),
        ("refusal", "the model refused: I cannot help", "stop", None),
        ("filtered", "filter", "content_filter", None),
        ("huge", "larger than 5 MB", "", None),
        ("too-long", "too long (400)", "too long", None),
        ("html", "(text/html): <html>", "again", 0.0),
        ("bad-request", "(400): that is no request", "again", None),
        ("closed", "no connection", "again", 0.0),
        ("cut", "no connection", "again", 0.0),
        ("compressed", "compressed", "again", None),
    ],
)
def test_what_the_model_did_say_is_final_and_all_else_may_be_asked_again(
    server, model, mode, reason, finish, wait
):
    server.mode = mode
    reply = model.ask(REQUEST)
    assert reply.value is None and reason in reply.reason
    assert (reply.finish if reply.final else "again") == finish
    assert reply.final or reply.wait == wait


def test_a_filter_may_also_refuse_the_request(server, model, answer_with):
    server.statuses.append((400, {}))
    answer_with(error={"error": {"code": "content_filter"}})
    assert "filter" in model.ask(REQUEST).reason


@pytest.mark.parametrize("document", ["[]", "{}", '{"choices": []}', '{"choices": [{}]}', "null"])
def test_json_that_is_no_completion(server, model, document, answer_with):
    answer_with(completion=document)
    assert "(application/json)" in model.ask(REQUEST).reason
    answer_with(completion=completion([{"type": "text", "text": "{}"}]))
    assert "no JSON object" in model.ask(REQUEST).reason


@pytest.mark.parametrize(
    "usage", [None, 7, {}, {"prompt_tokens": -1, "completion_tokens": 1}, {"prompt_tokens": 10**30}]
)
def test_tokens_that_are_not_reported_are_estimated(server, model, usage, answer_with):
    answer_with(completion=completion('{"ready": true}') | {"usage": usage})
    found = model.ask(REQUEST)
    assert (found.tokens_in, found.tokens_out, found.counted) == (REQUEST.tokens, 4, False)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("refused-key", ["rejects the key (401)"]),
        ("no-key", ["TOOLSCOPE_API_ORIGIN to http://127.0.0.1:"]),
        ("forbidden", ["(403)", "'m'"]),
        ("quota", ["quota is used up (429)", "exceeded your current quota"]),
        ("no-model", ["model 'm'", "(404)", "does not exist"]),
        ("redirect", ["redirects to 'http://elsewhere.test/v1/chat/completions' (307)"]),
    ],
)
def test_what_no_further_call_can_mend_stops(server, mode, words):
    server.mode, server.target = mode, "http://elsewhere.test"
    secret = SECRET
    if mode == "no-key":
        server.mode, secret = "refused-key", ""
    with pytest.raises(ModelStopError) as stopped:
        model_at(server, secret=secret).ask(REQUEST)
    message = str(stopped.value)
    assert message.startswith(server.origin) and all(word in message for word in words)
    assert SECRET not in message


@pytest.mark.parametrize(("status", "wait"), [(429, 3.5), (503, 3.5), (500, 0.0), (529, 0.0)])
def test_a_server_that_is_busy_says_how_long(server, model, status, wait):
    server.statuses.append((status, {"retry_after": "3.5"} if wait else {}))
    reply = model.ask(REQUEST)
    assert not reply.final and reply.wait == wait and f"busy ({status})" in reply.reason


def test_a_date_to_wait_for_is_understood(server, model):
    server.mode = "busy"
    assert 0.0 < model.ask(REQUEST).wait <= 2.0


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("<html>Bad\n Gateway</html>", "<html>Bad Gateway</html>"),
        ('{"error": "model is loading"}', "model is loading"),
        ('{"object": "error", "message": "no slot"}', "no slot"),
        ('["odd"]', "['odd']"),
        ("x" * 5000, "x" * 200),
    ],
)
def test_errors_of_any_shape_are_told_in_one_short_line(server, model, body, cause, answer_with):
    server.statuses.append((502, {}))
    answer_with(error=body)
    assert model.ask(REQUEST).reason == f"{server.origin} is busy (502): {cause}"


def connection_to(server, secret=SECRET):
    return check_connection(endpoint_at(server), ApiKey(server.origin, secret))


@pytest.mark.parametrize(
    ("mode", "works", "words"),
    [
        ("ok", True, "JSON Schema"),
        ("no-schema", True, "not follow a schema"),
        ("no-format", True, "plain text"),
        ("refused-key", False, "rejects the key"),
        ("closed", False, "no connection"),
        ("refusal", False, "model refused"),
    ],
)
def test_a_connection_is_described_and_its_key_is_not(server, mode, works, words):
    server.mode = mode
    connection = connection_to(server)
    text = " ".join(connection.lines)
    assert connection.works is works and words in text
    if works:
        assert all(part in text for part in (server.origin, "accepted", "reports tokens"))
        assert connection.seconds > 0
    assert SECRET not in repr(connection)


def test_no_key_and_no_usage_are_said(server):
    server.mode = "uncounted"
    text = " ".join(connection_to(server, secret="").lines)
    assert "no key" in text and "estimated" in text

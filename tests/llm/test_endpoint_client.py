"""What leaves the house and how long it may take."""

import logging
import socket
import traceback

import pytest

from tests.llm.conftest import SECRET, endpoint_at, model_at
from tests.llm.test_chat import REQUEST
from tests.support.model_server import ModelServer
from toolscope_core.llm.chat import EndpointModel
from toolscope_core.llm.endpoint_client import EndpointClient, retry_after
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import ApiKey
from toolscope_core.model.errors import ConfigError, ModelStopError


@pytest.mark.case(22)
@pytest.mark.parametrize("mode", ["slow", "dripping", "dripping-headers"])
def test_every_call_ends_by_its_deadline(server, mode):
    """Without one it would hang for as long as a minute or more."""
    server.mode = mode
    reply = model_at(server, deadline=0.1).ask(REQUEST)
    assert not reply.final and reply.wait == 0.0 and "not answer within 0.1 s" in reply.reason
    assert 0.1 <= reply.seconds < 50
    assert reply.tokens_in == REQUEST.tokens and not reply.counted


def test_a_handshake_ends_by_the_deadline_too():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        origin = f"https://127.0.0.1:{silent.getsockname()[1]}"
        model = EndpointModel(Endpoint(origin, "m", deadline=1.5), ApiKey(origin, SECRET))
        assert "1.5 s" in model.ask(REQUEST).reason


@pytest.mark.parametrize(
    ("origin", "words"),
    [("http://127.0.0.1:9", "refused"), ("http://nowhere.test", "nowhere.test")],
)
def test_a_server_that_is_not_there_is_a_failure_in_words(monkeypatch, origin, words):
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    if "nowhere" in origin:
        monkeypatch.setattr("socket.getaddrinfo", unknown)
    reply = EndpointModel(Endpoint(origin, "m"), ApiKey(origin, "")).ask(REQUEST)
    assert not reply.final and "no connection" in reply.reason and words in reply.reason


def test_nothing_of_the_environment_goes_along(server, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "leak")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://leak.test")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: leak\nAuthorization: leak")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert model_at(server, secret="").ask(REQUEST).final
    (got,) = server.received
    assert "leak" not in str(got.headers) and "authorization" not in got.headers
    assert set(got.headers) == {
        *("accept", "accept-encoding", "content-length", "content-type", "host", "user-agent")
    } | {"connection"} & set(got.headers)


def test_a_key_of_another_origin_is_refused(server):
    model = EndpointModel(endpoint_at(server), ApiKey("https://api.openai.com", SECRET))
    with pytest.raises(ConfigError, match=r"api\.openai\.com") as refused:
        model.ask(REQUEST)
    assert SECRET not in str(refused.value) and not server.received


@pytest.mark.parametrize("secret", ["sk-schlüssel", "sk-abc\ndef", "sk-\x00abc", "sk-\ud800abc"])
def test_a_key_that_no_header_can_hold_is_refused_in_words(server, secret):
    with pytest.raises(ConfigError, match="cannot be sent") as refused:
        model_at(server, secret=secret).ask(REQUEST)
    assert "abc" not in str(refused.value) and not server.received


def test_the_transport_sends_to_no_other_origin(server):
    with ModelServer() as other:
        client = EndpointClient(endpoint_at(server), ApiKey(server.origin, SECRET))
        client._client.base_url = other.url
        page = client.chat({"model": "m", "messages": []})
        assert "nothing was sent" in page.failure and not other.received


@pytest.mark.parametrize(
    "content", [None, '{"ready": true, "note": "KEY"}', "KEY", '{"KEY": 1}'], ids=str
)
def test_a_key_that_is_said_back_goes_nowhere(server, model, content, caplog):
    caplog.set_level(logging.DEBUG)
    server.mode = "echo-key"
    server.contents.extend([content] if content else [])
    schema = {"type": "object"}
    reply = model.ask(REQUEST.__class__("s", "u", "n", schema))
    assert SECRET not in repr(reply)
    assert SECRET not in caplog.text


def test_a_key_in_the_words_of_a_network_failure_is_masked_before_they_are_cut(monkeypatch):
    monkeypatch.setattr(
        "toolscope_core.llm.endpoint_client._cause", lambda _: f"{'x' * 220}{SECRET}"
    )
    nobody = Endpoint("http://127.0.0.1:9/v1", "m")
    page = EndpointClient(nobody, ApiKey(nobody.origin, SECRET)).chat(
        {"model": "m", "messages": []}
    )
    assert page.failure.endswith("x[key])")


def test_a_key_is_in_no_error_and_no_log(server, model, caplog):
    caplog.set_level(logging.DEBUG)
    server.mode = "refused-key"
    with pytest.raises(ModelStopError) as stopped:
        model.ask(REQUEST)
    assert SECRET not in "".join(traceback.format_exception(stopped.value))
    assert stopped.value.__context__ is None and stopped.value.__cause__ is None
    assert SECRET not in caplog.text + repr(model) + repr(model._key) + repr(vars(model))


@pytest.mark.parametrize(
    ("status", "page", "spelled"),
    [
        (402, '{"error": "not for KEY!"}', SECRET),
        (404, '{"error": "not for KEY!"}', SECRET.replace("c", r"\u0063")),
        (402, '{"error": 1, "error": "not for KEY!"}', SECRET.replace("/", r"\/")),
        (404, '{"error": "not for KEY!', "".join(f"\\u{ord(char):04x}" for char in SECRET)),
        (404, '{"error": "not for KEY!', SECRET.replace("/", "%2f")),
    ],
)
def test_a_key_in_what_an_endpoint_complains_of_is_cut_out(
    server, model, status, page, spelled, answer_with
):
    """Whole, with a key of the JSON twice, and cut."""
    server.statuses.append((status, {}))
    answer_with(error=page.replace("KEY", spelled))
    with pytest.raises(ModelStopError, match=r"not for \[key\]!"):
        model.ask(REQUEST)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "-7"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
    ],
)
def test_how_long_to_wait(headers, seconds):
    assert retry_after(headers) == seconds

import pytest

from tests.llm.conftest import SECRET, endpoint_at
from toolscope_core.llm.chat import check_connection
from toolscope_core.model.environment import ApiKey


def told(server, secret=SECRET):
    return check_connection(endpoint_at(server), ApiKey(server.origin, secret))


@pytest.mark.parametrize(
    ("mode", "form"),
    [("ok", "JSON Schema"), ("no-schema", "knows no schema"), ("no-format", "plain text")],
)
def test_a_server_that_works_is_described(server, mode, form):
    server.mode = mode
    found = told(server)
    text = " ".join(found.lines)
    assert (
        found.works and form in text and "key is accepted" in text and "It reports tokens." in text
    )
    assert text.startswith(f"{server.origin} answered in 0.") and found.seconds > 0


def test_no_key_and_no_usage_are_said(server):
    server.mode = "uncounted"
    text = " ".join(told(server, secret="").lines)
    assert "asks for no key" in text and "estimated" in text


@pytest.mark.parametrize(
    ("mode", "words"),
    [("refused-key", "refuses the key"), ("closed", "no connection"), ("refusal", "model refused")],
)
def test_what_does_not_work_is_said(server, mode, words):
    server.mode = mode
    found = told(server)
    assert not found.works and words in " ".join(found.lines)
    assert SECRET not in repr(found)

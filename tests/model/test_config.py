from dataclasses import asdict

import pytest

from toolscope_core.model.configuration import Budget, Endpoint, Patience, Prices
from toolscope_core.model.environment import (
    OPENAI,
    VARIABLES,
    ApiKey,
    key_for,
    origin_of,
    read_environment,
    read_keys,
    unused_variables,
)
from toolscope_core.model.errors import ConfigError


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com"),
        ("HTTPS://API.OpenAI.com:443/v1/", "https://api.openai.com"),
        ("http://localhost:11434/v1", "http://localhost:11434"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000"),
        ("https://x.openai.azure.com/openai/v1/", "https://x.openai.azure.com"),
    ],
)
def test_an_origin_has_one_spelling(url, origin):
    assert origin_of(url) == origin == origin_of(origin)


@pytest.mark.parametrize(
    "url",
    [
        *("", "api.openai.com", "ftp://host/v1", "file:///etc/passwd", "http://"),
        *("http://host:port/v1", "http://host:99999/v1", "http://[::1/v1", "http://ho st/v1"),
        *("http://host\n/v1", "http://hôst/v1", "https://user:secret@host/v1"),
        *("https://host/v1?key=secret", "https://host/v1#secret"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_its_secrets(url):
    with pytest.raises(ConfigError, match=r"http://localhost:11434/v1") as refused:
        Endpoint(url, "m")
    assert "user" not in str(refused.value) and "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "changes",
    [
        *({"model": " "}, {"model": "a\nb"}, {"model": "\ud800"}, {"concurrency": 0}),
        *({"concurrency": 65}, {"deadline": 0.0}, {"deadline": 601.0}, {"deadline": float("nan")}),
        *({"temperature": -0.1}, {"temperature": 2.1}),
    ],
)
def test_knobs_of_an_endpoint_that_cannot_be_used_are_refused(changes):
    with pytest.raises(ConfigError):
        Endpoint(**{"base_url": OPENAI, "model": "m", **changes})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Prices(-1.0, 0.0),
        lambda: Prices(0.0, float("inf")),
        lambda: Budget(calls=-1),
        lambda: Budget(money=-1.0),
        lambda: Budget(money=float("nan")),
    ],
)
def test_prices_and_budgets_that_cannot_be_used_are_refused(make):
    with pytest.raises(ConfigError):
        make()


def test_a_key_is_shown_nowhere():
    key = ApiKey(OPENAI, "sk-1")
    settings = read_environment({"OPENAI_API_KEY": "sk-1"})
    assert settings.keys == (key,) and settings.keys[0].secret == "sk-1"
    assert "sk-1" not in repr(key) + str(key) + repr(settings) + repr(asdict(Endpoint(OPENAI, "m")))


def test_a_key_belongs_to_one_origin():
    both = {
        "TOOLSCOPE_API_KEY": " own ",
        "TOOLSCOPE_BASE_URL": "http://localhost:11434/v1",
        "OPENAI_API_KEY": "sk-1",
    }
    keys = read_keys(both)
    secrets = [("http://localhost:11434", "own"), (OPENAI, "sk-1")]
    assert [(key.origin, key.secret) for key in keys] == secrets
    assert key_for("http://localhost:11434", keys).secret == "own"
    assert key_for(OPENAI, keys).secret == "sk-1"
    assert key_for("https://evil.test", keys) == ApiKey("https://evil.test", "")
    assert key_for("https://evil.test", keys).secret == ""
    bound = read_keys({**both, "TOOLSCOPE_API_ORIGIN": OPENAI})
    assert key_for(OPENAI, bound).secret == "own"
    assert key_for("http://localhost:11434", bound).secret == ""


def test_a_key_without_an_origin_is_not_used():
    assert read_keys({"TOOLSCOPE_API_KEY": "own"}) == ()
    assert read_keys({"TOOLSCOPE_API_ORIGIN": OPENAI}) == ()


def test_a_key_with_an_address_that_cannot_be_used_stops_nothing_else():
    values = {"TOOLSCOPE_API_KEY": "own", "TOOLSCOPE_API_ORIGIN": "models", "OPENAI_API_KEY": "sk"}
    assert read_keys(values) == (ApiKey(OPENAI, "sk"),)


def test_the_environment_names_the_endpoint():
    settings = read_environment({"TOOLSCOPE_BASE_URL": "http://h/v1", "TOOLSCOPE_MODEL": "m"})
    assert (settings.base_url, settings.model, settings.keys) == ("http://h/v1", "m", ())


@pytest.mark.parametrize(
    ("attempt", "retry_after", "wait"),
    [
        *((1, 0.0, 0.5), (2, 0.0, 1.0), (5, 0.0, 8.0), (1, 30.0, 30.0), (5, 3.0, 8.0)),
        *((7, 0.0, 30.0), (1, 121.0, None), (8, 0.0, None)),
    ],
)
def test_how_long_to_wait_before_asking_again(attempt, retry_after, wait):
    assert Patience().pause(attempt, retry_after) == wait


def test_a_variable_that_is_set_and_not_used_is_named():
    used = dict.fromkeys(VARIABLES, "http://localhost:1/v1")
    start_servers = "TOOLSCOPE_VISITORS_START_SERVERS"
    assert unused_variables(used | {start_servers: "1", "OTHER": "x"}) == ()
    (sentence,) = unused_variables({"TOOLSCOPE_API_KEY": "sk"})
    assert sentence.startswith("TOOLSCOPE_API_KEY ") and "TOOLSCOPE_API_ORIGIN" in sentence
    hidden = {"TOOLSCOPE_API_KEY": "sk-1", "TOOLSCOPE_API_ORIGIN": "https\u2060://api.openai.com"}
    (sentence,) = unused_variables(hidden)
    assert "cannot be used" in sentence and "sk-1" not in sentence
    (sentence,) = unused_variables({"TOOLSCOPE_API_ORIGIN": OPENAI})
    assert sentence.startswith("TOOLSCOPE_API_ORIGIN ") and "TOOLSCOPE_API_KEY" in sentence
    (sentence,) = unused_variables({"toolscope_base_urls": "x"})
    assert sentence.endswith(" TOOLSCOPE_BASE_URL?")
    (sentence,) = unused_variables({"TOOLSCOPE_FROBNICATE_EVERYTHING": "x"})
    assert " TOOLSCOPE_STORE_URL, " in sentence
    (sentence,) = unused_variables({start_servers: "yes"})
    assert "set it to 1" in sentence


def test_every_variable_that_is_read_has_its_name_listed():
    read = []

    class Watched(dict):
        def get(self, name, default=None):
            read.append(name)
            return default

    read_environment(Watched())
    assert {name for name in read if name.startswith("TOOLSCOPE_")} == {*VARIABLES}

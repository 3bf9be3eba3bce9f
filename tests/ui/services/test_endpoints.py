"""Which endpoint is asked, and where its key comes from."""

from dataclasses import replace

import pytest

from toolscope_core.llm.endpoints import Endpoints, on_this_machine
from toolscope_core.model.configuration import Budget, Endpoint, Prices
from toolscope_core.model.environment import ApiKey, read_environment
from toolscope_core.store.engine import Store

SECRET = "sk-secret-0123456789"
FULL = Endpoint(
    *("http://127.0.0.1:9/v1", "m", 4, 30.0, 0.5, 9_000, "low"),
    prices=Prices(1.0, 2.0),
    budget=Budget(calls=7, money=0.5),
)


@pytest.fixture
def store():
    store = Store(read_environment().store_url)
    yield store
    store.close()


def endpoints(store, **changes):
    return Endpoints(replace(read_environment({}), **changes), store)


def test_what_was_saved_comes_back_and_before_the_environment(store):
    found = endpoints(store, base_url="http://127.0.0.1:1/v1", model="other")
    assert found.get() == Endpoint("http://127.0.0.1:1/v1", "other")
    found.save(FULL)
    found.save(FULL)
    assert found.get() == FULL and endpoints(store).get() == FULL
    found.forget()
    assert found.get().model == "other" and endpoints(store).get() is None


def test_a_model_costs_what_the_table_says_whatever_the_endpoint(store):
    found = endpoints(store, base_url="http://127.0.0.1:1/v1", model="m")
    found.save(FULL)
    assert found.prices() == {"m": FULL.prices}
    found.save(replace(FULL, model="other", prices=None))
    assert found.get().prices is None
    found.forget()
    assert found.get().prices == FULL.prices, "the endpoint of the environment names that model"
    found.save_prices({})
    assert found.get().prices is None


def test_a_key_is_found_for_its_own_origin_only(store):
    keys = (ApiKey("https://models.example", SECRET),)
    found = endpoints(store, keys=keys)
    assert found.key(Endpoint("https://models.example/v1", "m")).secret == SECRET
    assert not found.key(Endpoint("https://models.example:8443/v1", "m")).secret
    assert not found.key(FULL).secret


@pytest.mark.parametrize(
    ("origin", "here"),
    [
        ("http://127.0.0.2:80", True),
        ("http://[::1]:80", True),
        ("http://localhost:11434", True),
        ("http://localhost.example", False),
        ("http://10.0.0.1", False),
    ],
)
def test_what_is_on_this_machine(origin, here):
    assert on_this_machine(origin) is here

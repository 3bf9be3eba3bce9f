from functools import cache

import pytest

from tests.support.model_server import ModelServer
from toolscope_core.llm import endpoint_client
from toolscope_core.llm.chat import EndpointModel, _capabilities
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import ApiKey

SECRET = "sk-secret/0123456789"


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_read_once():
    """Each client reads those of the system, which takes longer than a question."""
    with pytest.MonkeyPatch.context() as patch:
        read = cache(endpoint_client.httpcore2.default_ssl_context)
        patch.setattr(endpoint_client.httpcore2, "default_ssl_context", read)
        yield


@pytest.fixture
def server():
    with ModelServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _nothing_remembered():
    """Ports are used again: what one test found out of its server is not true of the next."""
    _capabilities.clear()


@pytest.fixture
def model(server):
    return model_at(server)


@pytest.fixture
def answer_with(monkeypatch):
    """Sets what the server sends in place of a ``completion``, an ``error`` or ``vectors``."""

    def answer(**documents):
        for kind, document in documents.items():
            monkeypatch.setattr(
                f"tests.support.model_server.{kind}", lambda *_, sent=document: sent
            )

    return answer


def endpoint_at(server, **changes):
    return Endpoint(**{"base_url": server.url, "model": "m", "deadline": 60.0, **changes})


def model_at(server, secret=SECRET, **changes):
    return EndpointModel(endpoint_at(server, **changes), ApiKey(server.origin, secret))

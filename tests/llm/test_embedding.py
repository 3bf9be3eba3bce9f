import numpy as np
import pytest

from tests.llm.conftest import SECRET, endpoint_at
from tests.support.model_server import ModelServer, vectors
from toolscope_core.llm.embedding import EndpointEmbedder
from toolscope_core.model.configuration import Patience
from toolscope_core.model.environment import ApiKey
from toolscope_core.model.errors import ModelError, ModelStopError

TEXTS = ["send a mail", "send a mail to me", "", "weather of a city \ud800"]


def embedder(server, **changes):
    patience = Patience(attempts=3, first_wait=0.001)
    return EndpointEmbedder(endpoint_at(server, **changes), ApiKey(server.origin, SECRET), patience)


def test_vectors_are_normalised_and_in_the_order_of_the_texts(server):
    found = embedder(server).encode(TEXTS)
    assert found.dtype == np.float32 and found.shape == (4, 16)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0)
    alone = np.concatenate([embedder(server).encode([text]) for text in TEXTS])
    assert np.allclose(found, alone, atol=1e-6)
    assert found[0] @ found[1] > found[0] @ found[3]
    first = server.received[0]
    assert first.path == "/v1/embeddings" and first.headers["authorization"] == f"Bearer {SECRET}"
    assert first.body["input"][2] == " " and first.body["encoding_format"] == "float"


def test_many_texts_go_in_batches_and_no_texts_in_none(server):
    texts = [f"tool {number}" for number in range(150)]
    assert embedder(server).encode([]).shape == (0, 0) and not server.received
    found = embedder(server).encode(texts)
    assert sorted(len(got.body["input"]) for got in server.received) == [22, 64, 64]
    assert np.allclose(found[140], embedder(server).encode(["tool 140"])[0], atol=1e-6)


def test_the_name_tells_the_address(server):
    with ModelServer() as other:
        assert embedder(server).name == f"m@{server.url}" != embedder(other).name
    assert SECRET not in repr(vars(embedder(server)))


def test_a_server_that_is_busy_is_asked_again(server):
    server.statuses.extend([(429, {"retry_after": "0.01"}), (500, {})])
    assert embedder(server).encode(["a"]).shape == (1, 16)
    assert len(server.received) == 3


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        *(("closed", "no connection"), ("slow", "not answer within"), ("huge", "5 MB")),
        ("refused-key", "rejects the key"),
    ],
)
def test_a_server_that_does_not_answer_is_an_error_in_words(server, mode, words):
    server.mode = mode
    error = ModelStopError if mode == "refused-key" else ModelError
    with pytest.raises(error, match=words) as failed:
        embedder(server, deadline=0.05 if mode == "slow" else 60.0).encode(["a"] * 200)
    assert SECRET not in str(failed.value)


def one(value):
    return {"data": [{"index": 0, "embedding": value}]}


@pytest.mark.parametrize(
    "reply",
    [
        {},
        one([]),
        one("abc"),
        one([0.0, 0.0]),
        one([1e308, 1e308]),
        one([10**400]),
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [*one([1.0])["data"], {"index": 1, "embedding": [1.0]}]},
        "no JSON",
    ],
    ids=str,
)
def test_vectors_that_cannot_be_used_are_refused(server, reply, answer_with):
    answer_with(vectors=reply)
    with pytest.raises(ModelError, match="not return 1 vectors"):
        embedder(server).encode(["a"])


def test_vectors_of_different_lengths_are_refused(server, monkeypatch):
    monkeypatch.setattr(
        "tests.support.model_server.vectors",
        lambda texts: vectors(texts, 8 if len(texts) < 64 else 16),
    )
    with pytest.raises(ModelError, match="lengths"):
        embedder(server).encode(["a"] * 70)

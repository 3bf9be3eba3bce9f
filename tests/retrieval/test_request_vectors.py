"""The vectors of requests: worked out once, and no more of them than may stay in memory."""

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.retrieval import documents
from toolscope_core.retrieval.documents import RequestVectors


@pytest.fixture
def requests(tmp_path):
    return RequestVectors(WordEmbedder(), VectorCache(tmp_path))


def test_a_request_is_encoded_once(requests):
    first = requests.of(["a b", "c", "a b"])
    again = requests.of(["c", "a b"])
    assert len(requests._embedder.asked) == 2
    assert np.array_equal(first[0], first[2]) and np.array_equal(first[0], again[1])


def test_beyond_the_limit_the_old_ones_go_and_every_answer_is_right(requests, monkeypatch):
    monkeypatch.setattr(documents, "MOST", 3)
    expected = WordEmbedder().encode(["a", "b", "c", "d"])
    requests.of(["a", "b"])
    assert np.array_equal(requests.of(["b", "c", "d"]), expected[1:])
    assert np.array_equal(requests.of(["a", "b", "c", "d"]), expected)

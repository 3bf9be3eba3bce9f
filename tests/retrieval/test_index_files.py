"""The index in the cache folder: kept, read back, and built anew where it is damaged."""

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.embedding.vector_cache import VectorCache, encode_new
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval import documents, index_files
from toolscope_core.retrieval.documents import RequestVectors, SearchDocument, tool_document
from toolscope_core.retrieval.index_files import open_index

DOCUMENTS = [
    tool_document(Tool(name, name, text))
    for name, text in (("a", "send mail"), ("b", "read mail"), ("c", "send mail"))
]
DOCUMENTS[2] = SearchDocument("c", DOCUMENTS[0].short, DOCUMENTS[0].full)


@pytest.fixture
def cache(tmp_path):
    return VectorCache(tmp_path)


def folders(cache):
    return sorted((cache.folder / "search").iterdir())


def read_in_full(cache, embedder):
    """The index of all documents, with all their full texts."""
    index = open_index(DOCUMENTS, embedder, cache)
    index.add(encode_new(index.unread(range(len(DOCUMENTS))), embedder, cache))
    return open_index(DOCUMENTS, embedder, cache)


def scores(index, text="send a mail"):
    vector = WordEmbedder().encode([text])[0]
    in_full = index.in_full(index.dense(vector), vector, range(len(DOCUMENTS)))
    return in_full, index.sparse.scores(text)


def test_what_was_kept_is_read_and_scores_to_the_bit_what_was_built(cache, monkeypatch):
    built = read_in_full(cache, WordEmbedder())
    monkeypatch.setattr(index_files, "embed_cached", None)
    read = open_index(DOCUMENTS, WordEmbedder(), cache)
    assert isinstance(read._full, np.memmap)
    for one, other in zip(scores(built), scores(read), strict=True):
        assert one.tolist() == other.tolist()
    assert scores(read)[0][0] == scores(read)[0][2]
    assert len(folders(cache)) == 1


def test_dense_scores_are_the_mean_of_two_cosines_for_documents_compared_in_full(cache):
    index, request = read_in_full(cache, WordEmbedder()), WordEmbedder().encode(["mail"])[0]
    short, full = (
        WordEmbedder().encode([getattr(one, name) for one in DOCUMENTS]) @ request
        for name in ("short", "full")
    )
    assert index.dense(request) == pytest.approx(short, abs=1e-6)
    expected = [(short + full)[0] / 2, short[1], (short + full)[2] / 2]  # the first and third equal
    assert index.in_full(index.dense(request), request, [0]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.case(6)
@pytest.mark.parametrize("name", ["short.npy", "full.npy", "sparse/weights.npy", "seals.json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "gone"])
def test_a_damaged_index_is_built_anew(cache, name, damage):
    whole = scores(read_in_full(cache, WordEmbedder()))
    file = folders(cache)[0] / name
    body = bytearray(file.read_bytes())
    if damage == "gone":
        file.unlink()
    else:
        body[-2] ^= 0x5A
        file.write_bytes(body if damage == "flip" else body[:-3])
    again = scores(open_index(DOCUMENTS, WordEmbedder(), cache))
    assert [one.tolist() for one in again] == [one.tolist() for one in whole]
    assert len(folders(cache)) == 1


def test_more_tools_embed_their_own_short_texts_alone(cache):
    open_index(DOCUMENTS, WordEmbedder(), cache)
    more, embedder = tool_document(Tool("d", "d", "print a page", server="s")), WordEmbedder()
    index = open_index([*DOCUMENTS, more], embedder, cache)
    assert embedder.asked == [more.short]
    assert index.unread([3]) == [more.full]


def test_the_oldest_index_goes_first(cache, monkeypatch):
    monkeypatch.setattr(index_files, "MOST_KEPT", 2)
    for count in (1, 2, 3):
        open_index(DOCUMENTS[:count], WordEmbedder(), cache)
    assert len(folders(cache)) == 2
    assert not [path for path in folders(cache) if path.name.endswith(".partial")]


def test_texts_without_words_no_texts_and_a_folder_that_is_a_file(cache, tmp_path):
    blank = [SearchDocument("a", "…", "…")]
    for _ in range(2):
        assert open_index(blank, WordEmbedder(), cache).sparse.scores("mail").tolist() == [0.0]
    assert open_index([], WordEmbedder(), cache).sparse.scores("mail").shape == (0,)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="be written"):
        open_index(DOCUMENTS, WordEmbedder(), VectorCache(tmp_path / "file"))


# The vectors of requests: worked out once, and no more of them than may stay in memory.


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

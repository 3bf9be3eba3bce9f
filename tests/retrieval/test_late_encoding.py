"""The full texts of tools are encoded only for the nearest, until all are."""

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.embedding import vector_cache
from toolscope_core.embedding.vector_cache import CHUNK, TokenCache, VectorCache
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.retrieval.searching import IN_FULL

NEAREST = IN_FULL * 2
NAMES = [f"{verb}_{noun}" for verb in ("send", "read", "make", "close") for noun in "abcdefghij"]


class TokenWords(WordEmbedder):
    """Each word of a text is a token with a direction of its own."""

    def encode_with_tokens(self, texts):
        self.asked += texts
        encoder = WordEmbedder()
        return encoder.encode(texts), [encoder.encode(text.split()) for text in texts]


@pytest.fixture
def tools():
    return [Tool(name, name, f"It can {name.replace('_', ' ')}.", server="s") for name in NAMES]


@pytest.fixture
def opened(tmp_path, tools):
    def make(embedder, folder="cache", tools=tools, **config):
        cache = VectorCache(tmp_path / folder)
        return Retriever(tools, embedder, cache, RetrievalConfig(candidates=2, **config))

    return make


def full_texts(retriever):
    return {one.full for one in retriever.documents}


@pytest.mark.parametrize("rerank", ["none", "late"])
def test_a_search_encodes_the_full_texts_of_the_nearest_alone(opened, rerank):
    embedder = TokenWords()
    retriever = opened(embedder, rerank=rerank)
    assert not full_texts(retriever) & set(embedder.asked)
    retriever.search("send a")
    assert len(full_texts(retriever) & set(embedder.asked)) == NEAREST
    assert not retriever.is_encoded
    assert len(embedder.asked) == len(set(embedder.asked)) + (rerank == "late") * 2  # their tokens


@pytest.mark.parametrize("rerank", ["none", "late"])
def test_a_ranking_does_not_depend_on_what_is_encoded(opened, rerank):
    requests = [ToolRequest("send a"), ToolRequest("read and close b", ("read b", "close b"))]
    alone = [
        opened(TokenWords(), str(at), rerank=rerank).search(one, 9)
        for at, one in enumerate(requests)
    ]
    retriever = opened(TokenWords(), rerank=rerank)
    assert list(retriever.search_each(requests, 9)) == alone
    retriever.encode_documents()
    assert retriever.is_encoded
    assert list(retriever.search_each(requests, 9)) == alone
    assert list(opened(TokenWords(), rerank=rerank).search_each(requests, 9)) == alone


def test_what_another_search_stored_is_not_encoded_again(opened):
    first, second = TokenWords(), TokenWords()
    both = opened(first), opened(second)
    before = both[0].search("send a")
    second.asked.clear()
    assert both[1].search("send a") == before
    assert second.asked == ["send a"]


def test_only_the_request_is_encoded_once_all_is(opened):
    retriever = opened(TokenWords())
    retriever.encode_documents()
    embedder = TokenWords()
    again = opened(embedder)
    again.search("close j")
    assert embedder.asked == ["close j"]


def test_mean_vectors_are_of_both_texts(opened):
    retriever = opened(WordEmbedder())
    short, full = (
        WordEmbedder().encode([getattr(one, name) for one in retriever.documents])
        for name in ("short", "full")
    )
    assert retriever.vectors == pytest.approx((short + full) / 2, abs=1e-6)


def test_where_some_tools_are_augmented_all_are_compared_in_full(opened, tools):
    some = [
        Tool(
            one.id,
            one.name,
            one.description,
            server="s",
            augmentation=Augmentation("more words", ("who?",)),
        )
        if one.id < "d"
        else one
        for one in tools
    ]
    retriever = opened(WordEmbedder(), tools=some)
    retriever.search("send a")
    assert retriever.is_encoded


def test_equal_tools_at_the_edge_have_equal_scores(opened):
    alike = [Tool(f"t{at:02}", "send", "Send a mail.", server="s") for at in range(9)]
    places = opened(WordEmbedder(), tools=alike, rerank="none").search("send a mail", 9)
    assert len({one.score for one in places}) == 1


def test_progress_is_told_in_texts_and_may_end_the_search(opened):
    retriever, steps = opened(WordEmbedder()), []
    retriever.search_each([ToolRequest("send a")], progress=steps.append)
    assert ("embed", NEAREST, NEAREST) in [(one.stage, one.done, one.total) for one in steps]

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opened(WordEmbedder(), "other").search_each([ToolRequest("send a")], progress=stop)


def test_many_small_files_of_tokens_become_one(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_cache, "_MOST_FILES", 3)
    embedder, texts = TokenWords(), [f"text {at}" for at in range(6)]
    opened_before = TokenCache(tmp_path).ensure(texts[:1], embedder)
    for text in texts[1:]:
        TokenCache(tmp_path).ensure([text], embedder)
    assert len(list(tmp_path.rglob("*.tok"))) <= 3
    fresh = TokenCache(tmp_path).open(texts, TokenWords())
    assert all(
        np.array_equal(fresh.codes(text), TokenCache(tmp_path).ensure([text], embedder).codes(text))
        for text in texts
    )
    assert embedder.asked == texts
    assert np.array_equal(opened_before.of(texts[0]), fresh.of(texts[0]))


def test_files_with_many_texts_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_cache, "_MOST_FILES", 0)
    TokenCache(tmp_path).ensure([f"text {at}" for at in range(CHUNK)], TokenWords())
    TokenCache(tmp_path).ensure(["one more"], TokenWords())
    assert len(list(tmp_path.rglob("*.tok"))) == 2

"""Work by blocks gives what work in one piece gives, and stays here where it has to."""

import pickle
import sys

import numpy as np
import pytest

from tests.support.catalogs import example_catalog
from tests.support.fakes import WordEmbedder
from toolscope_core.cli.options import EngineChoice
from toolscope_core.cli.searcher import SearchedTools, Searcher, SearchKnobs, SearchOptions
from toolscope_core.embedding import candidate_pairs
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.engine import ray_engine
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.errors import ConfigError, missing_packages_in_words
from toolscope_core.model.protocols import LOCAL, SharedState
from toolscope_core.retrieval.documents import tool_document


class NoEngine:
    """Refuses all work."""

    def map_blocks(self, function, shared, blocks):
        raise AssertionError("this left the process")


def test_a_block_is_worked_on_when_its_result_is_asked_for():
    done = []
    results = LOCAL.map_blocks(lambda value, block: done.append(block), SharedState(1), [1, 2])
    next(results)
    assert done == [1]


def test_neighbours_by_blocks_are_those_of_the_whole(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32)
    vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    whole = candidate_pairs.nearest(vectors, 4, 0.1)
    monkeypatch.setattr(candidate_pairs, "_SEARCHED", 7)
    parts = candidate_pairs.nearest(vectors, 4, 0.1)
    assert len(whole) > 60
    assert all(np.array_equal(getattr(whole, c), getattr(parts, c)) for c in whole.__slots__)


def test_texts_for_an_endpoint_stay_where_its_key_is(tmp_path):
    class AtEndpoint(WordEmbedder):
        origin = "https://models.example"

    assert len(embed_cached(["a tool"], AtEndpoint(), VectorCache(tmp_path), engine=NoEngine()))
    with pytest.raises(AssertionError, match="left"):
        embed_cached(["another"], WordEmbedder(), VectorCache(tmp_path), engine=NoEngine())


@pytest.mark.parametrize("servers", [False, True])
@pytest.mark.parametrize("candidates", [1, 50])
def test_what_a_search_reads_is_encoded_on_the_workers(tmp_path, monkeypatch, servers, candidates):
    catalog, knobs = example_catalog(), SearchKnobs(candidates=candidates)
    options = SearchOptions(searched=SearchedTools(servers=servers), knobs=knobs)
    documents = [tool_document(tool, not servers) for tool in catalog.tools]
    encoded = []

    class Workers:
        def map_blocks(self, function, shared, blocks):
            blocks = list(blocks)
            encoded.extend(text for block in blocks for text in block)
            return LOCAL.map_blocks(function, shared, blocks)

    def names(place, engine):
        monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(tmp_path / place))
        searcher = Searcher(catalog, options, engine=engine)
        return searcher.rankings([Query("1", "Translate this letter to French")]).names

    assert names("here", LOCAL) == names("workers", Workers())
    short = {one.short for one in documents}
    every = short.union(*(one.texts for one in documents))
    assert set(encoded) == (short if candidates == 1 else every)
    assert len(encoded) == len(set(encoded))


def test_an_encoder_that_is_loaded_crosses_to_a_worker():
    encoder = MiniLmEmbedder()
    here = encoder.encode(["send a letter"])
    assert np.array_equal(pickle.loads(pickle.dumps(encoder)).encode(["send a letter"]), here)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (EngineChoice("local", "auto"), "use --engine ray"),
        (EngineChoice("ray", "127.0.0.1:9"), "no Ray cluster at 127.0.0.1:9"),
        (EngineChoice("ray", "somewhere"), "use auto, host:port or ray"),
        (EngineChoice("ray"), r"pip install 'toolscope-workbench\[ray\]'"),
    ],
)
def test_an_engine_that_cannot_start_says_what_to_do(choice, words, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(ray_engine.os, "environ", {})
    with pytest.raises(ConfigError, match=words), missing_packages_in_words(), choice.start():
        pass

"""A cross-encoder that the test builds and saves, by the folder's name."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.embedding.encoders import CrossScorer
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.llm.embedding import scorer_of
from toolscope_core.model.errors import ModelError
from toolscope_core.model.search_configuration import PAPER_SEARCHES, RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import Retriever

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] send read mail weather".split()
TOOLS = (Tool("a", "send_mail", "send mail"), Tool("b", "read_mail", "read mail"))


@pytest.fixture(scope="module")
def save(tmp_path_factory):
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    def make(labels):
        folder = tmp_path_factory.mktemp("cross")
        (folder / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
        BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
        sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
        sizes |= {"vocab_size": len(WORDS), "hidden_size": 16, "initializer_range": 0.3}
        config = BertConfig(num_labels=labels, **sizes)
        BertForSequenceClassification(config).save_pretrained(folder)
        return str(folder)

    return make


@pytest.fixture(scope="module")
def model(save):
    return save(labels=1)


def test_a_saved_model_scores_each_pair_as_it_does_alone(model):
    texts = ["send mail", "read mail", "weather"]
    scores = CrossScorer(model).scores("send mail", texts)
    assert scores.dtype == np.float32 and scores.shape == (3,)
    alone = [float(CrossScorer(model).scores("send mail", [text])[0]) for text in texts]
    assert scores == pytest.approx(alone, abs=1e-5)
    assert len(set(alone)) == 3
    assert CrossScorer(model).scores("x", []).shape == (0,)


def test_the_best_are_scored_anew(model, tmp_path):
    config = RetrievalConfig(rerank=model, rerank_weight=100.0)
    scorer = scorer_of(config)
    found = Retriever(TOOLS, WordEmbedder(), VectorCache(tmp_path), config, scorer)
    places = found.search(ToolRequest("read my mail"), 2)
    full = ["send_mail: send mail", "read_mail: read mail"]
    wanted = [TOOLS[row].id for row in np.argsort(-scorer.scores("read my mail", full))]
    assert [one.tool_id for one in places] == wanted
    assert [one.parts[2] for one in places] == pytest.approx([100 / 101, 0.0], abs=1e-4)
    assert places[0].by == "rerank"


class KnownPairs:
    """A cross-encoder that knows its raw scores, by the request and the first word of the tool."""

    name = "known"

    def __init__(self, scores):
        self._scores = scores

    def scores(self, text, others):
        own = self._scores[text]
        return np.array([own[one.partition(":")[0]] for one in others], np.float32)


def test_the_cross_encoder_alone_orders_the_candidates_and_no_others(tmp_path):
    """*weather* is no candidate of the two, though the cross-encoder would take it first."""
    scores = {"send_mail": -7.0, "read_mail": 2.5, "get_weather": 9.0}
    tools = (*TOOLS, Tool("c", "get_weather", "weather"))
    config = RetrievalConfig(rerank="known", rerank_weight=math.inf, candidates=2)
    scorer = KnownPairs({"send the mail": scores})
    search = Retriever(tools, WordEmbedder(), VectorCache(tmp_path), config, scorer)
    places = search.search(ToolRequest("send the mail"), 3)
    assert [one.tool_id for one in places] == ["b", "a", "c"]
    assert [one.score for one in places] == pytest.approx([1.0, 0.0, 0.0], abs=1e-4)
    assert places[1].score > places[2].score == 0.0
    assert [one.parts[:2] for one in places] == [(0.0, 0.0)] * 3


def test_toolscopes_list_is_put_together_by_equation_5_from_raw_scores(tmp_path):
    """Each part's best first, *c* and *b*; then *d*, (1 + 4) / (3 + 4) of the first part, and *a*,
    (20 - 10) / (60 - 10) of the second.
    """
    scores = {
        "whole": dict.fromkeys("abcd", 0.0),
        "one": {"a": -4.0, "b": 3.0, "c": 8.0, "d": 1.0},
        "two": {"a": 20.0, "b": 90.0, "c": 60.0, "d": 10.0},
    }
    tools = tuple(Tool(one, one, "thing") for one in "abcd")
    config = replace(PAPER_SEARCHES["toolscope"], rerank="known")
    search = Retriever(tools, WordEmbedder(), VectorCache(tmp_path), config, KnownPairs(scores))
    places = search.search(ToolRequest("whole", ("one", "two")), 4)
    assert [one.tool_id for one in places] == ["c", "b", "d", "a"]
    assert places[2].score == pytest.approx(5 / 7, abs=1e-4)
    assert places[3].score == pytest.approx(10 / 50, abs=1e-4)


def test_none_and_late_need_no_model(model):
    assert scorer_of(RetrievalConfig()) is None
    assert scorer_of(RetrievalConfig(rerank="late")) is None
    assert scorer_of(RetrievalConfig(rerank=model)).name == model


def test_a_model_that_is_missing_or_gives_classes_is_an_error(save, tmp_path):
    with pytest.raises(ModelError, match=r"encoder '.*gone'"):
        CrossScorer(str(tmp_path / "gone")).scores("a", ["b"])
    with pytest.raises(ModelError, match="3 numbers"):
        CrossScorer(save(labels=3)).scores("a", ["b", "c"])

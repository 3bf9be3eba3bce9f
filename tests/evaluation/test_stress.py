"""Pools of the stress test, and what is found in them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.evaluation.shelf import CATALOG, MERGED, trial
from tests.support.fakes import WordEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.measured_toolsets import as_it_is, of_plan
from toolscope_core.evaluation.metrics import set_metrics
from toolscope_core.evaluation.results import read_result, result_json, table_of
from toolscope_core.evaluation.stress import (
    LEVELS,
    Stress,
    closest_noise,
    random_noise,
    split_gains,
    stress_of,
    stress_test,
)
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.retrieval.retriever import Retriever


@pytest.fixture
def retriever(tmp_path):
    def make(toolset):
        cache = VectorCache(tmp_path / "cache")
        return Retriever(toolset.tools, WordEmbedder(), cache, RetrievalConfig(rerank="none"))

    return make


@pytest.mark.parametrize("gold", [[], [3], [0, 9]])
def test_noise_is_of_the_size_asked_for_has_no_gold_and_no_repeats(gold):
    vectors = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    closest = [closest_noise(vectors, gold, 8)] if gold else []
    for noise in (random_noise(20, gold, 8, "q"), *closest):
        assert len(noise) == len(set(noise)) == 8
        assert not set(gold) & set(noise)
        assert all(0 <= row < 20 for row in noise)
    assert len(random_noise(20, gold, 50, "q")) == 20 - len(gold)


def test_random_noise_is_the_same_for_a_query_and_grows_by_adding():
    first = random_noise(100, [5], 50, "q")
    assert first == random_noise(100, [5], 50, "q")
    assert first[:10] == random_noise(100, [5], 10, "q")
    assert first != random_noise(100, [5], 50, "another")
    assert random_noise(5, [], 5, "\ud800")


def test_the_closest_are_taken_from_each_gold_tool_in_turn():
    angles = np.array([0.0, 0.1, 0.2, 3.0, 3.1, 3.3, 1.5])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert closest_noise(vectors, [0, 3], 4) == [1, 4, 2, 5]
    assert closest_noise(vectors, [0, 3], 99) == [1, 4, 2, 5, 6]


def test_a_set_is_measured_by_its_needs():
    gold = (frozenset({"a", "b"}), frozenset({"c"}))
    precision, recall, f1 = set_metrics({"a", "b", "x", "y"}, gold)
    assert (precision, recall) == (0.5, 0.5)
    assert f1 == pytest.approx(0.5)
    assert set_metrics(set(), gold) == (0.0, 0.0, 0.0)


def test_without_distractors_everything_is_found_and_more_do_not_help(retriever):
    toolset = as_it_is(CATALOG)
    test = stress_test(toolset, retriever(toolset), trial())
    assert [(one.noise, one.distractors) for one in test] == [
        (noise, level) for noise in ("random", "closest") for level in LEVELS
    ]
    clean = test[0]
    assert (clean.precision.mean, clean.recall.mean, clean.f1.mean) == (1.0, 1.0, 1.0)
    assert clean.p_recall == clean.p_f1 == clean.p_loss == 1.0
    assert all(len(one.recalls) == len(one.f1s) == 4 for one in test)
    assert test[1].precision.mean < 1.0, "six tools in a pool, ten are taken"


def test_splitting_stands_against_retrieval_alone_at_the_same_noise(retriever):
    toolset = as_it_is(CATALOG)
    points = stress_test(toolset, retriever(toolset), trial())
    none, all_of = ([replace(one, recalls=(value,) * 4) for one in points] for value in (0.0, 1.0))
    (gain, *_), (same, *_) = split_gains(all_of, none), split_gains(none, none)
    assert gain.p_one_sided == pytest.approx(1 / 2001)
    assert gain.p == pytest.approx(12 / 2001), "of twelve points"
    assert (same.p_one_sided, same.p) == (1.0, 1.0)
    (worse, *_) = split_gains(none, all_of)
    assert worse.p_one_sided == 1.0 and worse.p == gain.p
    result = stress_of(trial(), {"whole": none, "split": all_of}, {"split": "whole"})
    assert result.toolsets["whole"][0].gain is None and result.toolsets["split"][0].gain == gain
    written = result_json(result)
    assert "gain" not in written["toolsets"]["whole"][0]
    assert read_result(Stress, json.loads(json.dumps(written))) == result


def test_after_a_merge_the_pool_is_of_the_merged_toolset(retriever):
    toolset = of_plan(MERGED, "merged")
    test = stress_test(toolset, retriever(toolset), trial())
    assert test[0].recall.mean == 1.0
    result = stress_of(trial(), {"merged": test}, {})
    assert result.queries == ("1", "2", "3", "4")
    rows = table_of("stress", result_json(result))
    assert len(rows) == 2 * len(LEVELS)
    assert rows[0]["toolset"] == "merged" and rows[0]["recall_mean"] == 1.0
    assert "recalls" not in rows[0]

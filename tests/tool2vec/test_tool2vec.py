"""Tool2Vec by hand: means, and what falls back."""

import numpy as np
import pytest

from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.tool import Augmentation
from toolscope_core.tool2vec.linear_head import UsageVectors, normalised
from toolscope_core.tool2vec.training_queries import training_queries

X, Y = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
OWN = np.array([[0.0, -1.0], [0.0, -1.0], [0.6, 0.8]], np.float32)


def asked():
    first = (Query("1", f"q{n}", (frozenset({"a"}),)) for n in range(9))
    return training_queries((*first, Query("2", "q9", (frozenset({"a", "b"}),))), {}, "abc")


def test_a_tool_is_the_mean_of_its_queries_and_one_without_any_its_text():
    queries = asked()
    vectors = np.stack([X] * 9 + [Y])
    usage = UsageVectors.of(queries, vectors)
    assert queries.counts.tolist() == [10, 1, 0]
    assert usage.sums.tolist() == [[9, 1], [0, 1], [0, 0]]
    expected = [[9 / np.sqrt(82), 1 / np.sqrt(82)], [0, 1], [0.6, 0.8]]
    assert usage.vectors(OWN) == pytest.approx(np.array(expected), abs=1e-6)


def test_a_question_that_a_model_wrote_counts_a_third():
    first = [Query("1", f"q{n}", (frozenset({"a"}),)) for n in range(9)]
    last = Query("2", "r", (frozenset({"b"}),))
    variants = {"b": Augmentation("", ("s",))}
    queries = training_queries((*first, last), variants, "ab")
    vectors = np.stack([X] * 9 + [X, Y])
    assert queries.weights == pytest.approx([1] * 10 + [1 / 3])
    usage = UsageVectors.of(queries, vectors)
    assert usage.sums == pytest.approx(np.array([[9, 0], [1, 1 / 3]]))
    assert queries.counts.tolist() == [9, 2] and queries.evidence == pytest.approx([9, 4 / 3])


def test_rows_of_length_nothing_stay():
    assert normalised(np.zeros((1, 2))).tolist() == [[0, 0]]

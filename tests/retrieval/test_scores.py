"""BM25, min-max, the weighted sum, and the order of equal scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.retrieval.test_client_search import okapi
from toolscope_core.retrieval.assembly import best_first, min_max, weighted
from toolscope_core.retrieval.index_files import K1, B, SparseIndex, sparse_terms

TEXTS = ["getUserById: fetch a user", "delete_user: remove users for good", "weather of a city", ""]


def test_names_are_split_words_are_stems_and_stop_words_are_left_out():
    assert sparse_terms("getUserByIDs of the Users") == ["get", "user", "id", "user"]
    assert sparse_terms("städte_suche 42") == ["städte", "such", "42"]


def test_where_no_spaces_are_written_two_letters_are_a_term():
    assert sparse_terms("查询PDF文件的 元") == ["查询", "pdf", "文件", "件的", "元"]
    assert sparse_terms("ค้นหา") == ["ค้", "้น", "นห", "หา"]
    index = SparseIndex.of(["把文字翻译成另一种语言", "查询文件的元数据"])
    assert index.scores("文件元数据").argmax() == 1


@pytest.mark.parametrize("query", ["fetch users", "city weather today", "remove user user"])
def test_the_scores_are_bm25(query):
    """As Lucene has it, without the factor k1 + 1 that changes no order."""
    expected = np.array(okapi(TEXTS, sparse_terms, query, K1, B)) / (K1 + 1)
    assert SparseIndex.of(TEXTS).scores(query) == pytest.approx(expected, abs=1e-5)


def test_no_common_word_no_words_and_no_texts_score_nothing():
    assert SparseIndex.of(TEXTS).scores("xylophone").tolist() == [0.0] * 4
    assert SparseIndex.of(TEXTS).scores("of the").tolist() == [0.0] * 4
    assert SparseIndex.of(["", "the"]).scores("user").tolist() == [0.0, 0.0]
    assert SparseIndex.of([]).scores("user").shape == (0,)


def test_min_max_and_the_weighted_sum_by_hand():
    dense, sparse = np.float32([0.2, 0.6, 0.4]), np.float32([3.0, 1.0, 1.0])
    assert min_max(dense) == pytest.approx([0, 1, 0.5])
    assert sum(weighted(dense, sparse, 0.75)) == pytest.approx([0.25, 0.75, 0.375])
    assert min_max(np.float32([2, 2])).tolist() == [0.0, 0.0]
    assert min_max(np.float32([])).shape == (0,)


@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 15))
def test_the_best_come_first_and_equals_in_their_order(scores, most):
    wanted = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:most]
    assert best_first(np.float32(scores), most) == wanted

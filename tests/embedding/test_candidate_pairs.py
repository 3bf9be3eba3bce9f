"""Tool text, neighbours and counts against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.embedding import candidate_pairs
from toolscope_core.embedding.candidate_pairs import cosines, nearest, pairs_above, server_fields
from toolscope_core.embedding.minilm import SHIPPED_MODEL, MiniLmEmbedder
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import split_name, tool_text


def unit(rows, width=12, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)
    vectors[:, 0] += 1.0
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def brute_pairs(vectors, neighbours, threshold):
    exact = vectors.astype(np.float64)
    product = exact @ exact.T
    near = set()
    for row in range(len(vectors)):
        order = sorted((-product[row, at], at) for at in range(len(vectors)) if at != row)
        for cosine, at in order[:neighbours]:
            if -cosine >= threshold:
                near.add((min(row, at), max(row, at)))
    return near


def as_pairs(near):
    return list(zip(near.left.tolist(), near.right.tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("getUserByID", "get user by id"),
        ("listUserIDs", "list user ids"),
        ("HTTPServer.open_file-v2", "http server open file v2"),
        ("__", ""),
        ("Größe2Text", "größe2 text"),
    ],
)
def test_names_are_split_at_case_and_punctuation(name, words):
    assert " ".join(split_name(name)) == words


def test_the_text_of_a_tool_joins_name_words_and_cuts_long_descriptions_at_a_word():
    tool = Tool(id="1", name="getUser", description="Reads  a\nuser.")
    assert tool_text(tool) == "get_user: Reads a user."
    assert tool_text(Tool(id="1", name="??", description="x")) == "??: x"
    long = tool_text(Tool(id="1", name="a", description="word " * 100))
    assert 200 < len(long) < 226
    assert long.endswith(" word")
    assert tool_text(Tool(id="1", name="a", description="bad \ud800")) == "a: bad ?"


@given(st.integers(0, 60), st.integers(1, 8), st.sampled_from([0.1, 0.4, 0.7]), st.integers(0, 99))
def test_neighbours_equal_brute_force(rows, neighbours, threshold, seed):
    vectors = unit(rows, seed=seed)
    near = nearest(vectors, neighbours, threshold)
    pairs = as_pairs(near)
    assert pairs == sorted(set(pairs))
    assert set(pairs) == brute_pairs(vectors, neighbours, threshold)
    assert all(left < right for left, right in pairs)
    assert len(near) == len(near.similarity)
    assert (near.similarity >= threshold).all()


@given(st.integers(2, 40), st.permutations(range(8)), st.integers(0, 99))
def test_the_pairs_do_not_depend_on_row_order_even_with_ties(rows, order, seed):
    vectors = np.repeat(unit(-(-rows // 4), seed=seed), 4, axis=0)[:rows]
    moved = np.argsort([order[row % 8] * 1000 + row for row in range(rows)])
    here = {frozenset(pair) for pair in as_pairs(nearest(vectors, 3, 0.2))}
    there = as_pairs(nearest(np.ascontiguousarray(vectors[moved]), 3, 0.2))
    assert here == {frozenset((moved[a], moved[b])) for a, b in there}


def test_many_copies_pair_with_each_other_and_never_with_themselves():
    near = nearest(np.repeat(unit(1), 20, axis=0), 5, 0.9)
    assert (near.left != near.right).all()
    assert (near.similarity == 1.0).all()
    assert set(near.left.tolist()) | set(near.right.tolist()) == set(range(20))


def test_cosines_are_clipped_rounded_and_symmetric():
    vectors = np.array([[1.0000001, 0], [1.0000001, 0], [-1.0000001, 0]], dtype=np.float32)
    left, right = np.array([0, 0], np.int32), np.array([1, 2], np.int32)
    assert cosines(vectors, left, right).tolist() == [1.0, -1.0]
    many = unit(50)
    a, b = np.arange(49, dtype=np.int32), np.arange(1, 50, dtype=np.int32)
    assert np.array_equal(cosines(many, a, b), cosines(many, b, a))
    assert np.array_equal(cosines(many, a, b)[7:9], cosines(many, a[7:9], b[7:9]))


@pytest.mark.parametrize("rows", [0, 1, 2, 5, 13])
def test_every_pair_is_counted_once_from_each_threshold_on(monkeypatch, rows):
    monkeypatch.setattr(candidate_pairs, "_BLOCK", 4)
    vectors, thresholds, seen = unit(rows), np.array([-1.0, -0.5, 0.0, 0.5, 1.0]), []
    product = (vectors @ vectors.T)[np.triu_indices(rows, 1)]
    counts = pairs_above(vectors, thresholds, seen.append)
    assert counts.dtype == np.int64
    assert counts.tolist() == [int((product >= at).sum()) for at in thresholds]
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert all(step.stage == "count" and step.total == rows for step in seen)


def test_pairs_at_a_threshold_count_and_copies_are_at_one():
    angles = np.arccos([1.0, 1.0, 0.8, 0.6])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    vectors[1] *= np.float32(1 - 2e-7)
    # copies, twice .8, twice .6, and between the last two .8 * .6 + .6 * .8 = .96
    counts = pairs_above(vectors, np.arange(50, 101) / 100)
    assert {at: int(counts[at - 50]) for at in (50, 60, 61, 80, 81, 96, 97, 100)} == {
        50: 6, 60: 6, 61: 4, 80: 4, 81: 2, 96: 2, 97: 1, 100: 1,
    }  # fmt: skip


TEXTS = ("Send an email.", "Search the inbox.", "List mails in a folder.", "Mine a block.")


def test_a_server_is_as_near_to_another_as_what_their_tools_are_about():
    vectors, servers = MiniLmEmbedder().encode(TEXTS), np.array([1, 1, 2, 3])
    mails, other_mails, coins = server_fields(vectors, servers, SHIPPED_MODEL)[1:]
    assert mails @ other_mails > 0.2 > mails @ coins
    assert [float(row @ row) for row in (mails, coins)] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(("model", "width"), [("thenlper/gte-large", 384), (SHIPPED_MODEL, 8)])
def test_what_servers_are_about_is_not_known_for_other_embeddings(model, width):
    vectors = np.ones((2, width), dtype=np.float32)
    assert server_fields(vectors, np.array([1, 2]), model) is None

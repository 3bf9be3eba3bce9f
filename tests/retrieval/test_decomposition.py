"""Requests split by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.retrieval.decomposition import MOST_SUBQUERIES, decompose


@pytest.mark.parametrize(
    ("request_", "parts"),
    [
        ("Book a table for two.", ("Book a table for two.",)),
        (
            "Translate the letter to French, then save the text as a file.",
            ("Translate the letter to French", "save the text as a file."),
        ),
        (
            "Find flights to Rome. Also check the weather there and book a hotel room.",
            ("Find flights to Rome.", "Also check the weather there", "book a hotel room."),
        ),
        ("Buy apples, pears and plums at the market.", ("Buy apples, pears and plums at the market.",)),
        ("Search the archive and list it.", ("Search the archive list it.",)),
        ("Delete report v1.2 from /notes/a.b", ("Delete report v1.2 from /notes/a.b",)),
        ("Please create a folder; can you move the photos there?",
         ("Please create a folder", "can you move the photos there?")),
        ("", ()),
        ("  \n ", ()),
    ],
)  # fmt: skip
def test_sentences_and_clauses_that_begin_with_a_verb_are_parts(request_, parts):
    assert decompose(request_) == parts


def test_no_more_than_eight_and_nothing_is_dropped():
    request = " ".join(f"Send letter {word} to the office." for word in "abcdefghijkl")
    parts = decompose(request)
    assert len(parts) == MOST_SUBQUERIES
    assert " ".join(parts) == request


@given(st.text("ab .,;?!\nAé查 and then please", max_size=200))
def test_any_text_has_parts_that_are_in_it(request_):
    parts = decompose(request_)
    assert len(parts) <= MOST_SUBQUERIES
    words = request_.split()
    assert all(word.strip(" ,") in request_ for part in parts for word in part.split())
    assert not words or parts or not request_.strip(" ,;")


@pytest.mark.parametrize(
    "text", [", " * 20_000, "and " * 20_000, "please " * 20_000, "a. B" * 9_000]
)
def test_long_texts_take_little(text):
    assert len(decompose(text)) <= MOST_SUBQUERIES

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.properties import examples
from toolscope_core.model.unicode_forms import normalise

FORMS = ["NFC", "NFKC", "NFKD"]


@pytest.mark.parametrize("form", FORMS)
@examples(100)
@given(st.text(max_size=60))
def test_what_people_write_is_normalised_as_python_does(form, text):
    if (
        max(map(len, "".join(" x"[unicodedata.combining(c) > 0] for c in text).split()), default=0)
        <= 30
    ):
        assert normalise(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_of_a_run_of_marks_python_is_given_the_first_thirty(form, monkeypatch):
    """Python takes the square of a run's length."""
    normalize, given_texts = unicodedata.normalize, []

    def watched(form, text):
        given_texts.append(text)
        return normalize(form, text)

    monkeypatch.setattr(unicodedata, "normalize", watched)
    normalise(form, "a" + "\u0315\u0300" * 4_000 + "b" + "\u0300" * 30)
    assert given_texts == ["a" + "\u0315\u0300" * 15 + "b" + "\u0300" * 30]

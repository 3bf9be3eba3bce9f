import time
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
def test_ten_times_the_marks_take_about_ten_times_the_time(form):
    def seconds(count):
        text = "a" + "\u0315\u0300" * count
        return min(_timed(lambda: normalise(form, text)) for _ in range(3))

    assert seconds(40_000) < 60 * max(seconds(4_000), 0.001)


def _timed(act):
    start = time.perf_counter()
    act()
    return time.perf_counter() - start

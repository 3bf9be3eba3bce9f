import pytest

from toolscope_core.model.numbers import quantity, quoted


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(0, "tool", "0 tools"), (1, "tool", "1 tool"), (1234, "tool", "1,234 tools"),
     (1, "family", "1 family"), (2, "family", "2 families"), (3, "query", "3 queries"),
     (2, "repository", "2 repositories"), (2, "branch", "2 branches"), (2, "day", "2 days")],
)  # fmt: skip
def test_nouns_agree_with_their_number(number, noun, text):
    assert quantity(number, noun) == text


def test_words_beyond_the_first_four_are_counted():
    assert quoted("abcd") == "“a, b, c, d”"
    assert quoted("abcdef") == "“a, b, c, d” and 2 more"

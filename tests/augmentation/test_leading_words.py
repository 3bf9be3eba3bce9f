"""A description that begins with what sets a tool apart."""

import pytest

from toolscope_core.augmentation.leading_words import leading
from toolscope_core.datamodel import Tool


@pytest.mark.parametrize(
    ("name", "description", "words", "expected"),
    [
        ("get_origin", "Get where it\n starts", ["origin"], "Origin: Get where it starts"),
        # what is in front already stays there
        ("set_alarm", "Set the alarm", ["set"], "Set the alarm"),
        # words of the name before others, each once in whatever form
        ("failed_logins", "Filter", ["attempts", "failed", "fail"], "Failed: Filter"),
        ("q", "List all", ["recent", "records"], "Recent, records: List all"),
        # words without meaning, numbers and other scripts are not moved
        ("q", "List all", ["the", "2024", "通过", "of"], "List all"),
        ("q", "", ["origin"], ""),
        ("q", "", [], ""),
    ],
)
def test_its_own_words_come_first(name, description, words, expected):
    assert leading(Tool(name, name, description), words) == expected

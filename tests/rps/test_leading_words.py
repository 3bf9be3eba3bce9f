"""A description that begins with what sets a tool apart."""

import pytest

from toolscope_core.model.tool import Tool
from toolscope_core.rps.rewrites import leading


@pytest.mark.parametrize(
    ("name", "description", "words", "expected"),
    [
        ("get_origin", "Get where it\n starts", ["origin"], "Origin: Get where it starts"),
        # what is in front already stays there
        ("set_alarm", "Set the alarm", ["set"], "Set the alarm"),
        # words of its job alone, as name and server say it, each once in whatever form
        ("failed_logins", "Filter", ["attempts", "failed", "fail"], "Failed: Filter"),
        ("move_file", "Move\n or rename", ["important", "always", "absolute"], "Move\n or rename"),
        ("list", "List all", ["recent", "archive"], "List all"),
        # words without meaning, numbers and other scripts are not moved
        ("the_2024_of_通过", "List all", ["the", "2024", "通过", "of"], "List all"),
        ("origin", "", ["origin"], ""),
        ("origin", "", [], ""),
    ],
)
def test_its_own_words_come_first(name, description, words, expected):
    assert leading(Tool(name, name, description, "attic-archive"), words) == expected


def test_the_words_of_the_server_count_where_the_servers_differ():
    tool = Tool("list", "list", "List all of the archive", "attic-archive")
    assert leading(tool, ["recent", "archive"], by_server=True).startswith("Archive: List all")

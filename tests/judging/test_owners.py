"""Whose tools two tools are: products, proper names, what somebody keeps."""

import pytest

from toolscope_core.judging.owners import (
    is_anywhere,
    keeps_things,
    product_words,
    proper_names,
    shared_product,
)
from toolscope_core.model.tool import Tool


def tool(called, description, server=""):
    return Tool(called, called, description, server)


def test_words_of_a_server_that_may_name_a_product():
    assert product_words("@zorblax/mcp-server-api") == {"zorblax"}
    assert product_words("mcp-server") == frozenset()


def test_proper_names_are_written_with_a_capital_within_sentences_only():
    tools = (
        tool("a", "Lists the tasks of Zorblax. Fast."),
        tool("zorblax_pay", "Pays. It asks a Bank first."),
        tool("c", "Opens the door of a bank."),
    )
    assert proper_names(tools) == ({"zorblax"}, {"zorblax"}, frozenset())


def test_a_tool_that_says_the_name_of_its_server_mentions_it():
    here, there = tool("a", "Pays by acme.", "acme-mcp"), tool("b", "Pays.", "acme-mcp")
    assert proper_names((here, there)) == ({"acme"}, frozenset())


@pytest.mark.parametrize(
    ("words", "kept", "anywhere"),
    [(["tasks"], True, False), (["weather"], False, True), (["zorblax"], False, False)],
)
def test_what_is_kept_and_what_is_the_same_everywhere(words, kept, anywhere):
    assert keeps_things(words) is kept
    assert is_anywhere(words) is anywhere


def test_a_rare_product_in_two_names_of_servers():
    rarity = {"zor": 0.7, "hub": 0.2, "zorblax": 0.9}
    assert shared_product("zor-hub", "hub-zor-mcp", rarity) == 0.7
    assert shared_product("zor-mcp", "hub", rarity) == 0.0
    assert shared_product("zorblax", "zorblaxhub", rarity) == 1.0

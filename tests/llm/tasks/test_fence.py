import json
import re

from hypothesis import given
from hypothesis import strategies as st

from tests.llm.tasks.strategies import TOOLS, tool
from toolscope_core.catalog.scan.hidden import HIDDEN
from toolscope_core.llm.tasks.fence import (
    CUT,
    LONGEST_SERVER,
    LONGEST_TEXT,
    LONGEST_TOOL,
    MOST_SERVERS,
    fences,
    mark_for,
    prompt_text,
    server_texts,
)
from toolscope_core.model.catalog import Server


@given(TOOLS)
def test_what_is_shown_is_one_clean_line(tool):
    text = prompt_text(tool).text
    assert "\n" not in text and not HIDDEN.search(text)
    text.encode("utf-8")


@given(st.lists(TOOLS, min_size=1, max_size=4), st.lists(st.text("0123456789abcdef", min_size=64)))
def test_no_text_contains_the_mark(tools, keys):
    blocks = {f"t{number}": prompt_text(tool) for number, tool in enumerate(tools)}
    text = "\n".join(fences(blocks, keys).values())
    mark = text.split("\n")[0].split(" ")[-1]
    assert re.fullmatch("[0-9a-f]{16}", mark)
    assert text.count(mark) == 2 * len(tools)


def test_the_mark_comes_from_the_keys_and_a_text_that_knows_it_gets_another():
    assert mark_for(["a", "b"], []) == mark_for(["b", "a"], []) != mark_for(["a"], [])
    first = mark_for(["k"], [])
    second = mark_for(["k"], [f"--- end t1 {first.upper()}"])
    assert second != first and mark_for(["k"], []) == first
    assert mark_for(["k"], [first, second]) not in (first, second)


def test_hidden_characters_are_left_out_and_counted_and_an_emoji_is_none():
    spied = prompt_text(tool(description="Find\u200b notes.\U000e0041", schema={"a\u202eb": {}}))
    assert json.loads(spied.text)["description"] == "Find notes."
    assert '"ab"' in spied.text
    assert spied.hidden == 3
    (note,) = spied.notes
    assert note.startswith("3 hidden characters")
    assert prompt_text(tool(description="Likes it ❤️.")).notes == ()


def test_a_long_tool_is_cut_and_that_is_said():
    read = prompt_text(tool(description="x" * 100_000))
    assert len(read.text) < LONGEST_TOOL
    assert json.loads(read.text)["description"] == "x" * LONGEST_TEXT + CUT
    assert read.cut == 96_000 and "96,000" in read.notes[0]
    schema = {"properties": {f"p{n}": {"description": "y" * 100} for n in range(1000)}}
    read = prompt_text(tool(schema=schema))
    assert len(read.text) == LONGEST_TOOL + len(CUT) and read.cut > 100_000


def test_what_is_no_text_is_replaced():
    assert "a?b" in prompt_text(tool(description="a\ud800b")).text


def test_servers_are_told_only_on_demand_cleaned_and_counted():
    one = tool(server="alpha")
    assert "alpha" not in prompt_text(one).text
    block = prompt_text(one, ("al\u200bpha", ""))
    assert json.loads(block.text)["server"] == "alpha" and block.hidden == 1
    assert prompt_text(one, ("",)) == prompt_text(one) == prompt_text(tool(server="beta"))


def test_many_servers_are_told_in_part():
    names = [f"s{number}" for number in range(10, 40)]
    servers = json.loads(prompt_text(tool(), names[::-1]).text)["server"]
    assert servers == [*names[:MOST_SERVERS], "and 22 more"]


def test_what_says_nothing_of_a_tool_is_left_out():
    text = {"type": "string", "title": "Title", "description": "One\n        of two."}
    kept = {"default": {"title": "kept"}}
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "findArguments",
        "type": "object",
        "properties": {"title": text, "size": kept},
    }
    returns = {"properties": {"result": {"type": "string", "title": "R"}}, "title": "findOutput"}
    docstring = "Finds.\n\n    Args:\n        title: whose"
    shown = json.loads(
        prompt_text(tool(description=docstring, schema=schema, returns=returns)).text
    )
    assert shown["description"] == "Finds.\nArgs:\ntitle: whose"
    title = {"type": "string", "description": "One\nof two."}
    assert shown["parameters"] == {"type": "object", "properties": {"title": title, "size": kept}}
    assert shown["returns"] == {"type": "string"}
    several = {"properties": {"result": {"type": "string"}, "next": {"type": "string"}}}
    assert json.loads(prompt_text(tool(returns=several)).text)["returns"] == several


def test_a_tool_without_text_begins_with_its_parameters():
    assert next(iter(json.loads(prompt_text(tool(description=""), ("desk",)).text))) == "parameters"
    assert next(iter(json.loads(prompt_text(tool(), ("desk",)).text))) == "server"


def test_a_server_says_the_beginning_of_what_it_is():
    shown = server_texts([Server("b", "y" * 10_000), Server("a", "Notes.")])
    assert sorted(shown) == ["server 1", "server 2"]
    shown_by_name = {json.loads(one.text)["server"]: json.loads(one.text) for one in shown.values()}
    assert shown_by_name["b"]["description"] == "y" * LONGEST_SERVER + CUT
    assert shown_by_name["a"] == {"server": "a", "description": "Notes."}
    (titled,) = server_texts([Server("a", title="Notes of Ann")]).values()
    assert json.loads(titled.text)["title"] == "Notes of Ann"

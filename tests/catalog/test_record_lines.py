import json
from pathlib import Path

import pytest

from tests.support.catalogs import read_json, read_text
from toolscope_core.catalog.flaws import record_lines

FILE = Path("tools.json")


def lines(content, name="tools.json"):
    catalog = read_text(content, name)
    places = record_lines(catalog.tools, {Path(name): content.encode()})
    assert all(place.file == Path(name) for place in places.values())
    return {tool_id: place.line for tool_id, place in places.items()}


def record(name, description, **more):
    return {"name": name, "description": description, **more}


def test_the_line_is_that_of_the_name():
    tools = {"tools": [record("one", "Does one."), record('t"wo é', "Does two.")]}
    assert lines(json.dumps(tools, indent=1)) == {"one": 4, 't"wo é': 8}
    assert lines(json.dumps(tools, indent=1, ensure_ascii=False)) == {"one": 4, 't"wo é': 8}


def test_of_tools_that_share_a_name_each_has_its_own_line():
    servers = [
        {"server": "b", "tools": [record("get", "Gets b.")]},
        {"server": "a", "tools": [record("get", "Gets a."), record("put", "Puts.")]},
    ]
    assert lines(json.dumps(servers, indent=1)) == {"a/get": 15, "a/put": 19, "b/get": 6}


def test_nested_and_line_by_line_records_are_found():
    function = record("f", "Does f.", parameters={"type": "object"})
    nested = [{"type": "function", "function": function}]
    assert lines(json.dumps(nested, indent=1)) == {"f": 5}
    rows = "\n".join(json.dumps(record(name, f"Does {name}.")) for name in ("x", "y"))
    assert lines(rows, "tools.jsonl") == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.yaml", "- name: fold\n  description: Folds.\n- name: iron_it\n"),
        ("t.csv", "name,description\nfold,Folds\niron_it,Irons\n"),
    ],
)
def test_other_files_are_searched_for_the_name(name, content):
    assert lines(content, name)["iron_it"] == 3


def test_a_tool_that_stands_nowhere_has_no_line():
    (tool,) = read_json([record("a", "Does a.")]).tools
    assert record_lines([tool], {FILE: b"[]", Path("x.json"): b"\xff{"}) == {}

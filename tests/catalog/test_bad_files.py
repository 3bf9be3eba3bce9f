"""Odd files and odd text: empty, cut off, in another encoding, nested too deeply."""

import json

import pytest

from tests.support.catalogs import accepting, read_text
from tests.support.catalogs import read_json as read
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.model.errors import CatalogError

ODD = "\ufeffa\x00b\u2028c\u2029d\x85e 🙂 é"


@pytest.mark.case(29)
def test_one_tool_fifty_copies_blank_names_and_missing_schemas():
    assert len(read({"name": "one"}).tools) == 1
    copies = read([{"name": "a", "description": "b", "inputSchema": {}}] * 50)
    assert len({tool.id for tool in copies.tools}) == 50
    assert len({tool.content_hash for tool in copies.tools}) == 1
    assert sum(item.code == "exact-repeat" for item in copies.findings) == 49
    long = {"name": "long", "description": "x" * 100_000}
    mixed = read([{"name": " "}, long, {"name": "null", "inputSchema": None}])
    assert [(tool.id, tool.schema) for tool in mixed.tools] == [("long", None), ("null", None)]
    assert mixed.tools[0].description == long["description"]
    assert mixed.problems[0].reason.startswith("has no name")
    for empty in (b"", b" \n", b"[]", b"---\n", b"name,description\n"):
        with pytest.raises(CatalogError):
            read_text(empty, "empty.txt")


@pytest.mark.case(30)
def test_one_name_on_three_servers_is_three_tools():
    catalog = read([{"server": s, "tools": [{"name": "go"}]} for s in "abc"])
    assert [tool.id for tool in catalog.tools] == ["a/go", "b/go", "c/go"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- {name: a, x: .nan}", "x is .nan"),
        ("- {name: a, x: {k: 1, k: 2}}", "x has the key 'k' twice"),
        ("- {name: a, x: 1e999}", "x is 1e999"),
        ("- {name: a, x: %s}" % ("9" * 5000), "x is a number with 5000 digits"),
    ],
)
def test_what_cannot_be_kept_exactly_is_a_problem_in_yaml_too(text, reason):
    catalog = read_text(f"- name: ok\n{text}\n", "t.yaml")
    assert [tool.name for tool in catalog.tools] == ["ok"]
    assert catalog.problems[0].position == "t.yaml: tool 2"
    assert catalog.problems[0].reason.startswith(reason)


@pytest.mark.case(32)
def test_depth_without_end_is_refused_in_every_syntax():
    for data in (b"[" * 100_000, b'{"a":' * 100_000, b"- " * 100_000, b"a: {" * 100_000):
        for label in ("t.json", "t.yaml"):
            with pytest.raises(CatalogError):
                read_text(data, label)


@pytest.mark.case(37)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_odd_text_stands_unchanged_in_every_field(encoding):
    record = {
        "id": f"id{ODD}",
        "name": f"n{ODD}",
        "server": f"s{ODD}",
        "description": ODD,
        "parameters": accepting(**{ODD: {"type": "string", "description": ODD}}),
        "returns": {"description": ODD},
        "annotations": {"title": ODD},
        ODD: ODD,
        "big": 10**400,
        "small": 5e-324,
    }
    data = json.dumps([record], ensure_ascii=False).encode(encoding)
    assert read_text("name,note\nä,b\n".encode(encoding), "t.csv").tools[0].name == "ä"
    assert read_text("- name: ä\n".encode(encoding), "t.yaml").tools[0].name == "ä"
    (tool,) = read_text(data).tools
    assert tool.raw == record
    for key in ("id", "name", "server", "description", "annotations"):
        assert getattr(tool, key) == record[key]
    assert tool.parameters[0].name == tool.parameters[0].description == ODD


@pytest.mark.case(37)
def test_lone_surrogates_are_problems_wherever_they_stand():
    for field in ("id", "name", "server", "description", "parameters", "returns", "\ud800"):
        catalog = read([{"name": "ok"}, {"name": "bad", field: "\ud800"}])
        assert [tool.name for tool in catalog.tools] == ["ok"]
        assert "lone surrogate" in catalog.problems[0].reason


def test_each_file_is_told_and_each_format_can_be_said():
    table = Source("a.txt", b"name,note\na,b\n", "csv")
    pages = Source("b.json", b'{"functionDeclarations": [{"name": "b"}, 5]}')
    catalog = read_catalog([table, pages])
    assert [(file.label, file.format, file.tools, file.problems) for file in catalog.files] == [
        ("a.txt", "csv", 1, 0),
        ("b.json", "gemini", 1, 1),
    ]
    with pytest.raises(CatalogError, match="'xml' is unknown"):
        read_catalog([Source("a.json", b"[]", "xml")])

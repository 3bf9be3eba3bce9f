import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.catalog.test_schemas import schemas
from tests.support.catalogs import accepting as schema
from tests.support.catalogs import unmerged
from toolscope_core.catalog.formats.format_table import MATRIX, OUTPUTS, target_named
from toolscope_core.catalog.formats.mcp_records import MCP
from toolscope_core.catalog.formats.offered_names import comparable_name
from toolscope_core.catalog.formats.record_format import read_record
from toolscope_core.catalog.formats.target_rules import fixed, rule_violations, violation_counts
from toolscope_core.catalog.formats.writers import write_record
from toolscope_core.model.tool import Tool


def kept(*tools):
    return unmerged(tools)


def told(tools, target):
    return [(v.tool_id, v.rule, v.value, v.fix) for v in rule_violations(kept(*tools), target)]


def test_names_by_hand():
    names, servers = ["geo.area", "Go", "ｇｏ", "go", "x" * 65, "翻訳", "geo_area"], " sts   "
    tools = [Tool(f"{n}", name, server=servers[n - 1].strip()) for n, name in enumerate(names, 1)]
    assert [row[:3] for row in told(tools, "openai-chat")] == [
        ("1", "name", "geo.area"),
        ("3", "name", "ｇｏ"),
        ("4", "unique", "go"),
        ("5", "name", "x" * 65),
        ("6", "name", "翻訳"),
    ]
    names = {row[0]: row[3] for row in told(tools, "openai-chat")}
    assert re.fullmatch(r"geo_area_[0-9a-f]{8}", names["1"])  # geo_area is taken
    assert (names["3"], names["4"]) == ("t_go", "s_go")
    assert (names["5"], names["6"]) == ("x" * 64, "FanYi")
    broken = [("3", "name", "ｇｏ"), ("4", "unique", "go"), ("6", "name", "翻訳")]
    assert [row[:3] for row in told(tools, "mcp")] == broken
    assert [row[0] for row in told(tools, "seal-tools")] == ["3", "4"]
    assert told(tools, "neutral") == told(tools, "bfcl") == []
    assert ("1", "name", "1x", "tool_1x") in told([Tool("1", "1x")], "gemini")
    assert told([Tool("1", "a:b.c")], "gemini") == []


NUMBER = {"type": "number"}


@pytest.mark.case(79)
@pytest.mark.parametrize(
    ("change", "places"),
    [
        ({}, []),
        ({"required": []}, ["where"]),
        ({"additionalProperties": True}, ["the parameters"]),
        ({"properties": {"where": {"type": ["object", "null"], "properties": {"lat": NUMBER}}}},
         ["where/lat", "where"]),
        ({"properties": {"where": {"description": "Anything"}}}, ["where"]),
        ({"properties": {"where": {"type": "string", "default": "x"}}}, ["where"]),
        ({"properties": {"where": {"type": "array", "uniqueItems": True, "items": NUMBER}}}, ["where"]),
        ({"properties": {"where": {"type": "string", "format": "uri"}}}, ["where"]),
        ({"properties": {"where": {"anyOf": [NUMBER, {"type": "string", "format": "date"}]}}}, []),
        ({"properties": {"where": {"oneOf": [{"type": "string"}, {"type": "null"}]}}}, ["where"]),
    ],
)  # fmt: skip
def test_what_strict_mode_refuses_is_said_and_mended(change, places):
    closed = {"type": "object", "required": ["where"], "additionalProperties": False}
    record = {
        "name": "walk",
        "strict": True,
        "parameters": closed | {"properties": {"where": NUMBER}},
    }
    record["parameters"] |= change
    for format, row in (
        ("openai-responses", {"type": "function", **record}),
        ("openai-chat", {"type": "function", "function": record}),
    ):
        tool = read_record(row, target_named(format))
        assert told([tool], format) == [("walk", "schema", one, "strict: false") for one in places]
        assert told([tool], "anthropic") == []
        mended = fixed(kept(tool), format)
        assert bool(mended) == bool(places)
        for other in ("openai-responses", "openai-chat"):
            sent = write_record(mended["walk"].tool if mended else tool, other)
            assert (sent.get("function", sent).get("strict") is True) is not bool(places)


SPOT = {
    **{"type": "object", "properties": {"lat": NUMBER}, "required": ["lat"]},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("where", "sent"),
    [
        ({"allOf": [NUMBER], "title": "W"}, {"type": "number", "title": "W"}),
        ({"allOf": [{"$ref": "#/$defs/Spot"}], "description": "W"}, {**SPOT, "description": "W"}),
        ({"$ref": "#/$defs/Spot", "description": "W"}, {**SPOT, "description": "W"}),
        ({**NUMBER, "default": None}, NUMBER),
        ({"allOf": [NUMBER, {"minimum": 1}, {"minimum": 2}]}, None),
        ({"allOf": [NUMBER], "type": "string"}, None),
        ({"$ref": "#/$defs/Spot", "minProperties": 1}, None),
    ],
)
def test_what_strict_mode_can_say_in_other_words_stays_strict(where, sent):
    parameters = {**schema(where=where), "required": ["where"], "additionalProperties": False}
    function = {
        "name": "walk",
        "strict": True,
        "parameters": {**parameters, "$defs": {"Spot": SPOT}},
    }
    tool = read_record({"type": "function", "function": function}, target_named("openai-chat"))
    for format in ("openai-chat", "openai-responses"):
        mended = fixed(kept(tool), format)
        assert bool(told([tool], format)) == bool(mended)
        row = write_record(mended["walk"].tool if mended else tool, format, sendable=True)
        row = row.get("function", row)
        assert row["strict"] is (sent is not None)
        assert sent is None or row["parameters"]["properties"]["where"] == sent
        assert sent is None or "$defs" not in row["parameters"]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "mcp", "gemini"])
def test_a_name_in_another_script_is_transliterated(target):
    names = ("数据库查询", "数据库删除", "查询 weather", "café_menü", "получить_файл", "파일")
    tools = [Tool(str(n), name, server="s.t") for n, name in enumerate(names)]
    assert [row[3] for row in told(tools, target)] == [
        *("ShuJuKuChaXun", "ShuJuKuShanChu", "ChaXun_weather", "cafe_menu"),
        *("poluchit_fayl", "PaIl"),
    ]


def test_a_name_that_cannot_be_spelled_or_sounds_like_another_gets_a_hash():
    alike = [Tool("1", "实体"), Tool("2", "尸体"), Tool("3", "名" * 40), Tool("4", "※")]
    first, second, long, sign = (row[3] for row in told(alike, "openai-chat"))
    assert first == "ShiTi" and re.fullmatch(r"ShiTi_[0-9a-f]{8}", second)
    assert long == ("Ming" * 40)[:64]
    assert re.fullmatch(r"tool_[0-9a-f]{8}", sign)


def test_a_name_of_a_tool_that_went_is_not_offered():
    tools = kept(Tool("1", "a.b"))
    assert rule_violations(tools, "anthropic")[0].fix == "a_b"
    assert rule_violations(tools, "anthropic", {"A_b"})[0].fix.startswith("a_b_")


def test_a_blocked_tool_gives_way_to_the_one_it_copies():
    tools = kept(Tool("1", "note", server="odd"), Tool("2", "note", server="own"))
    for blocked, told_of in ((set(), ("2", "own_note")), ({"1"}, ("1", "odd_note"))):
        (found,) = rule_violations(tools, "openai-chat", blocked=blocked)
        assert (found.tool_id, found.fix) == told_of
    assert set(fixed(tools, "openai-chat", blocked={"1"})) == {"1"}
    assert set(fixed(tools, "openai-chat", blocked={"1", "2"})) == {"2"}


def test_counts_lengths_and_parameters():
    many = [Tool(f"{n:03}", f"t{n}") for n in range(129)]
    for target, most in (("openai-chat", 128), ("cursor", 80), ("vscode", 95)):
        ((_, rule, value, fix),) = told(many, target)
        assert (rule, value) == ("count", "129")
        assert fix.startswith(f"{-(-129 // most)} ")
        assert told(many[:most], target) == []
    assert told(many, "cursor")[0][3].startswith("2 sets, one switched on at a time")
    assert rule_violations(kept(*many), "openai-chat")[0].fix.endswith("tools (128); tools (1)")
    assert told(many, "anthropic") == told(many, "mcp") == []
    long = Tool("1", "a", "x" * 1025)
    shortening = ("1", "description", "1025 characters", "cut to 1024 characters")
    assert told([long], "openai-chat") == [shortening]
    assert told([replace(long, description="x" * 1024)], "openai-chat") == []
    deep = Tool("1", "a", schema=schema(**{"a b": {}, "ok": {"items": schema(**{"c-d": {}})}}))
    assert [row[2] for row in told([deep], "anthropic")] == ["a b"]
    assert [row[2] for row in told([deep], "gemini")] == ["a b", "c-d"]
    assert [row[3] for row in told([deep], "gemini")] == ["a_b", "c_d"]


def test_schemas():
    top = Tool("1", "a", schema={"type": "object", "anyOf": [{"required": ["x"]}]})
    assert [row[1:3] for row in told([top], "openai-responses")] == [("schema", "anyOf")]
    assert rule_violations(kept(top), "openai-chat")[0].fix.startswith("without 'anyOf'")
    assert fixed(kept(top), "anthropic")["1"].tool.schema == {"type": "object", "required": ["x"]}
    closed = {**top.schema, "properties": {"y": {"$ref": "#/anyOf/0"}}}
    (kept_so,) = rule_violations(kept(replace(top, schema=closed)), "anthropic")
    assert (kept_so.fix, kept_so.remedy[:12]) == ("", "A reference ")
    assert fixed(kept(replace(top, schema=closed)), "anthropic") == {}
    assert [row[1:3] for row in told([top], "anthropic")] == [("schema", "anyOf")]
    assert told([top], "mcp") == []
    bare = Tool("1", "a", schema=schema(x={"anyOf": [{"type": ["array", "null"]}]}, y={}))
    assert told([bare], "openai-chat") == [("1", "schema", "items", "items: {}")]
    mended = fixed(kept(bare), "openai-chat")["1"].tool
    assert mended.schema == schema(x={"anyOf": [{"type": ["array", "null"], "items": {}}]}, y={})
    pair = Tool("1", "a", schema=schema(x={"type": "array", "prefixItems": [{}]}))
    assert told([pair], "openai-chat") == []


def test_a_client_counts_its_prefix():
    fits = Tool("1", "t" * 114, server="s" * 7)
    assert told([fits], "claude-code") == []
    over = replace(fits, name="t" * 115)
    ((_, rule, _, fix),) = told([over], "claude-code")
    assert (rule, len(fix)) == ("name", 114)
    hopeless = rule_violations(kept(Tool("1", "t", server="s" * 124)), "claude-code")[0]
    assert re.fullmatch(r"the server called s{8}_[0-9a-f]{8}", hopeless.fix)
    assert "client's configuration" in hopeless.remedy
    shorter = Tool("1", "t", server=hopeless.fix.rpartition(" ")[2])
    assert told([shorter], "claude-code") == []
    long = Tool("1", "t" * 124, server="s" * 124)
    server, tool = re.findall(r"called (\S+), the tool (\S+)", told([long], "claude-code")[0][3])[0]
    assert told([Tool("1", tool, server=server)], "claude-code") == []
    assert "at its server" in rule_violations(kept(over), "claude-code")[0].remedy
    braces = Tool("1", "t", server="{server}{0}")
    assert told([braces], "claude-code") == []


@pytest.mark.parametrize(
    ("tool", "target", "broken"),
    [
        (Tool("1", "a", schema=schema(x={"type": "array"})), "vscode", "items"),
        (Tool("1", "a", schema={"type": "object", "oneOf": [{}]}), "claude-code", "oneOf"),
        (Tool("1", "a", "x" * 4097), "claude-code", "4097 characters"),
        (Tool("1", "t" * 40, server="s" * 21), "cursor", "t" * 40),
        (Tool("1", "a.b"), "claude-desktop", "a.b"),
        (Tool("1", "t" * 50, server="s" * 10), "gemini-cli", "t" * 50),
    ],
)
def test_each_rule_of_a_target(tool, target, broken):
    assert [row[2] for row in told([tool], target)] == [broken]
    assert told([Tool("1", "a", schema=schema())], target) == []


def test_a_client_that_writes_dots_as_underscores_takes_one_of_two_names():
    pair = [Tool("1", "room.book", server="s"), Tool("2", "room_book", server="s")]
    assert [row[:2] for row in told(pair, "claude-code")] == [("2", "unique")]
    assert told(pair, "mcp") == []


def test_names_of_parameters_inside_are_of_no_account_to_anthropic():
    stage = schema(stage=schema(**{"$match": {}}))
    tool = Tool("1", "a", schema={**stage, "propertyNames": {"maxLength": 9}})
    assert told([tool], "anthropic") == []
    assert [row[2] for row in told([tool], "gemini")] == ["$match"]


def test_what_a_fix_no_longer_checks_stands_in_a_text():
    choice = {"oneOf": [{"required": ["at"]}, {"required": ["clear", "why"]}]}
    tool = Tool("1", "a", schema={**schema(at={}, clear={}, why={}), **choice})
    mended = fixed(kept(tool), "anthropic")["1"].tool.schema
    assert "only one of: at, clear with why" in mended["description"]


def mcp_tool(**parts):
    raw = {"name": "store", "description": "", "inputSchema": schema(), **parts}
    return read_record(raw, MCP, "lab")


@pytest.mark.parametrize("target", ["mcp", "claude-code", "cursor"])
def test_what_hides_all_tools_from_a_client_of_mcp_is_named(target):
    store = mcp_tool(inputSchema=schema(readings=True), outputSchema=schema(stored=False))
    route = replace(mcp_tool(inputSchema=schema(a={"x-mcp-header": "b c"})), id="route", name="r")
    scan = replace(mcp_tool(outputSchema={"type": "array"}, title=5), id="scan", name="s")
    *rows, last = told([store, route, scan], target)
    assert rows == [
        ("lab/store", "schema", "readings", "{}"),
        ("lab/store", "schema", "stored", '{"not":{}}'),
        ("route", "schema", "x-mcp-header", ""),
        ("scan", "schema", "title", "left out"),
    ]
    assert last[:3] == ("scan", "schema", "outputSchema")
    (held,) = rule_violations(kept(route), target)
    assert held.remedy.startswith("Fix the tool at its server")


def test_a_fixed_record_of_mcp_differs_in_what_was_wrong_only():
    wrong = {"outputSchema": {"type": "array"}, "icons": 5}
    odd = mcp_tool(inputSchema=schema(readings=True), _meta={"a": 1}, **wrong)
    mended = fixed(kept(odd), "mcp")["lab/store"].tool
    right = {"inputSchema": schema(readings={}), "_meta": {"a": 1}}
    plain = {"name": "store", "description": ""}
    assert write_record(mended, "mcp", sendable=True) == {**plain, **right}
    assert not rule_violations(kept(mended), "mcp")
    assert fixed(kept(mended), "mcp") == {}


def test_a_record_made_anew_for_mcp_is_one_that_all_clients_read():
    tool = Tool("1", "f", schema=schema(a=True), returns={"type": "array"})
    assert told([tool], "mcp") == []
    record = {"name": "f", "description": "", "inputSchema": schema(a={})}
    assert write_record(tool, "mcp", sendable=True) == record


names = st.sampled_from(["go", "GO", "ｇｏ", "g.o", "_", "1", "翻", "x" * 70, "a\u200bb"])
rows = st.tuples(
    names | st.text(max_size=6),
    st.sampled_from(["", "Go.", "y" * 2000]),
    st.sampled_from(["", "s", "long server " * 3]),
    st.none() | schemas,
)
tools = st.lists(rows, max_size=8).map(
    lambda drawn: kept(*(Tool(f"t{n}", *row) for n, row in enumerate(drawn)))
)


@given(tools, st.sampled_from(OUTPUTS))
def test_what_is_fixed_is_not_broken_any_more(items, target):
    changed = fixed(items, target)
    after = [replace(item, tool=changed.get(item.tool.id, item).tool) for item in items]
    assert rule_violations(after, target) == ()
    if target_named(target).rules.unique == "toolset":
        assert len({comparable_name(item.tool.name) for item in after}) == len(after)
    for one in rule_violations(items, target):
        if one.rule in ("name", "unique"):
            assert changed[one.tool_id].tool.name == one.fix


@given(tools, st.sampled_from(MATRIX), st.randoms(use_true_random=False))
def test_what_is_counted_is_what_is_found_in_any_order(items, target, random):
    violations, known = rule_violations(items, target), {}
    assert rule_violations(random.sample(items, len(items)), target) == violations
    rule_counts = Counter(item.rule for item in violations)
    assert violation_counts(items, target, known) == rule_counts
    assert violation_counts(items, target, known) == rule_counts, "from what it remembers"

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.judging.arguments.test_subschema import valid
from tests.merging.strategies import calls, tools
from tests.support.properties import examples
from toolscope_core.catalog.calls import map_call, unmap_call
from toolscope_core.judging.arguments.alignment import unmappable
from toolscope_core.merging.synthesis import (
    Keepers,
    merged_annotations,
    synthesise,
    with_default_server,
)
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}


def tool(tool_id, name, required=(), server="", annotations=None, **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(tool_id, name, f"{name} it.", server, schema, annotations=annotations or {})


@st.composite
def members(draw):
    return [draw(tools(tool_id)) for tool_id in ("a", "b", "c")[: draw(st.integers(2, 3))]]


@examples(60)
@given(members(), st.data())
def test_every_members_calls_are_served_and_can_be_told_apart(group, data):
    result = synthesise(group)
    assert [alpha.tool_id for alpha in result.arguments] == [t.id for t in group]
    assert all(alpha.to == result.canonical for alpha in result.arguments)
    if result.document.schema is not None:
        Draft202012Validator.check_schema(result.document.schema)
    for member, alpha in zip(group, result.arguments, strict=True):
        if unmappable(member):
            continue
        assert alpha.lossless
        arguments = data.draw(calls(member))
        mapped = map_call(alpha, arguments)
        assert valid(result.document.schema, mapped.arguments)
        types = {p.name: p.type for p in member.parameters}
        assert unmap_call(alpha, mapped.arguments, types).arguments == arguments


@given(members())
def test_a_drop_in_is_a_member_as_it_was(group):
    result = synthesise(group)
    canonical = next(t for t in group if t.id == result.canonical)
    if result.kind == "drop_in":
        assert result.document.schema == canonical.schema
        assert result.document.name == canonical.name
        assert all(alpha.lossless for alpha in result.arguments)


def test_the_most_general_member_serves_and_the_shortest_name_breaks_the_tie():
    wide = tool("1", "fetch_page_text", ["url"], url=TEXT, limit={"type": "integer"})
    narrow = tool("2", "fetch", ["url"], url=TEXT)
    assert synthesise([wide, narrow]).canonical == "1"
    twin = tool("3", "get_page", ["url"], url=TEXT, limit={"type": "integer"})
    assert synthesise([wide, narrow, twin]).canonical == "3"


def test_a_blocked_member_is_never_canonical_while_another_can_be():
    good, bad = tool("1", "fetch_it", url=TEXT), tool("2", "fetch", url=TEXT)
    assert synthesise([good, bad], frozenset("2")).canonical == "1"
    assert synthesise([good, bad], frozenset("12")).canonical == "2"


def test_a_person_may_choose_even_what_needs_a_gateway():
    wide = tool("1", "fetch_page", ["url"], url=TEXT, limit={"type": "integer"})
    narrow = tool("2", "fetch", ["url"], url=TEXT)
    result = synthesise([wide, narrow], preferred="2")
    assert (result.kind, result.canonical) == ("gateway", "2")


def test_what_a_result_includes_is_kept():
    plain = tool("1", "get_team", ["id"], id=TEXT)
    rich = replace(tool("2", "read_team", ["id"], id=TEXT), description="Get a team with its tags.")
    other = replace(plain, id="3", description="Get a team with its rules.")
    assert synthesise([plain, rich]).canonical == "2"
    assert synthesise([rich, other]).kind == "gateway"
    assert synthesise([plain, rich], preferred="1").kind == "drop_in"


def test_a_gateway_takes_everything_and_says_who_works():
    city = tool("1", "weather", ["city"], city=TEXT)
    point = tool("2", "weather_at", ["lat", "lon"], lat={"type": "number"}, lon={"type": "number"})
    result = synthesise([city, point])
    schema = result.document.schema
    assert result.kind == "gateway"
    assert list(schema["properties"]) == ["city", "lat", "lon", "variant"]
    assert schema["required"] == ["variant"]
    selector = schema["properties"]["variant"]
    assert selector["enum"] == ["weather", "weather_at"]
    assert selector["description"].startswith("`weather`")
    assert result.arguments[1].constants == {"variant": "weather_at"}


def test_a_gateway_over_servers_selects_by_server_and_widens_values():
    one = tool("1", "send", ["to"], "mail", to=TEXT, how={"type": "string", "enum": ["now"]})
    two = tool("2", "send", ["to"], "chat", to=TEXT, how={"type": "string", "enum": ["later"]})
    result = synthesise([one, two])
    schema = result.document.schema
    assert schema["properties"]["server"]["enum"] == ["mail", "chat"]
    assert schema["properties"]["how"]["enum"] == ["now", "later"]
    assert schema["required"] == ["to", "server"]


def test_a_gateway_says_which_arguments_it_only_infers_to_be_one():
    sent = tool("a", "mail", ["issue_id", "copy"], issue_id=TEXT, copy={"type": "boolean"})
    queued = tool("b", "queue", ["issue_number", "later"], issue_number=TEXT, later=TEXT)
    result = synthesise([sent, queued])
    assert list(result.document.schema["properties"])[:3] == ["issue_id", "copy", "later"]
    same, (guess,) = (alpha.inferred for alpha in result.arguments)
    assert same == ()
    assert "`issue_number` of b" in guess and "`issue_id`" in guess


def test_a_gateway_keeps_the_fields_of_every_member():
    whole = {"type": "object", "properties": {"item": TEXT, "note": TEXT}}
    short = {"type": "object", "properties": {"item": TEXT}}
    one = tool("a", "order", ["order", "x"], order=short, x=TEXT)
    result = synthesise([one, tool("b", "order_it", ["order", "y"], order=whole, y=TEXT)])
    assert result.kind == "gateway"
    assert all(alpha.lossless for alpha in result.arguments)
    assert whole in result.document.schema["properties"]["order"]["anyOf"]


def test_a_free_name_is_found_for_the_selector_and_for_other_meanings():
    one = tool("1", "go", ["variant"], variant=TEXT)
    two = tool("2", "gone", ["variant"], variant={"type": "object"})
    result = synthesise([one, two])
    assert list(result.document.schema["properties"]) == ["variant", "variant_2", "variant_3"]


@pytest.mark.parametrize(
    ("hints", "merged"),
    [
        ([{"readOnlyHint": True}, {"readOnlyHint": True}], {"readOnlyHint": True}),
        ([{"readOnlyHint": True}, {}], {"readOnlyHint": False}),
        ([{"destructiveHint": False}, {"destructiveHint": True}], {"destructiveHint": True}),
        ([{"destructiveHint": False}, {}], {"destructiveHint": True}),
        ([{"openWorldHint": False}, {"openWorldHint": False}], {"openWorldHint": False}),
        ([{}, {}], {}),
        ([{"idempotentHint": True}, {"idempotentHint": True}], {}),
    ],
)
def test_annotations_promise_no_more_than_everybody_did(hints, merged):
    group = [tool(str(i), "x", annotations=hint) for i, hint in enumerate(hints)]
    assert merged_annotations(group) == merged


@pytest.mark.parametrize("trouble", ["ALWAYS weigh it.", "You will cause harm.", "Weigh it!!", ""])
def test_a_member_that_shouts_or_has_a_warning_gives_a_gateway_tool_no_words(trouble):
    short = replace(tool("1", "weigh", a=TEXT), description=trouble or "Weigh it.")
    calm = replace(tool("2", "weigh_it", b={"type": "integer"}), description="Put it on scales.")
    keepers = Keepers(warned=frozenset("1" if not trouble else ""))
    assert synthesise([short, calm], keep_all=True, keepers=keepers).canonical == "2"
    both = Keepers(warned=frozenset("12"))
    assert synthesise([short, calm], keep_all=True, keepers=both).canonical == "1"


def test_of_stores_the_selector_says_what_each_has_but_not_of_a_family():
    one, two = tool("1", "find", ["q"], "work", q=TEXT), tool("2", "find", ["q"], "home", q=TEXT)
    keepers = Keepers(
        contents_of={"work": ("invoice", "file"), "home": ("recipe", "file")}.__getitem__
    )
    stores, family = (
        synthesise([one, two], family=family, keep_all=True, keepers=keepers)
        for family in (False, True)
    )
    server = stores.document.schema["properties"]["server"]
    assert server["description"] == "`work`: invoice. `home`: recipe."
    assert "recipe" not in family.document.schema["properties"]["server"]["description"]


def test_on_one_account_the_server_has_a_default():
    one, two = tool("1", "find", ["q"], "work", q=TEXT), tool("2", "find", ["q"], "home", q=TEXT)
    made = synthesise([one, two], keep_all=True)
    schema = with_default_server(made).document.schema
    assert made.document.schema["required"] == ["q", "server"]
    assert schema["required"] == ["q"]
    assert schema["properties"]["server"]["default"] == "work"
    assert schema["properties"]["server"]["enum"] == ["work", "home"]


def test_a_tool_that_says_much_less_stands_for_no_other():
    descriptions = (
        "Tell about a topic.",
        "Tell about a topic: its replicas, brokers, offsets, retention, lagging consumers, quotas, "
        "unbalanced leaders, compaction and rack awareness.",
        "Tell about a topic: its cleanup policy, watermarks, throttles, encryption, segments, "
        "schemas, owners, tombstones and checksums.",
    )
    brief, full, other = (
        replace(tool(text, "topic_info", ["topic"], text, topic=TEXT), description=text)
        for text in descriptions
    )
    assert synthesise([brief, replace(brief, id="again")]).kind == "drop_in"
    assert synthesise([full, other]).kind == "gateway"
    assert synthesise([brief, full], preferred=brief.id).kind == "drop_in"

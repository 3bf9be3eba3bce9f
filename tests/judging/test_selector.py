"""What tells the members of a family apart, and the gateway that they make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.judging.arguments.test_subschema import valid
from toolscope_core.catalog.calls import map_call, unmap_call
from toolscope_core.judging.selector import own_words, selector_of
from toolscope_core.merging.synthesis import synthesise
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import read_tool

TEXT = {"type": "string"}


def tool(called, server="", description="", **properties):
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    return Tool(f"{server}/{called}" if server else called, called, description, server, schema)


def selector(*tools):
    return selector_of(tools, own_words([read_tool(one) for one in tools]))


SELECTORS = {
    "provider": (["get_quuxco_balance", "get_zorblax_balance"], ("quuxco", "zorblax")),
    "language": (["translate_to_french", "translate_to_german"], ("french", "german")),
    "month": (["first_day_of_january", "first_day_of_march"], ("january", "march")),
    "period": (["daily_forecast", "weekly_forecast"], ("daily", "weekly")),
    "format": (["export_csv", "export_pdf", "export_xml"], ("csv", "pdf", "xml")),
    "shape": (["area_of_circle", "area_of_square"], ("circle", "square")),
    "color": (["paint_red", "paint_blue"], ("red", "blue")),
    "number": (["top_10", "top_50"], ("10", "50")),
    "variant": (["draw_curve", "draw_slope"], ("curve", "slope")),
}


def test_what_is_no_provider_makes_no_selector_of_providers():
    one, other = (tool(f"get_{name}_template", "x") for name in ("gitlab", "dockerfiles"))
    assert selector(one, other) == ("variant", ("gitlab", "dockerfiles"))


def test_a_value_does_not_say_its_noun_twice():
    one, other = tool("issues_get_issue"), tool("requests_get_request")
    assert selector(one, other)[1] == ("issues", "requests")


def test_the_name_of_a_server_is_no_part_of_a_value_beside_other_words():
    one, other = tool("acme_add_remark", "acme"), tool("zorb_add_story", "my-zorb")
    assert selector(one, other) == ("variant", ("remark", "story"))
    one, other = tool("acme_add_story", "acme"), tool("zorb_add_story", "my-zorb")
    assert selector(one, other)[1] == ("acme", "zorb")


@pytest.mark.parametrize(("name", "case"), SELECTORS.items(), ids=SELECTORS)
def test_a_selector_is_named_for_what_its_values_are(name, case):
    names, values = case
    assert selector(*(tool(one) for one in names)) == (name, values)


def test_words_of_the_description_tell_where_names_do_not():
    one = tool("convert", "x", "Convert dollars to yen.")
    other = tool("convert", "y", "Convert dollars to pesos.")
    assert selector(one, other)[1] == ("yen", "pesos")


def test_servers_tell_before_words_of_descriptions_that_have_nothing_in_common():
    one = tool("list_files", "attic", "List files. Prefer this to ls, with depth.")
    other = tool("list_files", "cellar", "List files. Clearly distinguishes folders.")
    assert selector(one, other) == ("server", ("attic", "cellar"))


def test_servers_names_and_ids_tell_where_words_do_not():
    attic, cellar = tool("list_files", "attic"), tool("list_files", "cellar")
    assert selector(attic, cellar) == ("server", ("attic", "cellar"))
    names = ("list_files", "listFiles")
    assert selector(*map(tool, names)) == ("variant", names)
    twins = [Tool(called, "list_files", server="attic") for called in ("a", "b")]
    assert selector(*twins) == ("variant", ("a", "b"))


def test_long_differences_are_cut():
    one, other = tool("play_old_slow_sad_song"), tool("play_new_quick_loud_march")
    assert selector(one, other)[1][0] == "old_slow_sad"


WORDS = st.sampled_from("acme zorblax french german old new price stock daily weekly".split())
FAMILIES = st.lists(
    st.tuples(st.lists(WORDS, min_size=1, max_size=3), st.sampled_from(["", "x", "y"])),
    min_size=2,
    max_size=4,
    unique_by=lambda made: (tuple(made[0]), made[1]),
)


@given(FAMILIES)
def test_every_member_has_a_value_of_its_own_and_calls_can_be_told_apart(made):
    members = sorted(
        (tool("_".join(("get", *words)), server, town=TEXT) for words, server in made),
        key=lambda one: one.id,
    )
    gateway = synthesise(members, family=True)
    assert gateway.kind == "gateway"
    schema = gateway.document.schema
    Draft202012Validator.check_schema(schema)
    listed = schema["properties"][gateway.selector]["enum"]
    values = [alpha.constants[gateway.selector] for alpha in gateway.arguments]
    assert sorted(values) == sorted(set(listed))
    canonical = [alpha.tool_id for alpha in gateway.arguments].index(gateway.canonical)
    assert listed[0] == values[canonical]
    assert gateway.selector in schema["required"]
    assert "default" not in schema["properties"][gateway.selector]
    for alpha in gateway.arguments:
        assert alpha.lossless
        call = map_call(alpha, {"town": "Rome"})
        assert valid(schema, call.arguments)
        assert unmap_call(alpha, call.arguments, {"town": "string"}).arguments == {"town": "Rome"}


def test_a_selector_takes_a_free_name():
    one, other = tool("paint_red", color=TEXT), tool("paint_blue", color=TEXT)
    assert synthesise([other, one], family=True).selector == "color_2"

"""What the judge reads in a tool, and the numbers it compares, on tools of our own."""

import math
from dataclasses import replace

import numpy as np
import pytest

from toolscope_core.judging.signals import SIGNALS, Signals
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import read_tool
from toolscope_core.wording.vocabulary import action_classes, is_plain_verb, opposites, word_weight
from toolscope_core.wording.words import is_plural, singular, stem


def tool(name, description="", *parameters, declared=True):
    schema = {"type": "object", "properties": {p: {"type": "string"} for p in parameters}}
    return Tool(id=name, name=name, description=description, schema=schema if declared else None)


TOOLS = (
    tool("open_valve", "Open a valve of the reactor.", "valve_id"),
    tool("close_valve", "Close a valve of the reactor.", "valve_id"),
    tool("get_valve_pressure", "Reads the pressure of a valve.", "valve_id", "unit"),
    tool("fetch_valve_pressure", "Retrieve the pressure at one valve.", "unit", "valve"),
    tool("delete_recipe", "Remove a recipe from the cookbook.", "recipe"),
    tool("ping", "", declared=False),
    tool("status", "Tells how things are."),
)


def vectors(rows, seed=0):
    made = np.random.default_rng(seed).normal(size=(rows, 16)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def signals(left, right, tools=TOOLS):
    row = {t.id: at for at, t in enumerate(tools)}
    prepared = Signals.of(tools, vectors(len(tools)))
    values = prepared.of_pairs(np.array([row[left]]), np.array([row[right]]))[0]
    return dict(zip(SIGNALS, values.tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "description", "verb", "classes"),
    [
        ("get_user", "", "get", {"reads"}),
        ("zz_list_alerts", "", "list", {"reads"}),
        ("zz_delete_app_connector", "", "delete", {"deletes"}),
        ("account_balance_query", "", "query", {"reads"}),
        ("room.booking", "", "booking", {"orders"}),
        ("set_alarm", "", "set", {"creates", "updates"}),
        ("sum_api.SumApi.calculate_sum", "", "calculate", {"computes"}),
        ("valve", "This tool stops the flow.", "stops", {"stops"}),
        ("valve", "About a valve.", "", set()),
        ("order_status_get", "", "get", {"reads"}),
        ("customer_order_search", "", "search", {"reads"}),
        ("Shop.order", "", "order", {"orders"}),
        ("send_text", "", "send", {"sends"}),
        ("join_room", "", "join", {"joins"}),
        ("start_engine", "", "start", {"starts"}),
    ],
)
def test_the_verb_is_found_wherever_it_stands(name, description, verb, classes):
    reading = read_tool(tool(name, description))
    assert (reading.verb, set(reading.classes)) == (verb, classes)


def test_words_are_singular_without_repeats_and_without_the_verb():
    reading = read_tool(
        tool("list_open_orders", "Lists orders of all customers. Never closed ones.", "customerIDs")
    )
    assert reading.nouns == ("open", "order")
    assert reading.phrase == ("order",)
    assert reading.objects == ("order",)
    assert reading.content == ("open", "order", "customer", "never", "closed", "one")
    assert reading.arguments == ("customer", "id")
    assert reading.name == ("list", "open", "orders")


def test_parameters_that_are_not_declared_differ_from_none():
    assert read_tool(tool("ping", declared=False)).arguments is None
    assert read_tool(tool("ping")).arguments == ()


def test_a_tool_without_words_can_be_read():
    reading = read_tool(tool("??", "…"))
    assert (reading.verb, reading.nouns, reading.content, reading.objects) == ("", (), (), ())


@pytest.mark.parametrize(
    ("word", "one"),
    [
        ("cities", "city"),
        ("boxes", "box"),
        ("users", "user"),
        ("status", "status"),
        ("gas", "gas"),
        ("ids", "id"),
        ("movies", "movie"),
        ("address", "address"),
        ("news", "news"),
        ("branches", "branch"),
        ("analysis", "analysis"),
    ],
)
def test_plurals_are_cut(word, one):
    assert singular(word) == one
    assert is_plural(word) is (word != one)
    assert stem(word) == stem(one)


def test_inflected_verbs_are_known_and_nouns_are_not_plain_verbs():
    assert action_classes("cancelling") == action_classes("cancel") == {"cancels"}
    assert action_classes("retrieved") == action_classes("retrieves") == {"reads"}
    assert action_classes("valve") == frozenset()
    assert is_plain_verb("delete")
    assert not is_plain_verb("order")


def test_opposites_need_one_word_on_each_side_only():
    assert opposites(frozenset({"open"}), frozenset({"close"})) == ("open", "close")
    assert opposites(frozenset({"sell"}), frozenset({"buy"})) == ("sell", "buy")
    assert opposites(frozenset({"open", "close"}), frozenset({"close"})) is None
    assert opposites(frozenset(), frozenset({"close"})) is None


@pytest.mark.case(79)
@pytest.mark.parametrize(
    ("one", "other", "are_opposite"),
    [
        ("sperren", "entsperren", True), ("einschalten", "ausschalten", True), ("bloquear", "desbloquear", True),
        ("zablokować", "odblokować", True), ("включить", "выключить", True), ("mail", "email", False),
        ("name", "username", False), ("konto", "konten", False), ("x1sperren", "sperren", False),
        ("metainfo", "info", False),
    ],
)  # fmt: skip
def test_another_prefix_makes_the_opposite_in_languages_other_than_english(
    one, other, are_opposite
):
    pair = (frozenset({"konto", one}), frozenset({"konto", other}))
    assert [opposites(*pair) is not None, opposites(*pair[::-1]) is not None] == [are_opposite] * 2


def test_opposite_names_and_other_effects_are_marked():
    apart = signals("open_valve", "close_valve")
    assert (apart["opposite_words"], apart["same_verb"]) == (1.0, 0.0)
    assert signals("get_valve_pressure", "open_valve")["other_effect"] == 1.0
    assert signals("get_valve_pressure", "delete_recipe")["other_effect"] == 2.0
    same = signals("get_valve_pressure", "fetch_valve_pressure")
    assert (same["opposite_words"], same["other_effect"], same["same_verb"]) == (0.0, 0.0, 1.0)


def test_the_same_job_in_other_words_shares_its_object_and_arguments():
    same = signals("get_valve_pressure", "fetch_valve_pressure")
    other = signals("get_valve_pressure", "delete_recipe")
    assert (same["shared_object"], other["shared_object"]) == (1.0, 0.0)
    assert (same["shared_phrase"], other["shared_phrase"]) == (1.0, 0.0)
    assert other["shared_arguments"] == 0.0
    assert same["most_name_words_apart"] == 0.0 < other["least_name_words_apart"]
    assert same["words_apart"] < other["words_apart"]
    assert same["common_words"] > other["common_words"]


def test_shared_arguments_weigh_rare_words_higher():
    valve, ident, unit = map(word_weight, ("valve", "id", "unit"))
    assert ident < unit < valve
    shared = signals("get_valve_pressure", "fetch_valve_pressure")["shared_arguments"]
    assert shared == pytest.approx((valve + unit) / (valve + ident + unit))
    assert signals("get_valve_pressure", "status")["shared_arguments"] == 0.0


def test_required_arguments_are_looked_for_among_all_of_the_other():
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    needs = {**schema, "required": ["city"]}
    both = tool("c", "", "city", "when")
    several = replace(both, schema={**both.schema, "required": ["city", "when"]})
    tools = (Tool("a", "a", schema=schema), Tool("b", "b", schema=needs), several)
    assert signals("a", "b", tools)["required_matched"] == 1.0
    assert signals("b", "c", tools)["required_matched"] == 0.5
    assert signals("a", "a", tools)["required_matched"] == 1.0


def test_what_cannot_be_measured_is_nan():
    unknown = signals("ping", "get_valve_pressure")
    assert math.isnan(unknown["shared_arguments"])
    assert math.isnan(unknown["required_matched"])
    assert math.isnan(unknown["other_effect"])
    nothing = (tool("??"), tool("!!"))
    bare = signals("??", "!!", nothing)
    assert math.isnan(bare["shared_object"])
    assert math.isnan(bare["shared_server_word"])


def test_closeness_means_the_same_for_every_embedding_model():
    rows = np.array([[1.0, 0.0], [0.9, math.sqrt(0.19)]], dtype=np.float32)
    pair = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    for model, near in (("all-MiniLM-L6-v2", 0.6), ("thenlper/gte-large", 0.82), ("another", 0.7)):
        prepared = Signals.of(TOOLS[:2], rows, model)
        assert prepared.of_pairs(*pair)[0, 0] == pytest.approx((0.9 - near) / (1 - near), abs=1e-5)


def test_products_of_two_servers_are_compared():
    tools = (
        Tool("a", "list_tasks", "Lists tasks.", "asana-mcp"),
        Tool("b", "list_tasks", "Lists what Asana has to do.", "planner"),
        Tool("c", "list_tasks", "Lists tasks.", "todoist"),
        Tool("d", "list_tasks", "Lists tasks."),
    )
    same, apart, none = (signals("a", other, tools) for other in "bcd")
    assert (same["shared_product"], same["other_products"]) == (1.0, 0.0)
    assert (apart["shared_product"], apart["other_products"]) == (0.0, 1.0)
    assert (none["shared_product"], none["other_products"], none["no_product"]) == (0.0, 0.0, 0.0)
    assert signals("d", "d", tools)["no_product"] == 1.0


def test_servers_for_one_unlisted_product_share_its_stores():
    tools = tuple(
        Tool(f"{server}{at}", f"add_note{at}", f"Adds a note to {product}.", server)
        for server, product in (("zorblax-a", "Zorblax"), ("zorblax-b", "Zorblax"), ("other", "it"))
        for at in "12"
    )
    assert signals("zorblax-a1", "zorblax-b1", tools)["other_stores"] == 0.0
    assert signals("zorblax-a1", "other1", tools)["other_stores"] == 1.0


def test_a_name_with_the_name_of_its_server_is_an_alias():
    def on_valves(name, *parameters):
        return replace(tool(name, f"Says {name}.", *parameters), server="valve-mcp")

    tools = on_valves("get_load", "id"), on_valves("valve_get_load", "id"), on_valves("load", "id")
    tools += (on_valves("valve_load", "unit"),)
    assert signals("get_load", "valve_get_load", tools)["one_server"] == 0.0
    assert signals("load", "valve_load", tools)["one_server"] == 1.0, "other arguments"
    assert signals("get_load", "load", tools)["one_server"] == 1.0


def test_a_family_has_one_verb_and_on_one_server_the_same_arguments():
    tools = (
        tool("hold_place", "Hold a place."),
        tool("release_place", "Release a place."),
        tool("place_release", "Releases the place."),
        tool("get_place", "Get a place."),
        tool("fetch_place", "Fetch a place."),
        tool("??", "Place."),
    )
    prepared = Signals.of(tools, vectors(len(tools)))
    assert prepared.is_no_family(0, 1)
    assert prepared.is_no_family(1, 0)
    assert not prepared.is_no_family(1, 2)
    assert not prepared.is_no_family(3, 4)
    assert prepared.is_no_family(5, 3)
    things = (
        Tool("a", "gitlab_create_release_stage", "Create a stage.", "gitlab"),
        Tool("b", "linear_create_schedule", "Create a schedule.", "linear"),
        Tool("c", "linear_create_stage", "Create a stage.", "linear"),
        Tool("d", "gmail_create_stage", "Create a stage.", "gmail"),
    )
    prepared = Signals.of(things, vectors(4))
    assert [prepared.is_no_family(0, at) for at in (1, 2, 3)] == [True, False, True]
    by_author, by_title, by_year = (
        replace(tool(f"search_by_{of}", f"Search books by {of}.", of, *more), server="library")
        for of, more in (("author", ()), ("title", ()), ("year", ("until",)))
    )
    needs, needed = (
        tool(f"list_{what}", "List packages.", "package") for what in ("dependencies", "dependents")
    )
    assert Signals.of((needs, needed), vectors(2)).is_no_family(0, 1)
    prepared = Signals.of((by_author, by_title, by_year), vectors(3))
    assert not prepared.is_no_family(0, 1)
    assert prepared.is_no_family(0, 2)


def test_a_family_of_two_servers_is_of_one_field_and_of_one_thing():
    a, b = (Tool(at, "create_node", "Create a node.", at) for at in ("alpha", "beta"))
    cone = Tool("c", "create_cone", "Create a cone.", "beta")
    prepared = Signals.of((a, b, cone), vectors(3))
    assert prepared.fields is None
    assert [prepared.is_no_family(0, at) for at in (1, 2)] == [False, True]
    fields = np.array([[1, 0], [1, 0], [0.19, 0.98]], dtype=np.float32)
    assert replace(prepared, fields=fields).is_no_family(0, 1)
    fields[2] = 0.21, 0.978
    assert not replace(prepared, fields=fields).is_no_family(0, 1)


def test_names_equal_but_for_a_word_are_marked():
    tools = (tool("json_to_toml", "Turns it round."), tool("json_into_toml", "Turn it round."))
    same = signals("json_to_toml", "json_into_toml", tools)
    assert same["most_name_words_apart"] == same["one_word_apart"] == same["words_apart"] == 0.0
    assert signals("open_valve", "close_valve")["one_word_apart"] == 1.0


@pytest.mark.parametrize(
    ("one", "other"), [("list_valves", "get_valve"), ("get_valve", "get_valve_2")]
)
def test_one_thing_and_several_are_told_apart_by_a_signal(one, other):
    tools = (tool(one, "Reads it."), tool(other, "Reads what there is."))
    assert signals(one, other, tools)["one_and_several"] == float(one == "list_valves")

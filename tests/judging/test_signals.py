"""What the judge reads in a tool, and the numbers it compares, on tools of our own."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.properties import examples
from toolscope_core.judging.reading import read_tool
from toolscope_core.judging.signals import SIGNALS, Signals
from toolscope_core.judging.vocabulary import (
    action_classes,
    is_plain_verb,
    opposites,
    singular,
    stem,
)
from toolscope_core.model.tool import Tool


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
    assert reading.name == ("open", "order")
    assert reading.phrase == ("order",)
    assert reading.objects == ("order",)
    assert reading.text == ("open", "order", "customer", "never", "closed", "one")
    assert reading.arguments == ("customer", "id")
    assert reading.whole == {"list", "open", "orders"}


def test_parameters_that_are_not_declared_differ_from_none():
    assert read_tool(tool("ping", declared=False)).arguments is None
    assert read_tool(tool("ping")).arguments == ()


def test_a_tool_without_words_can_be_read():
    reading = read_tool(tool("??", "…"))
    assert (reading.verb, reading.name, reading.text, reading.objects) == ("", (), (), ())


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
    ],
)
def test_plurals_are_cut(word, one):
    assert singular(word) == one
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


def test_opposite_names_and_other_actions_are_marked():
    assert signals("open_valve", "close_valve")["opposite_words"] == 1.0
    assert signals("open_valve", "close_valve")["other_action"] == 1.0
    same = signals("get_valve_pressure", "fetch_valve_pressure")
    assert (same["opposite_words"], same["other_action"]) == (0.0, 0.0)


def test_the_same_job_in_other_words_shares_its_object_and_arguments():
    same = signals("get_valve_pressure", "fetch_valve_pressure")
    other = signals("get_valve_pressure", "delete_recipe")
    assert (same["shared_object"], other["shared_object"]) == (1.0, 0.0)
    assert other["shared_arguments"] == 0.0
    assert same["name_words_apart"] == 0.0 < other["name_words_apart"]
    assert same["name_words_apart"] < other["name_words_apart"]


def test_shared_arguments_weigh_rare_words_higher():
    # of 7 tools: "valve" in 4, "id" in 3, "unit" in 2; weights are log(107/(n+1))/log(107)
    valve, ident, unit = (math.log(107 / n) / math.log(107) for n in (5, 4, 3))
    shared = signals("get_valve_pressure", "fetch_valve_pressure")["shared_arguments"]
    assert shared == pytest.approx((valve + unit) / (valve + ident + unit))
    assert signals("get_valve_pressure", "status")["shared_arguments"] == 0.0


def test_what_cannot_be_measured_is_nan():
    unknown = signals("ping", "get_valve_pressure")
    assert math.isnan(unknown["shared_arguments"])
    assert math.isnan(unknown["other_action"])
    nothing = (tool("??"), tool("!!"))
    bare = signals("??", "!!", nothing)
    assert bare["shared_arguments"] == 1.0
    assert math.isnan(bare["shared_object"])
    assert math.isnan(bare["shared_product"])


def test_closeness_takes_away_what_all_tools_share():
    common = np.zeros(4, dtype=np.float32)
    common[0] = 3.0
    rows = np.tile(common, (400, 1)) + np.random.default_rng(0).normal(size=(400, 4))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    many = tuple(tool(f"t{at}") for at in range(400))
    left, right = np.arange(399, dtype=np.int32), np.arange(1, 400, dtype=np.int32)
    plain = (rows[left] * rows[right]).sum(axis=1)
    moved = Signals.of(many, rows).of_pairs(left, right)[:, 0]
    assert plain.mean() > 0.7
    assert moved.mean() < 0.45
    two = Signals.of(many[:2], rows[:2]).of_pairs(left[:1], right[:1])[0, 0]
    assert two == pytest.approx(plain[0], abs=0.1)


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=20))
def test_signals_are_symmetric_and_independent_of_the_batch(pairs):
    left, right = np.array(pairs, dtype=np.int32).T
    prepared = Signals.of(TOOLS, vectors(len(TOOLS)))
    together = prepared.of_pairs(left, right)
    assert np.array_equal(together, prepared.of_pairs(right, left), equal_nan=True)
    alone = [prepared.of_pairs(left[at : at + 1], right[at : at + 1])[0] for at in range(len(left))]
    assert np.array_equal(together, np.array(alone), equal_nan=True)


def test_hundreds_of_parameters_are_cut_not_refused():
    wide = tool("wide", "Takes a lot.", *(f"word{at}" for at in range(300)))
    prepared = Signals.of((wide, wide), vectors(2))
    assert prepared.arguments.ids.shape == (2, 64)


def test_names_that_come_back_are_of_a_kind():
    pairs = [(f"{shop}_{of}", "Says it.") for of in ("price", "stock") for shop in ("acme", "zorb")]
    tools = tuple(tool(*pair) for pair in (*pairs, ("old_price", "Says it."), ("old_tax", "It.")))
    assert signals("acme_price", "zorb_price", tools)["names_of_a_kind"] == 1.0
    assert signals("acme_price", "zorb_price", tools[:2] + tools[2:3])["names_of_a_kind"] == 0.0
    assert signals("acme_price", "old_price", tools)["names_of_a_kind"] == 0.0


def test_products_that_both_or_only_one_each_mention():
    tools = (
        tool("a", "Lists the tasks of Zorblax."),
        tool("b", "Shows what Zorblax has to do."),
        tool("c", "Lists the tasks of Quuxify."),
        tool("d", "Lists the tasks."),
    )
    same, apart, one_sided = (signals("a", other, tools) for other in "bcd")
    assert signals("d", "a", tools[::-1])["other_names"] == 0.0
    assert (same["shared_names"], same["other_names"]) == (1.0, 0.0)
    assert (apart["shared_names"], apart["other_names"]) == (0.0, 1.0)
    assert (one_sided["shared_names"], one_sided["other_names"]) == (0.0, 0.0)


def test_verbs_that_the_other_says_in_no_form_are_apart():
    tools = (
        tool("hold_place", "Hold a place."),
        tool("release_place", "Release a place."),
        tool("place_release", "Releases the place."),
        tool("get_place", "Get a place."),
        tool("fetch_place", "Fetch a place."),
    )
    prepared = Signals.of(tools, vectors(len(tools)))
    assert prepared.verbs_apart(0, 1)
    assert prepared.verbs_apart(1, 0)
    assert not prepared.verbs_apart(1, 2)
    assert not prepared.verbs_apart(3, 4)


def test_going_there_and_back_and_words_apart_are_marked():
    tools = (
        tool("json_to_toml", "Turns it round."),
        tool("toml_to_json", "Turns it round."),
        tool("json_into_toml", "Turn it round."),
    )
    back, same = (signals("json_to_toml", other, tools) for other in tools_named(tools[1:]))
    assert (back["turned_round"], same["turned_round"]) == (1.0, 0.0)
    assert same["all_said"] == 1.0
    assert same["name_words_apart"] == same["one_word_apart"] == 0.0
    valves = signals("open_valve", "close_valve")
    assert (valves["one_word_apart"], valves["all_said"]) == (1.0, 0.0)


def tools_named(tools):
    return [one.name for one in tools]

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.catalog.calls import MappedCall, map_call, unmap_call
from toolscope_core.catalog.evaluation_rows import relabel_query
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, NestedRename, Operation

PHI = {"a": "b", "b": "b", "c": "c"}
ALPHAS = {
    "a": ArgumentMap(
        "a", "b", (ArgumentMove("q", "query"),), {"kind": "web"}, {"page": "no place"}
    ),
    "b": ArgumentMap("b", "b", (ArgumentMove("query", "query"),)),
}


def test_gold_and_calls_follow_and_the_rest_stays():
    call = {"tool": "a", "arguments": {"q": "x"}, "n": 1}
    row = {"id": 7, "gold": ["a", "c"], "calls": [call], "x": None}
    done = relabel_query(row, PHI, ALPHAS)
    mapped = {"tool": "b", "arguments": {"query": "x", "kind": "web"}, "n": 1}
    assert done.row == {"id": 7, "gold": ["b", "c"], "calls": [mapped], "x": None}
    assert done.is_changed
    assert done.shrunk == ()
    assert list(done.row) == list(row)


def test_two_gold_tools_that_became_one_are_a_shrink():
    done = relabel_query({"gold": ["a", "c", "b"]}, PHI, ALPHAS)
    assert done.row["gold"] == ["b", "c"]
    assert done.shrunk == (("a", "b"),)


def test_calls_are_never_dropped_or_joined():
    calls = [{"tool": "a", "arguments": {"q": 1}}, {"tool": "b", "arguments": {"query": 1}}]
    done = relabel_query({"gold": ["a", "b"], "calls": calls}, PHI, ALPHAS)
    assert [call["tool"] for call in done.row["calls"]] == ["b", "b"]


def test_an_argument_without_a_place_is_named():
    done = relabel_query({"calls": [{"tool": "a", "arguments": {"q": 1, "page": 2}}]}, PHI, ALPHAS)
    assert done.losses == ("a.page",)


@pytest.mark.parametrize(
    "row", [{}, {"gold": None}, {"query": "hi", "gold": ["c"]}, {"gold": ["zz"]}]
)
def test_what_phi_leaves_alone_is_unchanged(row):
    done = relabel_query(row, PHI, ALPHAS)
    assert not done.is_changed
    assert done.unknown_ids == (("zz",) if row.get("gold") == ["zz"] else ())


def test_what_was_there_twice_stays_twice_and_what_is_no_id_stays():
    done = relabel_query({"gold": ["a", 7, "a", None]}, PHI, ALPHAS)
    assert done.row["gold"] == ["b", 7, "b", None]
    assert done.shrunk == ()


def test_arguments_as_text_are_mapped_and_stay_text():
    calls = [{"tool": "a", "arguments": '{"q": 1}'}, {"tool": "a", "arguments": "q=1"}]
    done = relabel_query({"calls": calls}, PHI, ALPHAS)
    assert done.row["calls"] == [
        {"tool": "b", "arguments": '{"kind":"web","query":1}'},
        {"tool": "b", "arguments": "q=1"},
    ]
    assert [loss.partition(":")[0] for loss in done.losses] == ["a"]


NAMES = {"find": ("a", "search"), "look": ("c", "look")}
GIVEN, BECAME = {"q": 1}, {"query": 1, "kind": "web"}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"name": "a", "arguments": GIVEN}, {"name": "b", "arguments": BECAME}),
        ({"name": "find", "arguments": GIVEN}, {"name": "search", "arguments": BECAME}),
        ({"tool": "find", "arguments": GIVEN}, {"tool": "search", "arguments": BECAME}),
        (
            {"type": "tool_use", "name": "find", "input": GIVEN},
            {"type": "tool_use", "name": "search", "input": BECAME},
        ),
        (
            {"id": "1", "function": {"name": "find", "arguments": '{"q": 1}'}},
            {"id": "1", "function": {"name": "search", "arguments": '{"kind":"web","query":1}'}},
        ),
        ({"name": "look"}, {"name": "look"}),
    ],
)
def test_calls_in_the_forms_of_apis_are_understood(call, expected):
    done = relabel_query({"calls": [call]}, PHI, ALPHAS, NAMES)
    assert done.row["calls"] == [expected]
    assert done.unread_calls == 0


@pytest.mark.parametrize(
    "call", [{"name": "zz", "arguments": {}}, {"arguments": {}}, {"tool": ["zz"]}, "a", 7, None]
)
def test_calls_that_are_not_understood_are_counted(call):
    done = relabel_query({"calls": [call, {"tool": "a"}]}, PHI, ALPHAS, NAMES)
    assert done.row["calls"][0] == call
    assert done.unread_calls == 1
    assert done.unknown_ids == ()


@pytest.mark.parametrize(
    ("row", "unread"), [({"gold": {"zz": 1}, "calls": 5}, 2), ({"gold": "zz"}, 1)]
)
def test_gold_and_calls_that_are_no_lists_are_counted(row, unread):
    done = relabel_query(row, PHI, ALPHAS, NAMES)
    assert (done.row, done.unread_calls, done.is_changed) == (row, unread, False)


NAMES_THAT_MEET = st.sampled_from("abcdefgh")
CALLS = st.lists(NAMES_THAT_MEET, unique=True).map(lambda names: {one: {one: 1} for one in names})


@st.composite
def maps(draw):
    """Argument maps of few names, which meet in any way; each side of a move occurs once."""
    sources = draw(st.lists(NAMES_THAT_MEET, unique=True, max_size=4))
    size = {"min_size": len(sources), "max_size": len(sources)}
    targets = draw(st.lists(NAMES_THAT_MEET, unique=True, **size))
    operations = draw(st.lists(st.sampled_from(get_args(Operation)), **size))
    constants = draw(st.sets(NAMES_THAT_MEET, max_size=2)) - set(targets)
    dropped = draw(st.sets(NAMES_THAT_MEET, max_size=2)) - set(sources)
    return ArgumentMap(
        "old",
        "new",
        tuple(map(ArgumentMove, sources, targets, operations)),
        dict.fromkeys(constants, "constant"),
        dict.fromkeys(dropped, "no place"),
    )


def giver(value):
    """The argument that a value of ``CALLS`` was given as, after any operation."""
    while not isinstance(value, dict):
        value = json.loads(value) if isinstance(value, str) else value[0]
    return next(iter(value))


def check_places(moves, done, call, taken):
    """Each argument has one place: that of its move, or its own where only it may have that."""
    places = {giver(value): name for name, value in done.arguments.items() if value != "constant"}
    assert len(places) == sum(value != "constant" for value in done.arguments.values())
    assert places.keys().isdisjoint(done.losses)
    assert places.keys() | set(done.losses) == call.keys()
    for argument, place in places.items():
        assert place == moves.get(argument, argument)
        assert argument in moves or argument not in taken
    assert set(done.losses) == (call.keys() & taken) - moves.keys()


@pytest.mark.case(72)
@given(maps(), CALLS, st.randoms())
def test_no_argument_comes_under_the_name_of_another_in_any_order(alpha, call, random):
    shuffled = dict(random.sample(list(call.items()), len(call)))
    forth = {move.source: move.target for move in alpha.moves}
    back = {move.target: move.source for move in alpha.moves}
    old = dict.fromkeys([*forth, *alpha.dropped], "any")

    there, again = (map_call(alpha, one) for one in (call, shuffled))
    assert (there.arguments, set(there.losses)) == (again.arguments, set(again.losses))
    check_places(forth, there, call, {*back, *alpha.constants, *alpha.dropped})

    there, again = (unmap_call(alpha, one, old) for one in (call, shuffled))
    assert (there.arguments, set(there.losses)) == (again.arguments, set(again.losses))
    own = {name: value for name, value in call.items() if name not in alpha.constants}
    check_places(back, there, own, old.keys())


@given(st.permutations(["x", "y", "z"]), st.integers(0, 3), st.booleans())
def test_no_property_comes_under_the_name_of_another_in_any_order(names, size, is_listed):
    places = ("/a/*/x", "/a/*/y") if is_listed else ("/a/x", "/a/y")
    alpha = ArgumentMap("old", "new", nested=(NestedRename(*places),))
    inside = {name: f"was {name}" for name in names[:size]}
    call = {"a": [inside] if is_listed else inside}
    for done, old, new, place in (
        (map_call(alpha, call), "x", "y", places[1]),
        (unmap_call(alpha, call, {}), "y", "x", places[0]),
    ):
        kept = {name: value for name, value in inside.items() if name != new}
        expected = {new if name == old else name: value for name, value in kept.items()}
        assert done.arguments == {"a": [expected] if is_listed else expected}
        assert done.losses == ((place,) if new in inside else ())


@pytest.mark.parametrize("call", [{"a": 1, "b": 2}, {"b": 2, "a": 1}])
def test_of_two_arguments_with_one_place_the_first_of_the_map_has_it(call):
    alpha = ArgumentMap("old", "new", (ArgumentMove("a", "c"), ArgumentMove("b", "c")))
    assert map_call(alpha, call) == MappedCall("new", {"c": 1}, ("b",))
    turned = ArgumentMap("old", "new", (ArgumentMove("c", "a"), ArgumentMove("c", "b")))
    assert unmap_call(turned, call, {}) == MappedCall("old", {"c": 1}, ("b",))


@pytest.mark.parametrize("text", ["", "abc", "[1]", '{"a":1}', "NaN", "1e999", "9" * 5_000])
def test_a_text_that_is_no_number_stays_a_text_for_the_old_tool_to_refuse(text):
    alpha = ArgumentMap("old", "new", (ArgumentMove("n", "n", "cast"),))
    for kind in ("integer", "number", "boolean"):
        assert unmap_call(alpha, {"n": text}, {"n": kind}).arguments == {"n": text}
        assert unmap_call(alpha, {"n": "-7"}, {"n": kind}).arguments == {"n": -7}

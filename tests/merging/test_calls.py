import pytest

from toolscope_core.datamodel import ArgumentMap, ArgumentMove
from toolscope_core.merging.calls import relabel_query

PHI = {"a": "b", "b": "b", "c": "c"}
ALPHAS = {
    "a": ArgumentMap(
        "a", "b", (ArgumentMove("q", "query"),), {"kind": "web"}, {"page": "no place"}
    ),
    "b": ArgumentMap("b", "b", (ArgumentMove("query", "query"),)),
}


def test_gold_and_calls_follow_and_the_rest_stays():
    row = {
        "id": 7,
        "gold": ["a", "c"],
        "calls": [{"tool": "a", "arguments": {"q": "x"}, "n": 1}],
        "x": None,
    }
    done = relabel_query(row, PHI, ALPHAS)
    assert done.row == {
        "id": 7,
        "gold": ["b", "c"],
        "calls": [{"tool": "b", "arguments": {"query": "x", "kind": "web"}, "n": 1}],
        "x": None,
    }
    assert done.changed
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
    assert done.lost == ("a.page",)


@pytest.mark.parametrize(
    "row", [{}, {"gold": None}, {"query": "hi", "gold": ["c"]}, {"gold": ["zz"]}]
)
def test_what_phi_leaves_alone_is_unchanged(row):
    done = relabel_query(row, PHI, ALPHAS)
    assert not done.changed
    assert done.unknown == (("zz",) if row.get("gold") == ["zz"] else ())


def test_an_identity_relabelling_changes_nothing():
    row = {"gold": ["c", "a"], "calls": [{"tool": "a", "arguments": {"q": 1}}]}
    assert relabel_query(row, {"a": "a", "c": "c"}, {}).row == {**row}


def test_what_was_there_twice_stays_twice_and_what_is_no_id_stays():
    done = relabel_query({"gold": ["a", 7, "a", None]}, PHI, ALPHAS)
    assert done.row["gold"] == ["b", 7, "b", None]
    assert done.shrunk == ()


@pytest.mark.parametrize("odd", ["x", 7, None, {"tool": ["a"]}, {"arguments": {}}])
def test_what_is_no_call_stays_as_it_is(odd):
    assert relabel_query({"calls": [odd]}, PHI, ALPHAS).row["calls"] == [odd]


def test_arguments_as_text_are_mapped_and_stay_text():
    calls = [{"tool": "a", "arguments": '{"q": 1}'}, {"tool": "a", "arguments": "q=1"}]
    done = relabel_query({"calls": calls}, PHI, ALPHAS)
    assert done.row["calls"] == [
        {"tool": "b", "arguments": '{"kind":"web","query":1}'},
        {"tool": "b", "arguments": "q=1"},
    ]
    assert done.lost == ("a: its arguments are no object",)


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
    assert done.unread == 0


@pytest.mark.parametrize("call", [{"name": "zz", "arguments": {}}, {"arguments": {}}, "a", None])
def test_calls_that_are_not_understood_are_counted(call):
    done = relabel_query({"calls": [call, {"tool": "a"}]}, PHI, ALPHAS, NAMES)
    assert done.row["calls"][0] == call
    assert done.unread == 1
    assert done.unknown == ()


@pytest.mark.parametrize(
    ("row", "unread"), [({"gold": {"a": 1}, "calls": 5}, 2), ({"gold": "a"}, 1)]
)
def test_gold_and_calls_that_are_no_lists_are_counted(row, unread):
    done = relabel_query(row, PHI, ALPHAS, NAMES)
    assert (done.row, done.unread, done.changed) == (row, unread, False)

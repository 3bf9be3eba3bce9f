"""Two results field by field: what counts as a difference, and what is left out by which rule."""

import json

import pytest

from toolscope_core.calls.result_columns import answer_of, columns_of, effect_in, resized_lists
from toolscope_core.calls.result_comparison import factor_in_words, result_differences, result_names


def kinds(left, right, names=None, varying=(), arguments=None):
    differences = result_differences(
        columns_of(left), columns_of(right), names or {}, varying, arguments or {}
    )
    return {one.path: one.kind for one in differences}


def text_result(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def test_a_result_is_read_by_structure():
    value = {"items": [{"name": "a"}, {"name": "b"}], "none": None, "empty": []}
    columns = {"items[].name": ["a", "b"], "empty[]": []}
    assert answer_of({"structuredContent": value}).columns == columns
    assert answer_of(text_result(json.dumps(value))).columns == columns
    assert answer_of({"structuredContent": {"result": value}}).columns == columns
    assert answer_of(text_result("plain")).columns == {"": ["plain"]}
    assert answer_of(text_result("no", isError=True)).refusal == "no"
    # a text that is also the only structured value is read once, and as what it says
    wrapped = text_result(json.dumps(value), structuredContent={"content": json.dumps(value)})
    assert answer_of(wrapped).columns == columns
    image = answer_of({"content": [{"type": "image", "data": "AA"}]}).columns
    assert [*image] == ["[]", "(image 0)"]


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        (1, 1.0, None),
        (0.1 + 0.2, 0.3, None),
        (1, True, "value"),
        (1999, 19.99, "value"),
        ("a  b", "a b", None),
        ("open", "closed", "value"),
        ("12", 12, "form"),
        ("true", True, "form"),
        ("2026-01-02T10:00:00Z", "2026-01-02T12:00:00+02:00", "form"),
        ("2026-01-02T10:00:00Z", "2026-01-02T10:00:40Z", "clock"),
        ("2026-01-02T10:00:00Z", "2026-01-02T12:00:00Z", "value"),
        ("one\ntwo", "two\none", "order"),
        ("It is 10:00:01 now", "It is 10:00:02 now", "clock"),
        ("It is 10:00:01 now", "It is 12:00:01 now", "value"),
        ("Echo: hello", "hello", "form"),
    ],
)
def test_values(left, right, kind):
    assert kinds({"x": left}, {"x": right}).get("x") == kind
    assert kinds({"x": right}, {"x": left}).get("x") == kind


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("The sum of 2 and 3 is 5", "5", "form"),
        ("5 is the sum of 2 and 3", "5", "form"),
        ("The most of 2 and 3 is 3", "2", "value"),
        ("7 of 9", "9", "value"),
        ("long " * 40, "long " * 20, "value"),
    ],
)
def test_a_text_may_repeat_the_numbers_of_the_call(left, right, kind):
    assert kinds(left, right, arguments={"a": 2, "b": 3}) == {"": kind}


def test_lists():
    rows = [{"id": n, "name": f"n{n}"} for n in range(5)]
    assert kinds({"rows": rows}, {"rows": rows}) == {}
    assert kinds({"rows": rows}, {"rows": rows[::-1]}) == {"rows[]": "reversed"}
    assert kinds({"rows": rows}, {"rows": rows[1:] + rows[:1]}) == {"rows[]": "order"}
    assert kinds({"rows": rows}, {"rows": rows[:3]}) == {"rows[]": "length"}
    assert kinds({"rows": rows}, {"rows": []}) == {"rows[]": "length"}
    # the order of numbers has a meaning, as in coordinates
    assert kinds({"at": [1.5, 2]}, {"at": [2, 1.5]}) == {"at[]": "value"}
    assert kinds({"tags": ["a", "b"]}, {"tags": ["b", "a"]}) == {"tags[]": "order"}
    mixed = [{**one, "name": other["name"]} for one, other in zip(rows, rows[::-1], strict=True)]
    assert kinds({"rows": rows}, {"rows": mixed}) == {"rows[].name": "value"}
    without = [{"id": one["id"]} for one in rows[1:] + rows[:1]]
    assert kinds({"rows": rows}, {"rows": without}) == {"rows[]": "order", "rows[].name": "missing"}


def test_paging_and_what_changes_by_itself_are_left_out():
    assert kinds({"next_cursor": "a"}, {"next_cursor": "b"}) == {"next_cursor": "page"}
    assert kinds({"a": 1, "took_ms": 3}, {"a": 1}) == {"took_ms": "page"}
    assert kinds({"nextPageToken": "a"}, {"nextPageToken": "b"}) == {"nextPageToken": "page"}
    assert kinds({"a": 1, "n": 3}, {"a": 1, "n": 4}, varying={"n"}) == {"n": "varies"}
    # times that change are compared all the same
    times = [{"at": f"2026-01-02T1{hour}:00:00Z"} for hour in (0, 2)]
    assert kinds(*times, varying={"at"}) == {"at": "value"}


def test_a_map_of_results_is_what_every_call_bears_out():
    calls = [
        (
            {"items": [{"name": f"{n}a"}, {"name": f"{n}b"}], "kind": "x"},
            {"results": [{"title": f"{n}b"}, {"title": f"{n}a"}], "sort": "x"},
        )
        for n in range(3)
    ]
    columns = [(columns_of(a), columns_of(b)) for a, b in calls]
    names = result_names(columns)
    assert names == {"items[].name": "results[].title"}  # one value alone proves no name
    differing = kinds(*calls[0], names=names)
    assert differing == {
        "items[].name": "name",
        "items[]": "order",
        "kind": "missing",
        "sort": "more",
    }
    empty = kinds({"items": []}, {"results": []}, names=names)
    assert set(empty.values()) <= {"name"}


def test_a_text_in_place_of_fields():
    fields = {"name": "Ada", "age": 36}
    assert kinds(fields, "Ada is 36 years old") == {"": "form"}
    assert kinds(fields, "Ada is 35 years old") == {"age": "missing"}
    assert kinds("Ada is old", fields) == {"age": "missing"}
    assert kinds(36, fields) == {"": "form"}
    assert kinds(fields, 36) == {"name": "missing"}
    time = {"at": "2026-01-02T10:00:00-05:00"}
    assert kinds(time, "It is 2026-01-02 10:00:00 there.") == {"": "form"}
    assert kinds(time, "It is 2026-01-02 15:00:20 UTC.") == {"": "form"}
    assert kinds(time, "It is 2026-01-02 17:00:00 UTC.") == {"at": "missing"}


@pytest.mark.parametrize(
    "said",
    ["Error: none", "Database error: no", "a.txt: Error - no", "Invalid key", "Failed to do"],
)
def test_a_text_that_begins_as_an_error_is_a_refusal(said):
    assert answer_of(text_result(said)).refusal == said


def test_a_text_about_errors_is_none():
    assert not answer_of(text_result("The error was mended in 2020.")).refusal
    assert not answer_of(text_result("Terror: a history")).refusal


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(100, 1), (250, 2.5)], "the first is 100 times"),
        ([(2, 2.5), (4, 5)], "the second is 1.25 times"),
        ([(1, 2)], ""),
        ([(1, 2), (1, 2)], ""),
        ([(1, 2), (2, 4), (3, 5)], ""),
        ([(1, 2), (0, 0)], ""),
        ([(1, 2), ("a", "b")], ""),
    ],
)
def test_a_pattern_is_said(pairs, words):
    pattern = factor_in_words(pairs)
    assert words in pattern
    assert bool(words) == bool(pattern)


@pytest.mark.parametrize(
    "value",
    [
        "Created issue 5.",
        "The mail was sent.",
        "3 rows deleted successfully",
        {"deleted": True},
        {"rows_affected": 2},
        {"status": "sent"},
        {"ok": True, "message": "Message has been posted"},
    ],
)
def test_signs_of_an_effect(value):
    assert effect_in(value)


@pytest.mark.parametrize(
    "value",
    [
        {"created_at": "2026-01-01", "issues": [{"status": "closed", "deleted": True}]},
        {"deleted": False, "rows_affected": 0},
        "The library was founded in 1850.",
        "x" * 400 + " was deleted",
        {"status": "ok"},
    ],
)
def test_data_are_no_sign_of_an_effect(value):
    assert not effect_in(value)


def test_a_list_of_another_length_is_seen():
    first, second = columns_of({"rows": [{"a": 1}]}), columns_of({"rows": [{"a": 1}, {"a": 2}]})
    assert resized_lists(first, second) == ["rows"]
    assert resized_lists(first, first) == []


def test_a_huge_result_is_read_in_part():
    assert len(columns_of(list(range(50_000)))["[]"]) == 20_000
    deep = []
    for _ in range(500):
        deep = [deep]
    assert columns_of(deep) == {}

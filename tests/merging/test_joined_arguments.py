import pytest

from tests.merging.test_synthesis import TEXT, tool
from toolscope_core.catalog.calls import map_call, unmap_call
from toolscope_core.merging.synthesis import synthesise

WHOLE = {"type": "integer"}
TEXTS = {"type": "array", "items": TEXT}


def enum(*values):
    return {"type": "string", "enum": list(values)}


def merged(*members, family=False):
    result = synthesise(list(members), family=family, keep_all=not family)
    assert all(alpha.exact for alpha in result.arguments)
    return result, result.document.schema["properties"]


def test_what_only_one_member_takes_is_said_to_be_its_own():
    _, properties = merged(
        tool("1", "create", ["title", "team"], "linear", title=TEXT, team=TEXT, lead=TEXT),
        tool("2", "create", ["title"], "jira", title=TEXT, board=TEXT),
        tool("3", "create", [], "plane", title=TEXT, lead=TEXT),
    )
    words = {name: one.get("description") for name, one in properties.items()}
    assert words["team"] == "linear only; required."
    assert words["lead"] == "Not for jira."
    assert words["board"] == "jira only."
    assert words["title"] == "Required for linear, jira."


@pytest.mark.parametrize(
    ("own", "other", "joint", "values"),
    [
        (TEXTS, TEXT, "array", (["x"], "x")),
        (TEXT, TEXTS, "array", ("x", ["x"])),
        (WHOLE, TEXT, "string", (3, "3")),
        (TEXT, WHOLE, "string", ("3", 3)),
    ],
)
def test_a_value_is_mapped_to_the_number_and_type_of_the_merged_argument(own, other, joint, values):
    result, properties = merged(
        tool("1", "get", [], "a", code=own), tool("2", "get", [], "b", code=other)
    )
    assert properties["code"]["type"] == joint
    for alpha, schema, value in zip(result.arguments, (own, other), values, strict=True):
        call = map_call(alpha, {"code": value}).arguments
        assert call["code"] == (["x"] if joint == "array" else "3")
        assert unmap_call(alpha, call, {"code": schema["type"]}).arguments == {"code": value}


def test_another_argument_is_not_the_one_that_a_tool_names_itself():
    moment = {"type": "object", "properties": {"date": TEXT}}
    result, properties = merged(
        tool("1", "create_event", ["start"], "a", start=moment),
        tool("2", "create_event", [], "b", start=TEXT, source={"type": "object"}),
    )
    assert set(properties) == {"start", "start_2", "source", "server"}
    assert map_call(result.arguments[1], {"source": {}}).arguments["source"] == {}


def test_the_same_argument_of_two_that_differs_from_the_first_is_one():
    _, properties = merged(
        tool("1", "get", [], "a", tags=TEXTS),
        tool("2", "get", [], "b", tags={"type": "boolean"}),
        tool("3", "get", [], "c", tags={"type": "boolean"}),
    )
    assert set(properties) == {"tags", "tags_2", "server"}


def test_a_text_in_the_place_of_a_number_stays_as_it_is():
    result, _ = merged(tool("1", "get", [], "a", code=WHOLE), tool("2", "get", [], "b", code=TEXT))
    call = map_call(result.arguments[0], {"code": "A-7"}).arguments
    assert call["code"] == "A-7"
    assert unmap_call(result.arguments[0], call, {"code": "integer"}).arguments == {"code": "A-7"}


def test_a_list_that_may_be_nothing_and_one_value_stay_two_arguments():
    or_nothing = {"anyOf": [TEXTS, {"type": "null"}]}
    _, properties = merged(
        tool("1", "get", [], "a", tag=or_nothing), tool("2", "get", [], "b", tag=TEXT)
    )
    assert list(properties) == ["tag", "tag_2", "server"]


def test_values_ranges_and_formats_of_members_survive():
    result, properties = merged(
        tool("1", "get", [], "a", sort=enum("asc", "desc"), size={**WHOLE, "maximum": 9}, by=enum("x")),
        tool("2", "get", [], "b", sort=enum("ASC", "DESC", "NONE"), size=WHOLE, by=enum("x", "y", "z")),
    )  # fmt: skip
    assert properties["sort"]["enum"] == ["asc", "desc", "NONE"]
    assert unmap_call(result.arguments[1], {"sort": "asc", "server": "b"}, {}).arguments == {
        "sort": "ASC"
    }
    assert properties["size"]["description"] == "a: at most 9."
    assert properties["by"]["description"] == "a: one of x."


def test_a_default_stays_only_where_all_have_it():
    _, properties = merged(
        tool("1", "get", [], "a", size={**WHOLE, "default": 5}, page={**WHOLE, "default": 1}),
        tool("2", "get", [], "b", size={**WHOLE, "default": 9}, page={**WHOLE, "default": 1}, of=TEXT),
    )  # fmt: skip
    assert "default" not in properties["size"]
    assert properties["page"]["default"] == 1


def test_a_family_takes_the_common_part_of_its_members_keys():
    issue, request = (
        tool(name, f"get_{name}", [f"{name}_id"], **{f"{name}_id": {**TEXT, "description": name}})
        for name in ("issue", "merge_request")
    )
    result, properties = merged(issue, request, family=True)
    assert next(iter(properties)) == "id"
    assert all(name in properties["id"]["description"] for name in ("issue", "merge_request"))
    calls = [unmap_call(one, {"id": "7", **one.constants}, {}) for one in result.arguments]
    assert [one.arguments for one in calls] == [{"issue_id": "7"}, {"merge_request_id": "7"}]


@pytest.mark.parametrize("cuts_file_first", [True, False])
def test_a_file_to_read_is_not_joined_to_the_place_of_the_result(cuts_file_first):
    members = [
        tool("1", "trim", ["file_path"], "a", file_path=TEXT, start=TEXT),
        tool("2", "trim", ["input_path", "output_path"], "b", input_path=TEXT, output_path=TEXT),
    ]
    result, _ = merged(*(members if cuts_file_first else reversed(members)))
    own = {"1": {"file_path": "x"}, "2": {"input_path": "x", "output_path": "y"}}
    calls = [map_call(alpha, own[alpha.tool_id]).arguments for alpha in result.arguments]
    taken = {name for call in calls for name, value in call.items() if value == "x"}
    assert len(taken) == 1

import pytest

from toolscope_core.judging.arguments.actions import action_of
from toolscope_core.judging.arguments.alignment import argument_map
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}


def tool(name, server="ours", required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(f"{server}/{name}", name, "", server, schema)


def general(name, *actions, **properties):
    choice = {"type": "string", "enum": list(actions)}
    return tool(name, "theirs", ["action"], action=choice, **properties)


@pytest.mark.parametrize(
    ("name", "of", "actions", "value"),
    [
        ("delete_record", "manage_records", ("insert", "update", "delete"), "delete"),
        ("create_record", "dml_records", ("insert", "update", "delete"), "insert"),
        ("get_dashboard", "dashboards", ("list", "get", "create"), "get"),
        ("get_dashboards", "dashboards", ("list", "get", "create"), "list"),
        ("list_downtimes", "downtimes", ("list", "listByMonitor"), "list"),
        ("get_monitors", "monitors", ("list", "get", "create"), "list"),
        ("unmute_host", "hosts", ("mute", "unmute"), "unmute"),
        ("get_rum_events", "rum", ("applications", "events"), "events"),
    ],
)
def test_a_value_of_a_general_tool_says_what_another_tool_does(name, of, actions, value):
    assert action_of(tool(name), general(of, *actions)) == ("action", value)


@pytest.mark.parametrize(
    ("name", "of", "actions"),
    [
        ("delete_project", "manage_records", ("update", "delete")),
        ("delete_record_type", "manage_records", ("update", "delete")),
        ("get_dashboard", "dashboards", ("list", "create")),
        ("get_dashboards", "dashboards", ("find", "search")),
        ("get_incident", "events", ("incidents", "outages")),
        ("delete_record", "delete_records", ()),
    ],
)
def test_another_thing_another_number_or_a_choice_of_values_is_no_action(name, of, actions):
    assert action_of(tool(name), general(of, *actions)) is None


def test_a_tool_with_actions_of_its_own_is_none_of_anothers():
    records = general("update_records", "one", "all")
    assert action_of(records, general("manage_records", "update", "delete")) is None


def test_the_value_is_a_constant_and_conditions_on_other_values_do_not_count():
    described = {"type": "string", "description": "The id (required for get and delete)."}
    records = general("records", "list", "get", "delete", id=described)
    one = argument_map(tool("get_record", required=["id"], id=TEXT), records)
    assert one.exact
    assert one.constants == {"action": "get"}
    assert [(move.source, move.target) for move in one.moves] == [("id", "id")]
    assert argument_map(tool("list_records"), records).exact
    assert not argument_map(tool("delete_record"), records).exact

"""What tells two tools apart though their words are nearly the same."""

import pytest

from toolscope_core.judging.distinctions import named_apart, part_apart, removed_apart
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import read_tool


def spoken(name, description, server=""):
    tool = Tool(name, name, description, server)
    return read_tool(tool)


@pytest.mark.parametrize(
    ("one", "other", "part"),
    [
        (("delete_issue", "Delete an issue."), ("deleteIssueRelation", "Delete it."), "relation"),
        (("get_project", "Get a project."), ("get_project_versions", "Get them."), "versions"),
        (("get_project", "Get a project's versions."), ("get_project_versions", "All."), None),
        (("open", "Open an address."), ("open_page", "Open it."), None),
        (("wait_for", "Wait."), ("wait_for_selector", "Wait."), None),
        (("get_issue", "Get an issue."), ("fetch_issue", "Fetch an issue."), None),
        (("data", "Gives data."), ("item", "Gives an item."), None),
    ],
)
def test_a_part_of_what_the_other_works_on(one, other, part):
    apart = part_apart(spoken(*one), spoken(*other))
    assert (apart and apart[1]) == part
    assert part_apart(spoken(*other), spoken(*one)) == apart


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (("delete_repository", "Delete it."), ("remove_star", "Take back a star."), True),
        (("delete_list", "Delete a list."), ("remove_track_from_list", "Remove a track."), True),
        (("delete_file", "Delete a file."), ("remove_file", "Remove the file."), False),
        (("delete_note", "Delete a document."), ("remove_document", "Remove a note."), False),
    ],
)
def test_what_is_taken_away(one, other, differ):
    apart = removed_apart(spoken(*one), spoken(*other))
    assert bool(apart) == bool(removed_apart(spoken(*other), spoken(*one))) == differ


def test_a_description_that_both_have_says_nothing_of_one():
    text = "Admin tool for status, read operations."
    one, other = spoken("read_node_status", text, "a"), spoken("read_node_load", text, "a")
    assert "under different names" in next(named_apart(one, other))
    mine = spoken("read_node_status", "Read the load of a node.", "a")
    theirs = spoken("read_node_load", "Read the status of a node.", "a")
    assert "under different names" not in next(named_apart(mine, theirs))

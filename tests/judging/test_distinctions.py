"""What tells two tools apart though their words are nearly the same."""

import pytest
from hypothesis import given

from tests.support.catalogs import accepting
from tests.wording.test_words import WORDS, words
from toolscope_core.judging.distinctions import (
    alternatives,
    belongings_apart,
    changed_apart,
    choices_apart,
    facts_apart,
    fixed_one,
    lost_parts,
    moved_only,
    named_apart,
    number_apart,
    object_apart,
    one_and_several,
    part_apart,
    renamed,
    things_apart,
    unmentioned_objects,
    voices_apart,
)
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import read_tool


def _requiring(*names):
    properties = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": properties, "required": list(names)}


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
        (("create_table", "Create it."), ("create_records", "Create records in a table."), True),
        (("filter", "Save a filter."), ("issues", "Change the issues."), False),
    ],
)
def test_what_is_taken_away(one, other, differ):
    apart = changed_apart(spoken(*one), spoken(*other))
    assert bool(apart) == bool(changed_apart(spoken(*other), spoken(*one))) == differ


@pytest.mark.parametrize(
    ("takes_out", "keys", "deletes", "own_keys", "whole"),
    [
        ("remove_issue_from_project", "issue_id project_id", "delete_issue", "id", "project"),
        ("removeBookFromShelf", "bookId shelfId", "delete_book", "book_id", "shelf"),
        ("remove_issue_from_project", "issue_id project_id", "delete_issue", "project_id id", ""),
        ("remove_issue_from_project", "issue_id project_id", "remove_issue", "issue_id", ""),
        ("delete_note_from_page", "note_id page_id", "delete_note", "note_id", ""),
        ("remove_user_from_team", "team_id", "delete_user", "user_id", ""),
        ("add_plan_to_shelf", "plan_id shelf_id", "copy_plan", "plan_id", "shelf"),
        ("add_plan_to_shelf", "plan_id shelf_id", "put_plan", "plan_id shelf_id", ""),
        ("add_plan_to_shelf", "shelf_id", "copy_plan", "plan_id", ""),
    ],
)
def test_what_is_taken_out_of_something_is_not_deleted(takes_out, keys, deletes, own_keys, whole):
    one, other = (
        read_tool(Tool(name, name, schema=_requiring(*words.split())))
        for name, words in ((takes_out, keys), (deletes, own_keys))
    )
    sentence = moved_only(one, other)
    assert sentence == moved_only(other, one)
    assert (whole in sentence) if whole else (sentence == "")


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (("get_books", "Get books."), ("get_book_reviews", "Get what people wrote."), True),
        (("get_books", "Get books and their reviews."), ("get_book_reviews", "Get them."), False),
        (("get_book", "Get a book."), ("get_book_text", "Get what it says."), False),
        (("get_books", "Get books."), ("get_reviews", "Get what people wrote."), False),
    ],
)
def test_what_a_thing_has_is_not_the_thing(one, other, differ):
    assert bool(belongings_apart(spoken(*one), spoken(*other))) is differ
    assert bool(belongings_apart(spoken(*other), spoken(*one))) is differ


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (("find_papers", "Search the archive.", "a"), ("find_images", "Search scans.", "b"), True),
        (("find_papers", "Also images.", "a"), ("find_images", "Search scans.", "b"), False),
        (("acme_find", "Search here.", "acme"), ("find_images", "Search scans.", "b"), False),
        (("list_orders", "List what is due."), ("get_builds", "Give what was made."), True),
        (("get_build", "Give what was made."), ("list_orders", "List what is due."), False),
    ],
)
def test_objects_that_the_other_never_mentions(one, other, differ):
    assert bool(unmentioned_objects(spoken(*one), spoken(*other))) is differ
    assert bool(unmentioned_objects(spoken(*other), spoken(*one))) is differ


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (("list_tables", "Tables of a database."), ("list_databases", "All of them."), True),
        (("list_tables", "Tables."), ("get_all_tables", "All of them."), False),
        (("get_table_size", "How large it is."), ("get_table_status", "How it does."), False),
        (("list_tables", "Tables."), ("list_databases", "Databases with their tables."), True),
        (("list_channels", "Also conversations."), ("list_conversations", "Channels."), True),
        (("list_slack", "Of a team."), ("list_discord", "Of a guild."), False),
    ],
)
def test_tools_about_other_things(one, other, apart):
    assert things_apart(spoken(*one), spoken(*other)) is apart
    assert things_apart(spoken(*other), spoken(*one)) is apart


def test_a_tool_that_chooses_between_acts_differs_from_one_without_that_choice():
    def tool(name, *actions):
        choice = {"action": {"type": "string", "enum": list(actions)}} if actions else {}
        schema = {"type": "object", "properties": choice, "required": [*choice]}
        return read_tool(Tool(name, name, "Create or list milestones.", "", schema))

    milestone = tool("milestone", "create", "list")
    assert choices_apart(milestone, tool("create_version"))
    assert choices_apart(milestone, tool("sprint", "create", "archive"))
    assert not choices_apart(milestone, tool("sprint", "create", "list"))
    assert not choices_apart(tool("create_status", "failed", "done"), tool("create_version"))


def test_a_key_in_the_name_says_whose_things_are_listed():
    def tool(name, schema):
        return read_tool(Tool(name, name, "Get cards.", schema=schema))

    both = _requiring("list_id")
    both["properties"]["board_id"] = {"type": "string"}
    of_list, of_board = tool("get_list_cards", both), tool("board_cards", _requiring("board_id"))
    assert any("keys of different things" in fact for fact in facts_apart(of_list, of_board))
    plain = tool("cards", _requiring("board_id"))
    assert not any("keys of" in fact for fact in facts_apart(of_list, plain))


def test_a_thing_that_no_argument_chooses_is_not_one_of_a_list():
    fixed, several, chosen = (
        read_tool(Tool(name, name, text, schema=schema))
        for name, text, schema in (
            ("get_user", "Get who is signed in.", _requiring()),
            ("get_users", "Get everybody.", _requiring()),
            ("get_user", "Get one of them.", _requiring("name")),
        )
    )
    assert fixed_one(fixed, several) and fixed_one(several, fixed)
    assert not fixed_one(several, chosen)
    assert not fixed_one(several, several)


@pytest.mark.parametrize(
    ("kept", "replaced", "lost"),
    [
        ("Get an issue.", "Get an issue, including all comments.", ("comments",)),
        ("Get an issue.", "Get an issue with its labels and votes.", ("labels", "votes")),
        ("Get an issue.", "Get an issue. Others come with their comments.", ()),
        ("Get an issue.", "Get an issue with the given number.", ()),
        ("Get an issue and comments.", "Get an issue along with comments.", ()),
        ("Get all details of an issue.", "Get an issue, including comments.", ()),
    ],
)
def test_what_a_result_includes_may_be_lost(kept, replaced, lost):
    assert lost_parts(spoken("get_issue", kept), spoken("get_issue", replaced)) == lost


def test_a_description_that_both_have_says_nothing_of_one():
    text = "Admin tool for status, read operations."
    one, other = spoken("read_node_status", text, "a"), spoken("read_node_load", text, "a")
    assert "under different names" in next(named_apart(one, other))
    mine = spoken("read_node_status", "Read the load of a node.", "a")
    theirs = spoken("read_node_load", "Read the status of a node.", "a")
    assert "under different names" not in next(named_apart(mine, theirs))


@given(WORDS, WORDS)
def test_readings_of_two_tools_hold_in_either_order(one, other):
    assert number_apart(one, other) == number_apart(other, one)
    assert renamed(one, other) == tuple(reversed(renamed(other, one)))
    assert bool(voices_apart(one, other)) == bool(voices_apart(other, one))
    assert bool(alternatives(one, other)) == bool(alternatives(other, one))


def test_one_or_several():
    assert number_apart(words("add_member"), words("add_members"))
    text = "Adds members."
    assert not number_apart(words("add_member", text), words("add_members", text))
    one, several = words("get_note", "Get a note."), words("list_note", "List notes.")
    assert not number_apart(one, several)
    assert number_apart(one, several, described=True)
    assert not number_apart(words("get_file_by_ids"), words("get_file_by_id")), "of the object"
    assert not number_apart(words("get_metrics"), words("get_metric")), "counts nothing"
    assert not number_apart(words("list_voice"), words("list_voices")), "lists give several"


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("get_tag_list", "list_tags", False),
        ("get_list", "list_views", True),
        ("query_records", "list_records", False),
    ],
)
def test_a_list_is_several_whether_or_not_a_key_says_of_what(one, other, differ):
    keyed, free = Tool("a", one, "", "", _requiring("board_id")), Tool("b", other, "")
    assert one_and_several(read_tool(keyed), read_tool(free)) is differ


def test_keys_of_a_thing_or_its_id_are_of_that_thing():
    def asking(key):
        schema = {**accepting(**{key: {}}), "required": [key]}
        return read_tool(Tool(key, "get", "Get it.", schema=schema))

    assert not any(facts_apart(asking("issueIdOrKey"), asking("issue_key")))
    assert "issue / board" in next(facts_apart(asking("issueIdOrKey"), asking("board_id")))
    assert not any(facts_apart(asking("table_name_or_id"), asking("tableIdOrName")))
    assert not any(facts_apart(asking("record_id"), asking("record_ids"))), "one or several keys"


def test_who_acts_on_whom():
    assert voices_apart(words("list_followers"), words("list_following")) == (
        "followers",
        "following",
    )
    assert voices_apart(words("blocked_by"), words("blocking")) == ("blocked", "blocking")
    assert voices_apart(words("track_flight"), words("flight_tracker")) is None
    assert voices_apart(words("follow_user"), words("get_user_following")) == (
        "follow",
        "following",
    )
    assert voices_apart(words("decompile_function"), words("function_decompiled_by_name")) is None
    text = "Lists them all."
    assert voices_apart(words("list_followers", text), words("list_following", text)) is None


def test_alternatives_that_one_description_names():
    text = "The members of a group or project."
    assert alternatives(words("group_members", text), words("project_members", text)) == (
        "group",
        "project",
    )
    apart = "The members of a group within a project."
    assert alternatives(words("group_members", apart), words("project_members", apart)) is None


def test_what_two_names_work_on():
    contact, student = words("get_contact"), words("get_student_for_contact")
    assert object_apart(contact, student) == ("contact", "student")
    text = "Get the student of a contact."
    assert object_apart(words("get_contact", text), words("get_student", text)) is None
    assert object_apart(contact, words("contact_get")) is None
    assert object_apart(contact, words("contacts")) is None


def test_names_without_words_leave_open_what_they_work_on():
    assert object_apart(words("??"), words("get_contact")) is None
    assert renamed(words("??"), words("!!")) == ((), ())

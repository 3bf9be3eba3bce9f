"""What tools are made for, what all tools of a server say, and names that say the same."""

from dataclasses import replace

import numpy as np
import pytest

from toolscope_core.embedding.candidate_pairs import same_named
from toolscope_core.model.tool import Tool
from toolscope_core.wording.boilerplate import compared_texts, without_boilerplate
from toolscope_core.wording.products import (
    of_other_fields,
    products_of,
    server_products,
    share_a_word,
)
from toolscope_core.wording.vocabulary import keeps_things


def tool(name, description="", server=""):
    return Tool(f"{server}/{name}", name, description, server)


def accounts(*tools):
    return [set(one.accounts) for one in products_of(tools)]


@pytest.mark.parametrize(
    ("server", "products"),
    [
        ("mcp-server-github", {"github"}),
        ("@acme/GoogleSheets-mcp", {"google sheets"}),
        ("slack-enterprise", {"slack"}),
        ("atlassian", {"jira", "confluence", "trello", "bitbucket"}),
        ("filesystem", set()),
    ],
)
def test_the_name_of_a_server_says_what_it_is_made_for(server, products):
    assert server_products(server).accounts == products


def test_a_listed_product_is_known_beside_a_common_word():
    assert server_products("apitwitter-mcp").accounts == {"twitter"}
    assert server_products("devtools").accounts == set(), "devto is only its beginning"


def test_a_tool_is_made_for_what_it_says_and_for_what_its_server_is():
    assert accounts(tool("list_gitlab_issues")) == [{"gitlab"}]
    of_gitlab = tool("list_issues", "Lists issues of a GitLab project.")
    assert accounts(of_gitlab) == [{"gitlab"}]
    assert accounts(tool("list_issues", "Lists issues.", "jira-mcp")) == [{"jira"}]
    assert accounts(tool("post", "Post on the Slack channel.", "jira")) == [{"jira", "slack"}]


def test_an_english_word_names_a_product_only_where_it_is_written_as_a_name():
    assert accounts(tool("close_box", "Close a box. Linear search.")) == [set()]
    assert accounts(tool("list_files", "Lists the files in Box.")) == [{"box"}]
    assert accounts(tool("find_cafes", "Finds cafes near Times Square.")) == [set()]
    assert accounts(tool("sync", "Syncs Jira Linear, and in Slack, Box.")) == [
        {"jira", "linear", "slack", "box"}
    ]


def test_the_other_tools_of_a_server_say_what_it_is_made_for():
    tools = [tool(f"t{at}", "Changes a Notion page.", "workbench") for at in range(2)]
    silent = tool("ping", "Says hello.", "workbench")
    assert accounts(*tools, silent)[-1] == {"notion"}
    many = [tool(f"x{at}", "", "workbench") for at in range(9)]
    assert accounts(*tools, *many)[-1] == set()
    assert accounts(silent) == [set()]


def test_a_name_that_no_list_has_counts_where_the_tools_go_by_it():
    tools = [tool(f"t{at}", "Asks Zorblax for it.", "zorblax-mcp") for at in range(2)]
    assert {one.unlisted for one in products_of(tools)} == {frozenset({"zorblax"})}
    assert {one.unlisted for one in products_of([tool("t", "Asks.", "zorblax")])} == {frozenset()}


def test_an_unlisted_name_may_begin_the_word_of_a_server():
    tools = [tool(f"t{at}", "Asks Zorblax for it.", "zorblaxconnect") for at in range(2)]
    assert {one.unlisted for one in products_of(tools)} == {frozenset({"zorblax"})}


def test_an_abbreviation_is_no_name_unless_it_is_of_a_format():
    for word, unlisted in (("ssh", set()), ("pdf", {"pdf"})):
        tools = [tool(f"t{at}", f"Reads over {word.upper()}.", f"mcp-{word}") for at in range(2)]
        assert {one.unlisted for one in products_of(tools)} == {frozenset(unlisted)}


def test_a_word_in_quotation_marks_is_a_value():
    assert accounts(tool("add_note", 'Adds a note with the fields "Front" and "Back".')) == [set()]
    assert accounts(tool("add_note", "Adds a note to the inbox of Front.")) == [{"front"}]


def test_the_name_of_a_suite_counts_where_a_tool_speaks_of_what_is_in_it():
    files, sheets = tool("list_files", server="workspace"), tool("read", "Of Gmail.", "workspace")
    assert accounts(files) == [set()]
    assert all("gmail" in own for own in accounts(files, sheets))


@pytest.mark.parametrize(
    ("name", "server", "is_calendar"),
    [
        ("deleteCalendarEvent", "google-drive", True),
        ("list_calendars", "gmail", True),
        ("list_files", "google-drive", False),
        ("list_calendars", "notion", False),
    ],
)
def test_a_tool_names_another_account_of_its_servers_suite(name, server, is_calendar):
    assert ("google calendar" in accounts(tool(name, server=server))[0]) is is_calendar


def test_a_single_letter_is_no_product_but_of_a_server():
    assert accounts(tool("find", "Which table stores X?")) == [set()]
    assert accounts(tool("post", "Posts it.", "x-mcp")) == [{"twitter"}]


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("gmail", "trello", True),
        ("gmail", "outlook", False),
        ("jira", "gitlab", False),
        ("notion", "playwright", True),
        ("gmail", "tools", False),
    ],
)
def test_accounts_of_other_fields(one, other, differ):
    ours, theirs = products_of([tool("list_labels", server=one), tool("list_labels", server=other)])
    assert of_other_fields(ours, theirs) == of_other_fields(theirs, ours) == differ


def test_words_that_two_servers_share():
    assert share_a_word("zor-hub", "hub-mcp")
    assert share_a_word("zorblax", "zorblaxhub")
    assert not share_a_word("zor-mcp", "hub-mcp")


def test_what_somebody_keeps():
    assert keeps_things(["tasks"])
    assert not keeps_things(["weather"])


def test_what_all_tools_of_a_server_say_is_taken_away():
    tools = [
        tool(f"API-{does}-block", f"{does} a block. Calls are limited.", "notes")
        for does in ("get", "patch", "delete")
    ]
    plain = without_boilerplate([*tools, tool("API-get", "Get. Calls are limited.", "other")])
    assert [one.name for one in plain] == ["get", "patch", "delete", "API-get"]
    assert plain[1].description == "patch a block."
    assert plain[3].description == "Get. Calls are limited."
    assert [one.id for one in plain[:3]] == [one.id for one in tools]


def test_a_verb_that_all_tools_begin_with_stays():
    tools = [tool(f"get_{of}", "Reads it.", "notes") for of in ("block", "page", "user")]
    assert [one.name for one in without_boilerplate(tools)] == ["get_block", "get_page", "get_user"]


def test_names_that_say_the_same_are_paired_whatever_the_texts():
    tools = [
        tool("refresh_page", "Once more.", "a"),
        tool("reload_page", "Lädt die Seite neu.", "b"),
        tool("close_page", "Ends it.", "c"),
    ]
    left, right = same_named(tools, np.eye(3, dtype=np.float32), 30)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 1)]


def test_only_the_nearest_of_many_equal_names_are_paired():
    tools = [tool("search", "Finds.", f"s{at}") for at in range(12)]
    vectors = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    left, _ = same_named(tools, vectors, 2)
    assert 12 <= len(left) <= 24


def test_tools_are_compared_by_name_and_first_sentence_without_what_all_say():
    tail = "Use only for a resource that is given."
    tools = [
        tool(f"acme-{name}", f"Acme. {text} {tail} {more}", "acme")
        for name, text, more in (
            ("get-job", "Read a job, e.g. of today.", "Ask first."),
            ("retry-build", "Run a build again.", ""),
            ("list-logs", "List all logs.", ""),
        )
    ]
    assert compared_texts(tools) == [
        "get_job: Read a job, e.g. of today.",
        "retry_build: Run a build again.",
        "list_logs: List all logs.",
    ]


def test_a_server_without_a_name_that_tells_is_called_what_its_tools_are_called():
    words = ("users", "channels", "files")
    tools = [tool(f"slack_list_{word}", "Lists them.", "s1") for word in words]
    assert accounts(*tools) == [{"slack"}] * 3
    assert accounts(*(replace(one, name=one.name[6:]) for one in tools)) == [set()] * 3
    named = [replace(one, server="jira") for one in tools]
    assert accounts(*named) == [{"jira"}] * 3, "its own name comes first"


def test_a_server_is_made_for_the_suite_that_its_tools_speak_of():
    tools = [
        tool("read_text", "Reads a Google Docs text.", "s1"),
        tool("read_rows", "Reads rows of Google Sheets.", "s1"),
        tool("delete_calendar_event", "Deletes an event.", "s1"),
    ]
    docs, _, event = accounts(*tools)
    assert docs == {"google docs"}
    assert event >= {"google calendar"}
    assert accounts(*tools[1:])[1] == set(), "one tool is not enough"

import pytest

from toolscope_core.judging.arguments.agreement import agree, agreed_matches, common_key
from toolscope_core.model.tool import Parameter, Tool

TEXT, NUMBER, TEXTS = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "array", "items": {"type": "string"}},
)


def argument(name, description="", schema=TEXT):
    return Parameter(name, False, {**schema, "description": description})


def tools(ours, theirs):
    return Tool("a", ours), Tool("b", theirs)


@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        (argument("ticker"), argument("symbol", "The stock symbol"), True),
        (argument("file_path"), argument("path", "Where it is"), True),
        (argument("start", "Start as ISO 8601"), argument("startTime", "When it starts"), True),
        (argument("image_height"), argument("height", "Height of the image"), True),
        (argument("new_str", "Replacement"), argument("new_text", "What takes its place"), True),
        (argument("urls", schema=TEXTS), argument("url"), True),
        (argument("recipients", "Who gets it"), argument("attachments", "Files to add"), False),
        (argument("workspace", "The workspace"), argument("lead", "Who leads it"), False),
        (argument("path", "The folder"), argument("file_name_glob", "Which names"), False),
        (argument("limit", schema=NUMBER), argument("maxPrice", "In euros", NUMBER), False),
        (argument("opt_fields", "Fields to show"), argument("sort_by", "Order"), False),
        (argument("selector"), argument("remove_selector", "What to leave out"), False),
        (argument("id"), argument("lookup_by", "How to find it"), False),
        (argument("project", "Its name"), argument("projectMilestoneId", "Milestone"), False),
        (argument("keep_tags"), argument("drop_tags"), False),
        (argument("from_date"), argument("to_date"), False),
        (argument("before"), argument("after"), False),
        (argument("status"), argument("statusId", "Status id", NUMBER), False),
        (argument("numberFormat", "Of numbers"), argument("format", "Of cells"), False),
        (argument("participants", "Number of people", NUMBER), argument("participant_id", "", NUMBER), False),
        (argument("num_chunks", "", NUMBER), argument("chunkNumber", "", NUMBER), False),
        (argument("how", schema={"enum": ["now"]}), argument("howTo", schema={"enum": ["later"]}), False),
    ],
)  # fmt: skip
def test_two_arguments_are_one_only_where_their_words_agree(one, other, are_one):
    assert agree(one, other, tools("do", "make")) == are_one
    assert agree(other, one, tools("make", "do")) == are_one


def test_a_word_of_the_tools_own_name_need_not_be_said_again():
    assert agree(argument("project_name"), argument("name"), tools("create_project", "newProject"))
    assert not agree(argument("company_name"), argument("name"), tools("get_advice", "get_adviser"))


def test_what_is_left_over_is_no_match():
    ours, theirs = (
        Tool(one, "move", schema={"type": "object", "properties": properties})
        for one, properties in (
            ("a", {"path": TEXT, "lead": TEXT}),
            ("b", {"file_path": TEXT, "workspace": TEXT}),
        )
    )
    assert [(one.left, one.right) for one in agreed_matches(ours, theirs)] == [
        ("path", "file_path")
    ]


@pytest.mark.parametrize(
    ("one", "other", "names", "common"),
    [
        ("issue_id", "mergeRequestId", ("get_issue", "getMergeRequest"), "id"),
        ("endRow", "endColumn", ("resize_rows", "resize_columns"), "end"),
        ("issue_id", "user_id", ("get_issue", "get_page"), ""),
        ("title", "author", ("search_title", "search_author"), ""),
    ],
)
def test_the_common_key_of_two_is_what_their_tools_do_not_tell_apart(one, other, names, common):
    assert common_key(argument(one), argument(other), tools(*names)) == common
    assert not agree(argument(one), argument(other), tools(*names))

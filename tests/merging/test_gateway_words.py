"""What agents read of a gateway tool."""

import pytest

from toolscope_core.merging.gateway_words import (
    argument_description,
    gateway_description,
    selector_description,
    store_description,
)

SEARCH = "Search for papers on arXiv"
ARXIV = """Search for papers on arXiv by title and abstract content.

    You can use advanced search syntax:
    - Search in title: ti:"search terms"
    - Search by author: au:"author name"
    - Combine terms with: AND, OR, ANDNOT

    Returns papers in the format of a list.
    """
SYNTAX = """`server` = simple:
You can use advanced search syntax:
- Search in title: ti:"search terms"
- Search by author: au:"author name"
- Combine terms with: AND, OR, ANDNOT"""


def described(text):
    """What a gateway tool says in place of this text of both its members."""
    return gateway_description("server", {"a": text, "b": text})


def test_sentences_are_apart_and_what_one_says_of_syntax_stays_that_ones():
    text = gateway_description("server", {"big": SEARCH, "simple": ARXIV})
    assert text == f"{SEARCH}.\n\n{SYNTAX}"


def test_what_only_the_canonical_says_of_syntax_is_not_said_of_all():
    text = gateway_description("server", {"simple": ARXIV, "big": SEARCH})
    lead, note = text.split("\n\n", 1)
    assert lead == ARXIV.splitlines()[0]
    assert note.endswith(SYNTAX) and note.count("ti:") == 1


def test_the_arguments_that_all_know_stay_a_list_where_one_leaves():
    text = "Find it.\n\nArgs:\n    query: The words\n    day: As YYYY-MM-DD"
    lead, _, note = gateway_description("server", {"a": text, "b": "Find it."}).rpartition("\n\n")
    assert lead.splitlines() == ["Find it.", "", "Args:", "query: The words."]
    assert note.startswith("`server` = a:")


def test_what_all_say_is_said_once():
    text = described(ARXIV)
    assert text.count("ti:") == 1
    assert "`server` = " not in text


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        ("Read a file", "Read a file."),
        ("Read a file.", "Read a file."),
        ("Read a file!  ", "Read a file!"),
        ("Read it:\n- a\n- b", "Read it:\n- a\n- b"),
        ("Read `x`", "Read `x`."),
        ("Read it (all)", "Read it (all)."),
        ("Read it → {}", "Read it → {}"),
        ("读取文件", "读取文件。"),
        ("", ""),
    ],
)
def test_the_last_sentence_is_ended(ending, shown):
    assert described(ending) == shown


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("\n        Read.\n\n        More.\n    ", "Read.\n\nMore."),
        ("Read.\n\n    Reads what is there\n    and more", "Read.\n\nReads what is there and more."),
        ("Read a file\n\nGives text", "Read a file.\n\nGives text."),
        ("Read a file\nGives text", "Read a file. Gives text."),
        (
            "Lists what the account may see on the pages of the\nGmail account",
            "Lists what the account may see on the pages of the Gmail account.",
        ),
        ("详细文档\n场景：\n1. 一\n2. 二", "详细文档。 场景：\n1. 一\n2. 二"),
        ("Behavior:\n    Reads only.\n    Is safe", "Behavior: Reads only. Is safe."),
        ("By:\n    - one\n      of them\n      * deep\n    - two", "By:\n- one of them\n  * deep\n- two"),
        ("Args:\n    low: Lower\n        bound\n    high: Upper", "Args:\nlow: Lower bound.\nhigh: Upper."),
        ("1. One\nThis is all", "1. One\nThis is all."),
        ("Do:\n\n    ```\n    if x:\n        y\n    ```", "Do:\n\n```\nif x:\n    y\n```"),
    ],
)  # fmt: skip
def test_of_the_layout_of_the_source_only_lists_and_code_are_left(source, text):
    assert described(source) == text


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ({"row": "Size rows. More.", "column": "Size columns"}, "`row`: Size rows. `column`: Size columns."),
        ({"a": "Move files", "b": "Delete.", "c": "Moves a file."}, "`a`, `c`: Move files. `b`: Delete."),
        ({"a": "Tells of a file:\n- size", "b": "Sized."}, "`a`: Tells of a file. `b`: Sized."),
        ({"weibo": "获取微博热搜榜", "toutiao": "获取今日头条热榜。"}, "`weibo`: 获取微博热搜榜。 `toutiao`: 获取今日头条热榜。"),
        ({"a": "Do it.", "b": ""}, "`a`: Do it. `b`."),
        ({"a": "", "b": ""}, ""),
        ({str(n): f"Do {n}{n}." for n in range(14)}, " ".join(f"`{n}`: Do {n}{n}." for n in range(12)) + " …"),
    ],
)  # fmt: skip
def test_a_selector_says_what_it_selects_in_the_words_of_the_members(texts, shown):
    assert selector_description(texts) == shown


def test_a_value_of_a_selector_takes_twelve_words():
    texts = {"a": " ".join(map(str, range(13))), "b": " ".join(map(str, range(20, 32)))}
    first, second = selector_description(texts).split(" `b`: ")
    assert first.split()[1:] == [*map(str, range(12)), "…"]
    assert second.removesuffix(".").split() == [*map(str, range(20, 32))]


@pytest.mark.parametrize(
    ("contents", "shown"),
    [
        ({"work": ["Notes of the team"], "home": ["Recipes."]}, "`work`: Notes of the team. `home`: Recipes."),
        ({"a": ["note", "file", "tag", "key", "page"], "b": ["file", "album"]}, "`a`: note, tag, key. `b`: album."),
        ({"a": ["file"], "b": ["file", "album"]}, ""),
        ({"a": [], "b": ["album"]}, ""),
    ],
)  # fmt: skip
def test_a_selector_of_stores_says_what_only_some_of_them_have(contents, shown):
    assert store_description(contents) == shown


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ({"a": "What to look for", "b": "The query"}, "What to look for"),
        ({"a": "", "b": "The query"}, "The query"),
        ({"a": "The\n    query", "b": ""}, "The query"),
        (
            {"a": "What to look for", "b": "Query, as from:ann AND has:file"},
            "What to look for. `s` = b: Query, as from:ann AND has:file.",
        ),
        (
            {"a": "The day as DD/MM/YYYY", "b": "The day as YYYY-MM-DD", "c": "Day, YYYY-MM-DD."},
            "`s` = a: The day as DD/MM/YYYY. `s` = b, c: The day as YYYY-MM-DD.",
        ),
        ({"a": "In the format 'City, State'.", "b": "Formatted as 'City, State'"}, "In the format 'City, State'."),
        ({"a": "Addresses", "b": "Comma-separated"}, "Addresses. `s` = b: Comma-separated."),
        ({"a": "See https://a.b/c:d at 10:30", "b": "See it"}, "See https://a.b/c:d at 10:30"),
    ],
)  # fmt: skip
def test_an_argument_says_how_each_member_wants_it_written(texts, shown):
    assert argument_description("s", texts) == shown


def test_hidden_characters_of_members_are_left_out():
    hidden = {"a": "Do.", "b": "Use the synt\u200bax a:b"}
    assert "\u200b" not in gateway_description("s", hidden) + selector_description(hidden)

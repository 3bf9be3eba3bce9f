"""What agents read of a router."""

import pytest

from toolscope_core.merging.router_words import argument_description, router_description

ARXIV = """Search for papers on arXiv by title and abstract content.

    You can use advanced search syntax:
    - Search in title: ti:"search terms"
    - Search by author: au:"author name"
    - Combine terms with: AND, OR, ANDNOT

    Returns papers in the format of a list.
    """
SYNTAX = """With `server` = simple:
You can use advanced search syntax:
- Search in title: ti:"search terms"
- Search by author: au:"author name"
- Combine terms with: AND, OR, ANDNOT"""


def test_sentences_are_apart_and_what_one_says_of_syntax_stays_that_ones():
    assert router_description("server", {"big": "Search for papers on arXiv", "simple": ARXIV}) == (
        f"Search for papers on arXiv. Choose with `server` which one does it: big, simple.\n\n{SYNTAX}"
    )


def test_what_only_the_canonical_says_of_syntax_is_not_said_of_all():
    text = router_description("server", {"simple": ARXIV, "big": "Search for papers on arXiv"})
    lead, note = text.split("Choose with `server` which one does it: simple, big.")
    assert "ti:" not in lead
    assert lead.startswith("Search for papers on arXiv by title and abstract content.")
    assert note.strip() == SYNTAX


def test_what_all_say_is_said_once():
    text = router_description("server", {"a": ARXIV, "b": ARXIV})
    assert text.count("ti:") == 1
    assert "With `server`" not in text


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        ("Read a file", "Read a file. Choose"),
        ("Read a file.", "Read a file. Choose"),
        ("Read a file!  ", "Read a file! Choose"),
        ("Read it:\n- a\n- b", "- b\n\nChoose"),
        ("Read `x`", "Read `x`. Choose"),
        ("读取文件", "读取文件。 Choose"),
        ("", "Choose"),
    ],
)
def test_the_sentence_before_is_ended(ending, shown):
    text = router_description("server", {"a": ending, "b": ending})
    assert f"{shown} with `server` which one does it: a, b." in text


def test_indentation_of_the_source_is_no_part_of_the_text():
    text = router_description(
        "server", {"a": "\n        Read.\n\n        More.\n    ", "b": "Read."}
    )
    assert text == "Read.\n\nMore.\n\nChoose with `server` which one does it: a, b."


def test_members_that_vary_say_what_they_do_unless_the_value_does():
    texts = {
        "getter": "Fetch one trial",
        "searcher": "Search for trials in a registry. And more.",
        "fetch": "Fetch one trial.",
    }
    text = router_description("variant", texts, vary=True)
    assert text.endswith("With `variant` = searcher: Search for trials in a registry.")
    assert "searcher: Search" not in router_description("variant", texts)
    named = router_description("color", {"red": "Paint red.", "blue": "Paint blue."}, vary=True)
    assert named == "Paint red. Choose with `color` which one does it: red, blue."


def test_twelve_values_are_named():
    text = router_description("variant", {f"v{n}": "Do." for n in range(14)})
    assert text.endswith("v11 and 2 more.")


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ({"a": "What to look for", "b": "The query"}, "What to look for"),
        ({"a": "", "b": "The query"}, "The query"),
        (
            {"a": "What to look for", "b": "Query, as from:ann AND has:file"},
            "What to look for. With `s` = b: Query, as from:ann AND has:file.",
        ),
        (
            {"a": "The day as DD/MM/YYYY", "b": "The day as YYYY-MM-DD", "c": "Day, YYYY-MM-DD."},
            "With `s` = a: The day as DD/MM/YYYY. With `s` = b, c: The day as YYYY-MM-DD.",
        ),
        ({"a": "In the format 'City, State'.", "b": "Formatted as 'City, State'"}, "In the format 'City, State'."),
        ({"a": "Addresses", "b": "Comma-separated"}, "Addresses. With `s` = b: Comma-separated."),
        ({"a": "See https://a.b/c:d at 10:30", "b": "See it"}, "See https://a.b/c:d at 10:30"),
    ],
)  # fmt: skip
def test_an_argument_says_how_each_member_wants_it_written(texts, shown):
    assert argument_description("s", texts) == shown


def test_hidden_characters_of_members_are_left_out():
    assert "\u200b" not in router_description("s", {"a": "Do.", "b": "Use the synt\u200bax a:b"})

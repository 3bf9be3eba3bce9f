"""Which words are left over between two tools, and what licenses a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.datamodel import Tool
from toolscope_core.merging.families import own_words
from toolscope_core.merging.licence import said_by, unsaid
from toolscope_core.merging.vocabulary import base_forms, groups_of, is_filler, stem

TEXT = {"type": "string"}


def said(name, description="", **properties):
    schema = {"type": "object", "properties": properties}
    return said_by(Tool(name, name, description, schema=schema))


def left_over(one, other):
    return unsaid(one, other), unsaid(other, one)


CASES = {
    "a synonym": (said("erase_file"), said("delete_file"), (), ()),
    "a synonym that only tools use": (said("fetch_note"), said("get_note"), (), ()),
    "an inflection": (
        said("list_note", "Lists notes."),
        said("listing_notes", "Listed note."),
        (),
        (),
    ),
    "several of an abbreviation": (said("list_repos"), said("list_repositories"), (), ()),
    "a noun made of a verb": (said("analyze_text"), said("text_analysis"), (), ()),
    "a noun made of another verb": (said("recognize_text"), said("text_recognition"), (), ()),
    "an abbreviation": (said("get_repo"), said("get_repository"), (), ()),
    "a noun of a verb that nobody listed": (
        said("rotate_picture"),
        said("picture_rotation"),
        ("rotate",),
        ("rotation",),
    ),
    "nouns that begin alike": (
        said("list_customers"),
        said("list_customs"),
        ("customers",),
        ("customs",),
    ),
    "a version is of no verse": (said("get_version"), said("get_verse"), ("version",), ("verse",)),
    "two words of one stem": (
        said("list_dependents"),
        said("list_dependencies"),
        ("dependents",),
        ("dependencies",),
    ),
    "an abbreviation that nobody listed": (
        said("approx_root"),
        said("approximate_root"),
        (),
        ("approximate",),
    ),
    "initials": (
        said("gcd"),
        said("greatest_common_divisor"),
        (),
        ("greatest", "common", "divisor"),
    ),
    "initials, said as well": (
        said("gcd", "The greatest common divisor."),
        said("greatest_common_divisor", "The GCD."),
        (),
        (),
    ),
    "a word that happens to be initials": (
        said("list_notes", "Notes not shared, by name of the author."),
        said("list_notes", "Notes shared, by name of the author."),
        ("not",),
        (),
    ),
    "one word of two": (said("get_time_zone"), said("get_timezone"), (), ()),
    "an argument says it": (said("sort_by_price"), said("sort", price=TEXT), (), ()),
    "a listed value says it": (
        said("translate_to_french"),
        said("translate", language={"type": "string", "enum": ["French", "German"]}),
        (),
        (),
    ),
    "a value of another argument does not": (
        said("translate_to_welsh"),
        said("translate", language={"type": "string", "enum": ["French", "German"]}),
        ("welsh",),
        (),
    ),
    "filler": (
        said("get_note", "This tool simply allows you to get the note, based on the given input."),
        said("get_note", "Get a note."),
        (),
        (),
    ),
    "filler of a description is chosen in a name": (
        said("get_available_note"),
        said("get_note"),
        ("available",),
        (),
    ),
    "all": (said("list_all_notes"), said("list_notes"), ("all",), ()),
    "not": (
        said("list_notes", "List notes not shared."),
        said("list_notes", "List notes shared."),
        ("not",),
        (),
    ),
    "not, beside notes": (
        said("list_notes", "List notes that are not archived."),
        said("list_notes", "List archived notes."),
        ("not",),
        (),
    ),
    "not, in a name": (
        said("get_notes_not_archived", "Get notes."),
        said("get_archived_notes", "Get notes."),
        ("not",),
        (),
    ),
    "the start of a word that both say": (
        said("get_arch", "Get the architecture."),
        said("get_it", "Get the architecture."),
        (),
        ("it",),
    ),
    "a word that another one happens to begin with": (
        said("see", "See the port of a portfolio."),
        said("see", "See a portfolio."),
        ("port",),
        (),
    ),
    "without": (
        said("send_note_without_image"),
        said("send_note_image"),
        ("without",),
        (),
    ),
    "before and after": (
        said("list_notes", "Notes before noon."),
        said("list_notes", "Notes after noon."),
        ("before",),
        ("after",),
    ),
    "another word on each side": (
        said("get_amazon_price"),
        said("get_ebay_price"),
        ("amazon",),
        ("ebay",),
    ),
    "one word more": (said("get_blank_page"), said("get_page"), ("blank",), ()),
    "planes are no plans": (said("list_planes"), said("list_plans"), ("planes",), ("plans",)),
    "news are not what is new": (said("get_news"), said("get_new"), ("news",), ("new",)),
    "what an investment returns": (
        said("get_fund_returns"),
        said("get_fund", "Returns a fund."),
        ("returns",),
        (),
    ),
    "that something is returned": (
        said("get_fund", "Returns a fund."),
        said("get_fund", "Get a fund."),
        (),
        (),
    ),
}


@pytest.mark.parametrize(("one", "other", "ours", "theirs"), CASES.values(), ids=CASES)
def test_what_is_left_over_on_each_side(one, other, ours, theirs):
    assert left_over(one, other) == (ours, theirs)
    assert left_over(other, one) == (theirs, ours)


def test_hidden_characters_and_case_play_no_part():
    hidden = said("g\u200bet_note", "Get\u2060 the no\u200bte.\U000e0041\U000e0042")
    assert hidden == said("GET_NOTE", "get THE note.") == said("getNote", "Get the note.")


def test_only_so_much_of_a_description_is_read():
    assert said("a", "word " * 400 + "needle") == said("a", "word " * 400)


@pytest.mark.parametrize("word", ["not", "without", "all", "before", "last", "no", "every", "only"])
def test_words_that_turn_the_meaning_are_never_filler(word):
    assert not is_filler(word)
    assert not is_filler(word, named=True)


@pytest.mark.parametrize("word", ["data", "information", "api", "the", "by"])
def test_filler_of_names_is_filler_of_descriptions(word):
    assert is_filler(word)
    assert is_filler(word, named=True)


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("analysis", "analyze"),
        ("notes", "note"),
        ("copied", "copy"),
        ("conversion", "convert"),
        ("encryption", "encrypt"),
        ("stopping", "stop"),
        ("urls", "url"),
    ],
)
def test_words_come_from_base_forms(word, form):
    assert form in base_forms(word)
    assert base_forms(word)[0] == word


def test_lines_of_the_list_hold_for_inflected_words_too():
    assert groups_of("fetches") & groups_of("getting")
    assert not groups_of("fetch") & groups_of("create")
    assert groups_of("qwxz") == frozenset()


SENTENCES = st.lists(
    st.sampled_from(
        "get list not all notes note of a repository without price amazon ebay url text".split()
    ),
    max_size=6,
).map(" ".join)
NAMES = st.lists(
    st.sampled_from("get list all notes note amazon repo price gcd text analysis".split()),
    min_size=1,
    max_size=3,
).map("_".join)
SAID = st.builds(said, NAMES, SENTENCES)


@given(SAID, SAID)
def test_what_is_left_over_are_words_of_the_one_in_order(one, other):
    left = unsaid(one, other)
    assert list(left) == [word for word in one.words if word in left]


@given(SAID)
def test_nothing_is_left_over_beside_itself(one):
    assert unsaid(one, one) == ()


@given(
    NAMES,
    SENTENCES,
    SAID,
    st.lists(
        st.sampled_from("this tool simply allows you to provide the given input data".split()),
        max_size=6,
    ).map(" ".join),
)
def test_a_sentence_of_filler_adds_no_word(name, description, other, filler):
    filler = " ".join(word for word in filler.split() if is_filler(word))
    before, after = said(name, description), said(name, f"{description}. {filler}.")
    assert set(unsaid(after, other)) <= set(unsaid(before, other))
    assert set(unsaid(other, after)) <= set(unsaid(other, before))


@given(st.lists(SAID, min_size=2, max_size=4))
def test_own_words_are_those_that_no_other_one_says(tools):
    for at, own in enumerate(own_words(tools)):
        others = [other for place, other in enumerate(tools) if place != at]
        assert all(word in unsaid(tools[at], other) for word in own for other in others)


def test_stems_are_of_one_stemmer():
    assert {stem(word) for word in ("analyses", "analysed", "analysing")} == {stem("analyse")}

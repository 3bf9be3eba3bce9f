"""Which words are left over between two tools, and what matches a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.judging.phrasing import renamed, unshared
from toolscope_core.judging.reading import read_tool
from toolscope_core.judging.words import base_forms, groups_of, is_filler, stem
from toolscope_core.merging.families import own_words
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}


def words(name, description="", **properties):
    schema = {"type": "object", "properties": properties}
    return read_tool(Tool(name, name, description, schema=schema))


def left_over(one, other):
    return unshared(one, other), unshared(other, one)


CASES = {
    "a synonym": (words("erase_file"), words("delete_file"), (), ()),
    "a synonym that only tools use": (words("fetch_note"), words("get_note"), (), ()),
    "an inflection": (
        words("list_note", "Lists notes."),
        words("listing_notes", "Listed note."),
        (),
        (),
    ),
    "several of an abbreviation": (words("list_repos"), words("list_repositories"), (), ()),
    "a noun made of a verb": (words("analyze_text"), words("text_analysis"), (), ()),
    "a noun made of another verb": (words("recognize_text"), words("text_recognition"), (), ()),
    "an abbreviation": (words("get_repo"), words("get_repository"), (), ()),
    "a noun of a verb that nobody listed": (
        words("rotate_picture"),
        words("picture_rotation"),
        ("rotate",),
        ("rotation",),
    ),
    "nouns that begin alike": (
        words("list_customers"),
        words("list_customs"),
        ("customers",),
        ("customs",),
    ),
    "a version is of no verse": (
        words("get_version"),
        words("get_verse"),
        ("version",),
        ("verse",),
    ),
    "two words of one stem": (
        words("list_dependents"),
        words("list_dependencies"),
        ("dependents",),
        ("dependencies",),
    ),
    "an abbreviation that nobody listed": (
        words("approx_root"),
        words("approximate_root"),
        (),
        ("approximate",),
    ),
    "initials": (
        words("gcd"),
        words("greatest_common_divisor"),
        (),
        ("greatest", "common", "divisor"),
    ),
    "initials, said as well": (
        words("gcd", "The greatest common divisor."),
        words("greatest_common_divisor", "The GCD."),
        (),
        (),
    ),
    "a word that happens to be initials": (
        words("list_notes", "Notes not shared, by name of the author."),
        words("list_notes", "Notes shared, by name of the author."),
        ("not",),
        (),
    ),
    "one word of two": (words("get_time_zone"), words("get_timezone"), (), ()),
    "an argument says it": (words("sort_by_price"), words("sort", price=TEXT), (), ()),
    "a listed value says it": (
        words("translate_to_french"),
        words("translate", language={"type": "string", "enum": ["French", "German"]}),
        (),
        (),
    ),
    "a value of another argument does not": (
        words("translate_to_welsh"),
        words("translate", language={"type": "string", "enum": ["French", "German"]}),
        ("welsh",),
        (),
    ),
    "filler": (
        words("get_note", "This tool simply allows you to get the note, based on the given input."),
        words("get_note", "Get a note."),
        (),
        (),
    ),
    "filler of a description is chosen in a name": (
        words("get_available_note"),
        words("get_note"),
        ("available",),
        (),
    ),
    "all": (words("list_all_notes"), words("list_notes"), ("all",), ()),
    "not": (
        words("list_notes", "List notes not shared."),
        words("list_notes", "List notes shared."),
        ("not",),
        (),
    ),
    "not, beside notes": (
        words("list_notes", "List notes that are not archived."),
        words("list_notes", "List archived notes."),
        ("not",),
        (),
    ),
    "not, in a name": (
        words("get_notes_not_archived", "Get notes."),
        words("get_archived_notes", "Get notes."),
        ("not",),
        (),
    ),
    "the start of a word that both say": (
        words("get_arch", "Get the architecture."),
        words("get_it", "Get the architecture."),
        (),
        ("it",),
    ),
    "a word that another one happens to begin with": (
        words("see", "See the port of a portfolio."),
        words("see", "See a portfolio."),
        ("port",),
        (),
    ),
    "without": (
        words("send_note_without_image"),
        words("send_note_image"),
        ("without",),
        (),
    ),
    "before and after": (
        words("list_notes", "Notes before noon."),
        words("list_notes", "Notes after noon."),
        ("before",),
        ("after",),
    ),
    "another word on each side": (
        words("get_amazon_price"),
        words("get_ebay_price"),
        ("amazon",),
        ("ebay",),
    ),
    "one word more": (words("get_blank_page"), words("get_page"), ("blank",), ()),
    "planes are no plans": (words("list_planes"), words("list_plans"), ("planes",), ("plans",)),
    "news are not what is new": (words("get_news"), words("get_new"), ("news",), ("new",)),
    "what an investment returns": (
        words("get_fund_returns"),
        words("get_fund", "Returns a fund."),
        ("returns",),
        (),
    ),
    "that something is returned": (
        words("get_fund", "Returns a fund."),
        words("get_fund", "Get a fund."),
        (),
        (),
    ),
}


@pytest.mark.parametrize(("one", "other", "ours", "theirs"), CASES.values(), ids=CASES)
def test_what_is_left_over_on_each_side(one, other, ours, theirs):
    assert left_over(one, other) == (ours, theirs)
    assert left_over(other, one) == (theirs, ours)


def parts(reading):
    return [getattr(reading, name) for name in reading.__slots__ if name != "tool"]


def test_hidden_characters_and_case_play_no_part():
    hidden = words("g\u200bet_note", "Get\u2060 the no\u200bte.\U000e0041\U000e0042")
    for other in (words("GET_NOTE", "get THE note."), words("getNote", "Get the note.")):
        assert parts(hidden) == parts(other)


def test_only_so_much_of_a_description_is_read():
    longer = words("a", "word " * 400 + "needle")
    assert parts(longer) == parts(words("a", "word " * 400))


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
WORDS = st.builds(words, NAMES, SENTENCES)


@given(WORDS, WORDS)
def test_what_is_left_over_are_words_of_the_one_in_order(one, other):
    left = unshared(one, other)
    assert list(left) == [word for word in one.words if word in left]


@given(WORDS)
def test_nothing_is_left_over_beside_itself(one):
    assert unshared(one, one) == ()


@given(
    NAMES,
    SENTENCES,
    WORDS,
    st.lists(
        st.sampled_from("this tool simply allows you to provide the given input data".split()),
        max_size=6,
    ).map(" ".join),
)
def test_a_sentence_of_filler_adds_no_word(name, description, other, filler):
    filler = " ".join(word for word in filler.split() if is_filler(word))
    before, after = words(name, description), words(name, f"{description}. {filler}.")
    assert set(unshared(after, other)) <= set(unshared(before, other))
    assert set(unshared(other, after)) <= set(unshared(other, before))


@given(st.lists(WORDS, min_size=2, max_size=4))
def test_own_words_are_those_that_no_other_name_says_or_no_other_tool(tools):
    for at, own in enumerate(own_words(tools)):
        others = [other for place, other in enumerate(tools) if place != at]
        for word in own:
            of_name = all(word in renamed(tools[at], other)[0] for other in others)
            assert of_name or all(word in unshared(tools[at], other) for other in others)


def test_stems_are_of_one_stemmer():
    assert {stem(word) for word in ("analyses", "analysed", "analysing")} == {stem("analyse")}

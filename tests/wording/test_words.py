"""Which words are left over between two tools, and what matches a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.judging.distinctions import renamed, unshared
from toolscope_core.judging.selector import own_words
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import read_tool
from toolscope_core.wording.words import base_forms, groups_of, is_filler, stem, words_of

TEXT = {"type": "string"}


def words(name, description="", **properties):
    schema = {"type": "object", "properties": properties}
    return read_tool(Tool(name, name, description, schema=schema))


def left_over(one, other):
    return unshared(one, other), unshared(other, one)


TRANSLATE = words("translate", language={"type": "string", "enum": ["French", "German"]})
CASES = {
    "a synonym": ("erase_file", "delete_file", "", ""),
    "a synonym that only tools use": ("fetch_note", "get_note", "", ""),
    "an inflection": ("list_note: Lists notes.", "listing_notes: Listed note.", "", ""),
    "several of an abbreviation": ("list_repos", "list_repositories", "", ""),
    "a noun made of a verb": ("analyze_text", "text_analysis", "", ""),
    "a noun made of another verb": ("recognize_text", "text_recognition", "", ""),
    "an abbreviation": ("get_repo", "get_repository", "", ""),
    "a noun of an unlisted verb": ("rotate_picture", "picture_rotation", "rotate", "rotation"),
    "nouns that begin alike": ("list_customers", "list_customs", "customers", "customs"),
    "a version is of no verse": ("get_version", "get_verse", "version", "verse"),
    "two words of one stem": ("list_dependents", "list_dependencies", "dependents", "dependencies"),
    "an abbreviation that nobody listed": ("approx_root", "approximate_root", "", "approximate"),
    "initials": ("gcd", "greatest_common_divisor", "", "greatest common divisor"),
    "initials, said as well": (
        "gcd: The greatest common divisor.",
        "greatest_common_divisor: The GCD.",
        "",
        "",
    ),
    "a word that happens to be initials": (
        "list_notes: Notes not shared, by name of the author.",
        "list_notes: Notes shared, by name of the author.",
        "not",
        "",
    ),
    "one word of two": ("get_time_zone", "get_timezone", "", ""),
    "an argument says it": ("sort_by_price", words("sort", price=TEXT), "", ""),
    "a listed value says it": ("translate_to_french", TRANSLATE, "", ""),
    "a value that is not listed does not": ("translate_to_welsh", TRANSLATE, "welsh", ""),
    "filler": (
        "get_note: This tool simply allows you to get the note, based on the given input.",
        "get_note: Get a note.",
        "",
        "",
    ),
    "filler that was chosen in a name": ("get_available_note", "get_note", "available", ""),
    "all": ("list_all_notes", "list_notes", "all", ""),
    "not": ("list_notes: List notes not shared.", "list_notes: List notes shared.", "not", ""),
    "not, beside notes": (
        "list_notes: List notes that are not archived.",
        "list_notes: List archived notes.",
        "not",
        "",
    ),
    "not, in a name": ("get_notes_not_archived", "get_archived_notes", "not", ""),
    "the start of a word that both say": (
        "get_arch: Get the architecture.",
        "get_it: Get the architecture.",
        "",
        "it",
    ),
    "a word that another one happens to begin with": (
        "see: See the port of a portfolio.",
        "see: See a portfolio.",
        "port",
        "",
    ),
    "without": ("send_note_without_image", "send_note_image", "without", ""),
    "before and after": (
        "list_notes: Notes before noon.",
        "list_notes: Notes after noon.",
        "before",
        "after",
    ),
    "another word on each side": ("get_amazon_price", "get_ebay_price", "amazon", "ebay"),
    "one word more": ("get_blank_page", "get_page", "blank", ""),
    "planes are no plans": ("list_planes", "list_plans", "planes", "plans"),
    "news are not what is new": ("get_news", "get_new", "news", "new"),
    "what an investment returns": ("get_fund_returns", "get_fund: Returns a fund.", "returns", ""),
    "that something is returned": ("get_fund: Returns a fund.", "get_fund: Get a fund.", "", ""),
}
"""Two tools, each a name or *name: description*, and the words left over of the one and the other."""


@pytest.mark.parametrize(("one", "other", "ours", "theirs"), CASES.values(), ids=CASES)
def test_what_is_left_over_on_each_side(one, other, ours, theirs):
    first, second = (words(*t.split(": ")) if isinstance(t, str) else t for t in (one, other))
    left = tuple(ours.split()), tuple(theirs.split())
    assert left_over(first, second) == left
    assert left_over(second, first) == left[::-1]


def parts(reading):
    names = [name for name in dir(reading) if not name.startswith("_") and name != "tool"]
    assert len(names) >= 20
    return [getattr(reading, name) for name in names]


@pytest.mark.case(79)
def test_a_letter_with_an_accent_is_part_of_its_word_and_another_script_is_not():
    assert words_of("tür_öffnen2 thẻ API接口 naïveMethod") == [
        *("tür", "öffnen", "2", "thẻ", "api", "接口", "naïve", "method")
    ]


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
    assert not is_filler(word, in_name=True)


@pytest.mark.parametrize("word", ["data", "information", "api", "the", "by"])
def test_filler_of_names_is_filler_of_descriptions(word):
    assert is_filler(word)
    assert is_filler(word, in_name=True)


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
FILLER = st.lists(
    st.sampled_from("this tool simply allows you to provide the given input data".split()),
    max_size=6,
).map(" ".join)


@given(WORDS, WORDS)
def test_what_is_left_over_are_words_of_the_one_in_order(one, other):
    left = unshared(one, other)
    assert list(left) == [word for word in one.words if word in left]


@given(WORDS)
def test_nothing_is_left_over_beside_itself(one):
    assert unshared(one, one) == ()


@given(NAMES, SENTENCES, WORDS, FILLER)
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

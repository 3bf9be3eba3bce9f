"""How two tools put the same words: direction, number, voice, alternatives."""

import pytest
from hypothesis import given

from tests.wording.test_words import WORDS, words
from toolscope_core.wording.words import is_plural


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


def test_who_acts_on_whom():
    assert voices_apart(words("list_followers"), words("list_following")) == (
        "followers",
        "following",
    )
    assert voices_apart(words("blocked_by"), words("blocking")) == ("blocked", "blocking")
    assert voices_apart(words("track_flight"), words("flight_tracker")) is None
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


@pytest.mark.parametrize(
    ("word", "several"),
    [("notes", True), ("news", False), ("status", False), ("class", False), ("gas", False)],
)
def test_plurals(word, several):
    assert is_plural(word) is several


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

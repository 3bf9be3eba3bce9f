"""How two tools put the same words: direction, number, voice, order, alternatives."""

import pytest
from hypothesis import given

from tests.merging.test_licence import SAID, said
from toolscope_core.merging.phrasing import (
    alternatives,
    are_turned,
    in_one_order,
    is_plural,
    number_apart,
    object_apart,
    renamed,
    repeated,
    voices_apart,
)


@given(SAID, SAID)
def test_readings_of_two_tools_hold_in_either_order(one, other):
    assert are_turned(one, other) == are_turned(other, one)
    assert number_apart(one, other) == number_apart(other, one)
    assert renamed(one, other) == tuple(reversed(renamed(other, one)))
    assert bool(voices_apart(one, other)) == bool(voices_apart(other, one))
    assert bool(alternatives(one, other)) == bool(alternatives(other, one))


def test_there_and_back():
    there, back = said("json_to_toml"), said("x", "Turns TOML into JSON.")
    assert are_turned(there, back)
    assert not are_turned(there, said("convert_json_to_toml"))
    assert are_turned(said("json_2_toml"), said("toml_to_json"))


def test_one_or_several():
    assert number_apart(said("add_member"), said("add_members"))
    told = "Adds members."
    assert not number_apart(said("add_member", told), said("add_members", told))
    one, several = said("get_note", "Get a note."), said("list_note", "List notes.")
    assert not number_apart(one, several)
    assert number_apart(one, several, described=True)


def test_who_acts_on_whom():
    assert voices_apart(said("list_followers"), said("list_following")) == (
        "followers",
        "following",
    )
    assert voices_apart(said("blocked_by"), said("blocking")) == ("blocked", "blocking")
    assert voices_apart(said("track_flight"), said("flight_tracker")) is None
    told = "Lists them all."
    assert voices_apart(said("list_followers", told), said("list_following", told)) is None


def test_alternatives_that_one_description_names():
    told = "The members of a group or project."
    assert alternatives(said("group_members", told), said("project_members", told)) == (
        "group",
        "project",
    )
    apart = "The members of a group within a project."
    assert alternatives(said("group_members", apart), said("project_members", apart)) is None


def test_the_order_of_the_shared_words():
    there, back = said("x", "Makes an admin of the owner."), said("y", "Makes an owner an admin.")
    assert not in_one_order(there, back)
    assert in_one_order(there, said("x", "Makes an admin the owner."))
    assert in_one_order(there, said("x"))


@pytest.mark.parametrize(
    ("word", "several"),
    [("notes", True), ("news", False), ("status", False), ("class", False), ("gas", False)],
)
def test_plurals(word, several):
    assert is_plural(word) is several


def test_a_word_that_one_name_says_more_often():
    assert repeated(said("account_of_transaction_account"), said("transaction_account")) == (
        "account"
    )
    assert repeated(said("account"), said("accounts")) == ""
    assert repeated(said("account"), said("transaction")) == ""


def test_what_two_names_work_on():
    contact, student = said("get_contact"), said("get_student_for_contact")
    assert object_apart(contact, student) == ("contact", "student")
    told = "Get the student of a contact."
    assert object_apart(said("get_contact", told), said("get_student", told)) is None
    assert object_apart(contact, said("contact_get")) is None
    assert object_apart(contact, said("contacts")) is None


def test_names_without_words_leave_open_what_they_work_on():
    assert object_apart(said("??"), said("get_contact")) is None
    assert renamed(said("??"), said("!!")) == ((), ())

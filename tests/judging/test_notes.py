"""What tools say is unsafe, and what a text still says of it."""

import pytest

from toolscope_core.judging.guards import harm_notes, safety_notes, unshared_notes
from toolscope_core.model.tool import Tool


def test_notes_of_parameters_count():
    schema = {"type": "object", "properties": {"x": {"description": "Never a password."}}}
    assert safety_notes(Tool("t", "t", "Does.", schema=schema)) == ("Never a password.",)


@pytest.mark.parametrize(
    "text",
    [
        "Deletes a note. This cannot be undone.",
        "Requires approval.",
        "Needs admin permissions.",
        "You must not use it twice.",
        "Do not use it twice.",
        "Reads: don't share it.",
        "Reads it, and do NOT write.",
        "Irreversible!",
    ],
)
def test_safety_notes_are_found(text):
    assert safety_notes(Tool("t", "t", text))


@pytest.mark.parametrize(
    "text",
    [
        "Finds notes.",
        "It does not support dates.",
        "Returns warnless text.",
        "Great when you don't know where it is.",
        "Returns size, owner and permissions.",
    ],
)
def test_other_sentences_are_no_safety_notes(text):
    assert not safety_notes(Tool("t", "t", text))


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("Deletes a note. This cannot be undone.", ("This cannot be undone.",)),
        ("WARNING: costs money.", ("WARNING: costs money.",)),
        ("Levels are INFO, WARNING and ERROR.", ()),
        ("Sends. Each call costs $5.", ("Each call costs $5.",)),
        ("It is billed to your account.", ("It is billed to your account.",)),
        ("Sends it. There is no undo.", ("There is no undo.",)),
        ("Finds what a book costs. Takes a price such as $5.", ()),
        ("Finds files when you don't know where. Needs permissions.", ()),
        ("", ()),
    ],
)
def test_harm_notes_are_the_notes_that_tell_of_harm(text, warned):
    assert harm_notes(Tool("t", "t", text)) == warned


def test_what_a_text_says_in_other_words_is_said():
    risky = Tool("t", "drop", "Drops it. The table cannot be recovered.")
    reworded, denied = "Drops. A table dropped cannot be recovered.", "A table can be recovered."
    assert not list(unshared_notes([risky], reworded))
    (note,) = unshared_notes([risky], denied)
    assert note[0] == risky and note[1] in risky.description


def test_most_words_without_the_one_that_warns_do_not_say_it():
    risky = Tool("t", "remove", "Permanently deletes a note from the notebook.")
    text = "Deletes a note from the notebook"
    assert list(unshared_notes([risky], f"{text}."))
    assert not list(unshared_notes([risky], f"{text} permanently."))

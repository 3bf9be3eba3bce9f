"""What calls come to mean that leave an argument out, or give a number for a text."""

import pytest

from tests.judging.arguments.test_alignment import text, tool
from toolscope_core.judging.arguments.alignment import argument_map
from toolscope_core.judging.arguments.argument_words import silent_changes


def changes(left, right):
    alpha = argument_map(left, right)
    other = (one for one in alpha.lossy if one.startswith("if left out"))
    silent = silent_changes(left, right, alpha.moves)
    return (*other, *(one for one in silent if "written as text" in one))


def with_defaults(one, other, description="", required=()):
    return [
        tool(name, name, required, x=text(description, default=value))
        for name, value in (("a", one), ("b", other))
    ]


def test_calls_that_come_to_mean_something_else_are_told_of():
    loud = tool("a", "f", dry={"type": "boolean", "default": True}, zip={"type": "integer"})
    quiet = tool("b", "g", dry={"type": "boolean", "default": False}, zip=text())
    left_out, retyped = changes(loud, quiet)
    assert "`dry` of a is true" in left_out and left_out.endswith("`dry` of b false")
    assert "`zip` of a" in retyped and "text" in retyped
    unshared = tool("c", "h", dry={"type": "boolean"}, zip={"type": "integer"})
    assert changes(loud, unshared) == ()


@pytest.mark.parametrize(
    ("one", "other"), [("Any", "any"), (None, "x"), ("null", "x"), ("", "x"), ("None", None)]
)
def test_defaults_that_say_the_same_or_nothing_are_no_difference(one, other):
    assert changes(*with_defaults(one, other)) == ()


def test_a_declared_value_beside_a_declared_nothing_is_told_of():
    dated = tool("a", "f", day=text(default="2019-03-01"))
    today = tool("b", "g", day=text(default=None))
    (change,) = changes(dated, today)
    assert '`day` of a is "2019-03-01"' in change and change.endswith("`day` of b null")
    open_ended = tool("c", "h", day=text(default="dontcare"))
    assert changes(open_ended, today) == changes(dated, tool("d", "k", day=text())) == ()


def test_a_switch_that_may_be_neither_is_not_one_that_is_off():
    unset = tool("a", "f", paid={"type": "boolean", "default": None})
    off = tool("b", "g", paid={"type": "boolean", "default": False})
    (change,) = changes(unset, off)
    assert "`paid` of a is null" in change and change.endswith("`paid` of b false")


def in_words(one, other):
    """The changes between two tools whose argument is described so."""
    return changes(tool("a", "a", x=text(one)), tool("b", "b", x=text(other)))


@pytest.mark.parametrize(
    ("one", "other", "values"),
    [
        ("The league. Default is 'NBA'.", "The league. Default 'all'", ('"NBA"', '""')),
        ("Defaults to 5.0.", "How many. The default value is 10", ("5.0", "10")),
        ('Colour (default: "red")', "Colour, by default `blue`.", ('"red"', '"blue"')),
        ("Default is true.", "Default to False", ("true", "false")),
        ("Default is empty array.", "Default is 'high'", ('""', '"high"')),
        ("Default is 'me'", "The default is assumed to be 'us'", ('"me"', '"us"')),
    ],
)
def test_defaults_are_read_in_descriptions_too(one, other, values):
    assert in_words(one, other) == (
        f"if left out, `x` of a is {values[0]}, and `x` of b {values[1]}",
    )
    assert len(in_words(other, one)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Default is 5.0", "Defaults to 5."),
        ("Default is all if not specified.", "Default ''"),
        ("Default is 'USA'", "default = usa."),
        ("The league.", "The league. Default is 'NBA'."),
        ("Default is the current year, 2024.", "Default is 2023."),
        ("Default is 1.2.3 of it", "Default is 2"),
        ("The default 'home' page", "Its default is the 'home' page"),
    ],
)
def test_what_no_description_states_clearly_is_no_difference(one, other):
    assert in_words(one, other) == ()


def test_a_word_that_a_schema_lists_is_a_value():
    one, other = (
        text(f"Whom to tell (default: {value})", enum=["all", "none"]) for value in ("all", "none")
    )
    (change,) = changes(tool("a", "a", x=one), tool("b", "b", x=other))
    assert '"all"' in change and '"none"' in change


def test_a_schema_is_heard_before_a_description():
    left, right = with_defaults("blue", "red", "Default is 'red'.")
    (change,) = changes(left, right)
    assert '`x` of a is "blue"' in change and change.endswith('`x` of b "red"')
    assert changes(tool("b", "a", x=text("Default is 'red'.")), left)


def test_an_argument_that_is_always_given_has_no_default():
    assert changes(*with_defaults("p", "q", required=["x"])) == ()
    assert changes(*with_defaults("p", "q"))

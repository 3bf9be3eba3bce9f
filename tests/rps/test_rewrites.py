"""Rewrites of two tools: made, chosen on half of the requests, measured on the other half."""

import numpy as np
import pytest

from toolscope_core.model.tool import Tool
from toolscope_core.rps.rewrites import (
    CLAUSE,
    IN_FRONT,
    Rewrite,
    best_rewrites,
    effects_of,
    for_one_or_both,
    is_for_choosing,
    leading,
    offline_rewrites,
)

TEXT = "Get the airport of a flight."
START, END = Tool("s/start", "flight_origin", TEXT), Tool("s/end", "flight_goal", TEXT)
PLAIN = Tool("s/one", "flight", TEXT), Tool("s/other", "flight_end", TEXT)
WORDS = (("origin",), ("always", "goal", "4", "目標"))


def of_words(texts):
    """A row a text: how often it says each of a few words."""
    words = ("origin", "goal", "flight", "airport")
    rows = [[text.lower().count(word) for word in words] for text in texts]
    return np.array(rows, dtype=np.float32)


def requests(is_chosen, n, text):
    """So many requests of one half."""
    several = (f"{text} {number}" for number in range(100))
    return [one for one in several if is_for_choosing(one) == is_chosen][:n]


def test_the_short_clause_comes_first_and_each_tool_alone_too():
    rewrites = offline_rewrites((START, END), WORDS)
    assert [one.way for one in rewrites] == [CLAUSE] * 3 + [IN_FRONT] * 3
    assert rewrites[0].descriptions == {
        START.id: f"Use for origin: {TEXT}",
        END.id: f"Use for goal: {TEXT}",
    }
    assert rewrites[2].descriptions[START.id] == TEXT
    assert all(END.name not in text for one in rewrites for text in one.descriptions.values())


def test_what_changes_nothing_is_no_rewrite():
    assert not list(for_one_or_both("w", (START, END), {START.id: TEXT, END.id: TEXT}))
    assert len(list(for_one_or_both("w", (START, END), {START.id: TEXT, END.id: "New."}))) == 1
    assert offline_rewrites((START, END), ((), ())) == ()
    assert best_rewrites((START, END), (), (), of_words) == ()


def test_a_request_is_won_where_it_changes_sides():
    worse, better = ({START.id: text, END.id: "x"} for text in ("goal goal", "x"))
    answers = [("a goal", END.id), ("an origin", START.id)]
    lost, same = effects_of((START, END), [worse, better], answers, of_words)
    assert (lost.won, lost.lost, lost.right) == (0, 1, (2, 1))
    assert (same.won, same.lost, same.right) == (0, 0, (2, 2))


@pytest.mark.parametrize(
    ("chosen", "held_out", "wins"),
    [
        (2, requests(False, 2, "airport goal"), True),
        (2, requests(False, 2, "goal of an origin"), False),  # it loses these
        (2, [], False),  # nothing measures it
        (0, requests(False, 2, "goal"), False),  # nothing was chosen on
    ],
)
def test_only_what_wins_on_requests_left_out_may_be_accepted_unseen(chosen, held_out, wins):
    one, other = PLAIN
    good = Rewrite("w", {one.id: TEXT, other.id: f"goal goal {TEXT}"})
    bad = Rewrite("w", {one.id: f"goal goal {TEXT}", other.id: TEXT})
    answers = [(text, other.id) for text in requests(True, chosen, "goal")]
    answers += [(text, one.id if "origin" in text else other.id) for text in held_out]
    rewrites = (bad, good) if chosen else (good,)
    (best,) = best_rewrites(PLAIN, rewrites, answers, of_words)
    assert best.rewrite == good and best.training.won == chosen
    assert best.wins is wins


# A description that begins with what sets a tool apart.


@pytest.mark.parametrize(
    ("name", "description", "words", "expected"),
    [
        ("get_origin", "Get its\n start", ["origin"], "Origin: Get its start"),
        # what is in front already stays there
        ("set_alarm", "Set the alarm", ["set"], "Set the alarm"),
        # words of its job alone, as name and server say it, each once in whatever form
        ("failed_logins", "Filter", ["attempts", "failed", "fail"], "Failed: Filter"),
        ("move_file", "Move\n or rename", ["important", "always", "absolute"], "Move\n or rename"),
        ("list", "List all", ["recent", "archive"], "List all"),
        # words without meaning, numbers and other scripts are not moved
        ("the_2024_of_通过", "List all", ["the", "2024", "通过", "of"], "List all"),
        ("origin", "", ["origin"], ""),
        ("origin", "", [], ""),
    ],
)
def test_its_own_words_come_first(name, description, words, expected):
    assert leading(Tool(name, name, description, "attic-archive"), words) == expected


def test_the_words_of_the_server_count_where_the_servers_differ():
    tool = Tool("list", "list", "List all of the archive", "attic-archive")
    assert leading(tool, ["recent", "archive"], by_server=True).startswith("Archive: List all")

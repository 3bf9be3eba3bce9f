"""Server against server on the screen: pairs, every tool, a whole server switched off and back."""

import pytest

from tests.ui.services.small_workspace import (
    FILES,
    MAIL,
    SUM,
    WEATHER,
    Functions,
    on,
    open_workspace,
)
from ui.shared.services import review, server_advice
from ui.shared.services.review import make_decision

TOOLS = (
    *(on(server, one) for one in (MAIL, WEATHER) for server in ("alpha", "beta")),
    on("alpha", FILES),
    on("beta", SUM),
    on("gamma", SUM),
)


@pytest.fixture
def opened():
    work, catalog_id = open_workspace(*TOOLS)
    return work, Functions(work, server_advice), catalog_id


def matches(advice, catalog_id):
    (pair,) = [one for one in advice.pairs(catalog_id) if one.servers == ("alpha", "beta")]
    return advice.matches(catalog_id, pair)


def test_a_pair_is_there_without_two_proposals(opened):
    work, advice, i = opened
    counts = {pair.servers: len(pair.clusters) for pair in advice.pairs(i)}
    assert counts == {("alpha", "beta"): 2, ("beta", "gamma"): 1}
    assert [pair.servers for pair in review.server_pairs(work.snapshot(i))] == [("alpha", "beta")]


def test_every_tool_of_both_is_in_one_row(opened):
    _, advice, i = opened
    rows = matches(advice, i)
    names = [tuple(one.rpartition("/")[2] for one in (row.one, row.other)) for row in rows]
    assert names == [
        ("get_weather", "get_weather"),
        ("send_mail", "send_mail"),
        ("list_files", ""),
        ("", "add_numbers"),
    ]
    assert [row.match and row.match.way for row in rows] == ["as it is", "as it is", None, None]
    assert [row.proposal is not None for row in rows] == [True, True, False, False]


@pytest.mark.parametrize(
    ("action", "words"),
    [("accept", "accepted"), ("keep_apart", "kept apart"), ("omit", "left out")],
)
def test_what_was_decided_stays_in_the_table(opened, action, words):
    work, advice, i = opened
    row = matches(advice, i)[0]
    if action == "omit":
        catalog = work.snapshot(i).analysis.catalog
        reason = {"reason": "nobody calls it"}
        review.record(work.snapshot(i), make_decision(catalog, "omit", [row.one], "ann", reason))
    else:
        review.decide(work.snapshot(i), action, row.proposal, "ann")
    decided = {(one.one, one.other): one.decision for one in matches(advice, i) if one.decision}
    assert decided == {(row.one, "" if action == "omit" else row.other): words}


def test_a_server_is_switched_off_as_one_batch(opened):
    work, advice, i = opened
    gone = advice.coverage(i).of("alpha", ["beta"])
    assert gone.share == pytest.approx(2 / 3)
    before = work.snapshot(i).plan
    made = advice.switch_off(i, [gone], "ann")
    plan = work.snapshot(i).plan
    assert not any(item.tool.server == "alpha" for item in plan.tools)
    became = {row.old_id: row.new_id for row in plan.relabels if row.server == "alpha"}
    assert sorted(became.items()) == [
        ("alpha/get_weather", "beta/get_weather"),
        ("alpha/list_files", None),
        ("alpha/send_mail", "beta/send_mail"),
    ]
    assert len({one.detail["batch"] for one in made}) == 1
    review.undo_all(work.snapshot(i), "ann", [one.seq for one in made])
    assert work.snapshot(i).plan.tools == before.tools


def test_advice_follows_the_decisions(opened):
    work, advice, i = opened
    assert [one.server for one in advice.advice(i).switch_off] == ["gamma"]
    (cluster,) = [c for c in review.queue(work.snapshot(i)) if "gamma/add_numbers" in c.members]
    review.decide(work.snapshot(i), "keep_apart", cluster, "ann")
    assert advice.advice(i).switch_off == ()

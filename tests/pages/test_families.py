"""Families on the pages: the first page, Review, pairs, Documents."""

import json

import pytest

from tests.pages.screen import metrics
from tests.support.scripted import judge_says
from tests.ui.services import family_catalog, small_workspace
from tests.ui.services.small_workspace import by_name, on
from toolscope_core.model.catalog import Server
from toolscope_core.model.cluster import outcome_word
from toolscope_core.model.pair import Pair, pair_key
from ui.shared import safe_text
from ui.shared.pairs import pair_view
from ui.shared.services import review, toolsets

BANKS = [tool.id for tool in family_catalog.BANKS]
SCHWAB = "get_positions_schwab"
PROVIDER = "provider: schwab / fidelity / robinhood"
FAMILY = outcome_word("family")


@pytest.fixture
def page(open_app, monkeypatch):
    return open_app(*family_catalog.scripted(monkeypatch))


def title(page):
    return page.at.subheader[0].value.replace("\\", "")


def queue(page, key="queue"):
    (table,) = [frame.value for frame in page.at.dataframe if frame.key == key]
    return table


# Undecided pairs -----------------------------------------------------------------------------


@pytest.fixture
def undecided(open_app, monkeypatch):
    """Two pairs that the judge is unsure of, the first more likely to be merged."""
    (first,) = family_catalog.pairs(family_catalog.RECIPES)
    second = family_catalog.pairs(family_catalog.BANKS)[0]
    judge_says(monkeypatch, {first: 0.65, second: 0.6})
    tools = (*family_catalog.RECIPES, *family_catalog.BANKS[:2])
    return open_app(*tools).open("review", show="Undecided"), first, second


def pairs_left(page):
    return pair_view.undecided(page.now)


def test_undecided_pairs_are_answered_one_after_the_other_and_undone(undecided):
    page, first, second = undecided
    assert [(p.left, p.right) for p in pairs_left(page)] == [first, second]
    assert page.figures("neither merge nor") == [2]
    page.press("keep_apart_")
    assert [(p.left, p.right) for p in pairs_left(page)] == [second]
    page.press("family_")
    (decision, last) = page.now.log
    assert (decision.action, last.action) == ("keep_apart", "accept")
    assert last.detail["relation"] == "family"
    assert pairs_left(page) == ()
    assert "No pair is left" in page.text
    page.press("undo_")
    assert [(p.left, p.right) for p in pairs_left(page)] == [second]
    page.press(f"accept_{pair_key(Pair(*second))}")
    assert page.now.log[-1].detail["relation"] in ("duplicate", "subsumes")
    (cluster,) = page.now.plan.clusters
    assert (cluster.members, cluster.state) == (second, "accepted")


def test_pairs_of_the_same_servers_are_asked_together_and_none_that_reads_and_writes(
    open_app, monkeypatch
):
    said = [
        (server, verb, noun)
        for noun, servers in (("task", "ab"), ("cat", "ac"), ("note", "ab"))
        for server, verb in zip(servers, ("get", "fetch"), strict=True)
    ]
    said += [("a", "get", "page"), ("b", "delete", "page")]
    what = {"what": small_workspace.TEXT}
    words = "{} a {} of the site by its name in full."
    tools = [
        small_workspace.tool(server, f"{verb}_{noun}", words.format(verb, noun), **what)
        for server, verb, noun in said
    ]
    ids = [tool.id for tool in tools]
    task, cat, note, page = zip(ids[::2], ids[1::2], strict=True)
    judge_says(monkeypatch, {task: 0.65, cat: 0.62, note: 0.6, page: 0.66})
    opened = open_app(*tools).open("review", show="Undecided")
    assert [(p.left, p.right) for p in pairs_left(opened)] == [task, note, cat]
    assert opened.figures("unsure pair") == [3, 1], "undecided, and unsure but not asked"


def test_the_undecided_pairs_are_rows_of_the_queue_under_its_filters(undecided):
    page, _, second = undecided
    assert len(queue(page, "undecided_queue")) == 2
    page.widget("text_input", "review_find").set_value(second[0]).run()
    assert len(queue(page, "undecided_queue")) == 1
    assert page.at.query_params["undecided"] == pair_key(Pair(*second))
    page.widget("text_input", "review_find").set_value("no such").run()
    assert page.figures("No undecided pair of") == [2] and not page.widgets(
        "dataframe", "undecided_queue"
    )


def test_where_nothing_is_left_the_undecided_pairs_are_named(undecided):
    page, first, _ = undecided
    page.at.selectbox(key="show").set_value("Waiting").run()
    assert page.figures("Nothing left to review") == [2]
    names = [page.now.catalog.by_id[one].name.replace("_", "\\_") for one in first]
    assert all(f"**{name}**" in page.text for name in names)


def test_a_skipped_pair_comes_last(undecided):
    page, *pairs = undecided
    for pair in reversed(pairs):
        page.press("skip_")
        assert page.at.query_params["undecided"] == pair_key(Pair(*pair))


# Review --------------------------------------------------------------------------------------


def test_a_filter_shows_duplicates_or_families(page):
    page.open("review")
    assert list(queue(page)["name"]) == ["get_recipe", SCHWAB, "pearstore_orders"]
    assert list(queue(page)["kind"]) == ["drop-in", *["family"] * 2]
    assert page.figures("Waiting: ") == [3, 3, 1, 2]
    page.at.selectbox(key="show").set_value("Families").run()
    assert list(queue(page)["name"]) == [SCHWAB, "pearstore_orders"]
    assert queue(page)["what differs"][0] == PROVIDER
    assert title(page) == SCHWAB
    page.at.selectbox(key="show").set_value("Same job").run()
    assert list(queue(page)["name"]) == ["get_recipe"]


@pytest.mark.parametrize("place", [("graph", {}), ("overlap", {"view": "Heatmap"})])
def test_a_picture_of_common_jobs_says_how_many_families_it_leaves_out(page, place):
    name, query = place
    page.open(name, **query)
    assert "2 families" in page.text and "not drawn here" in page.text
    assert "See the families" in [link.proto.label for link in page.at.get("page_link")]


def test_the_card_of_a_family_shows_selector_argument_and_that_a_gateway_is_needed(page):
    page.open("review", show="Families")
    assert f"**{safe_text.untrusted(PROVIDER)}**" in page.text
    assert "none can take" in page.text
    assert "A gateway can offer one tool" in page.text
    (code,) = [block.value for block in page.at.code]
    assert json.dumps(["schwab", "fidelity", "robinhood"]) in code
    assert "Likelihood 0.70" in page.text
    assert "no longer see" not in page.text
    assert f":violet[{FAMILY}]" in page.text, "of the pairs"


def test_the_card_says_what_each_provider_is_in_the_servers_own_words(open_app, monkeypatch):
    said = "<b>Reads</b> mails and " + "all that one could want to know of them " * 9
    monkeypatch.setattr(small_workspace, "Server", lambda name: Server(name, said * (name == "a")))
    tools = [on(server, small_workspace.MAIL) for server in "ab"]
    judge_says(monkeypatch, {}, {("a/send_mail", "b/send_mail"): 0.9})
    page = open_app(*tools).open("review", show="Families")
    (table,) = [frame.value for frame in page.at.dataframe if "forwarded to" in frame.value]
    of_server = dict(zip(table["server"], table["what it is"], strict=True))
    assert of_server["b"] == ""
    assert of_server["a"].startswith("<b>Reads</b> mails") and len(of_server["a"].split()) == 12


def test_whether_all_words_match_stands_on_the_card_of_a_drop_in(page):
    page.open("review")
    assert title(page) == "get_recipe"
    assert "no relevant difference" in page.text
    lock = Pair.of("lock_door", "unlock_door")
    both = (lock.left, lock.right)
    toolsets.send_to_review(page.now, both, toolsets.version(page.now, both), "ann")
    page.open("review", cluster=pair_view.view(page.now, lock).card.id)
    assert "Differences in wording:" in page.text
    assert page.text.count(r"says “lock” where") == 1
    card = page.text.split("Verdicts on the pairs")[0]
    assert "no relevant difference" not in card


def test_a_job_shows_the_family_that_it_is_a_member_of_and_so_does_the_pair(open_app, monkeypatch):
    job, *families = family_catalog.pairs(family_catalog.BANKS)
    judge_says(monkeypatch, {job: 0.97}, dict.fromkeys(families, 0.9))
    page = open_app(*family_catalog.BANKS).open("review")
    assert list(queue(page)["family"]) == ["with 1"]
    (members,) = [one.value for one in page.at.dataframe if "here" in one.value]
    assert dict(zip(members["tool"], members["tools"], strict=True)) == {BANKS[0]: 2, SCHWAB: 1}
    page.open("overlap", pair=pair_key(Pair.of(job[1], SCHWAB)))
    assert page.figures("members") == [2]
    page.open("review").at.session_state["blind"] = True
    page.at.run()
    assert "with other tools" not in page.text


def test_one_job_is_shown_before_it_is_said(page):
    shown = by_name(page.work, 1, SCHWAB)
    page.open("review", show="Families").press(f"one_job_{shown.id}")
    seen = page.text.split("**As one job**")[1]
    assert review.active_decisions(page.now) == ()
    page.press(f"accept_one_job_{shown.id}")
    (decision,) = review.active_decisions(page.now)
    assert decision.detail["relation"] == "duplicate"
    after = by_name(page.work, 1, SCHWAB)
    assert after.relation == "duplicate"
    assert f"{after.document.name.replace('_', chr(92) + '_')}**" in seen
    assert "**As one job**" not in page.text


def test_blind_the_answer_is_about_the_tools_and_the_judge_speaks_after_it(page):
    shown = by_name(page.work, 1, SCHWAB)
    page.open("review", show="Families").press("one_job_")
    page.at.session_state["blind"] = True
    page.at.run()
    assert "**As one job**" not in page.text
    assert not page.widgets("button", "one_job_")
    assert page.button(f"accept_{shown.id}").label == "Same job"
    assert "the judge had proposed" not in page.text
    page.press(f"accept_{shown.id}")
    (decision,) = review.active_decisions(page.now)
    assert decision.detail["relation"] == "duplicate"
    assert page.figures("the judge had proposed") == [round(shown.weakest_edge, 2)]


# Pairs, the drawer, documents ----------------------------------------------------------------


def test_a_pair_of_a_family_says_so_and_shows_both_probabilities(page):
    page.open("overlap", pair=pair_key(Pair.of(*BANKS[:2])))
    assert f"Judge: {FAMILY}" in page.text
    assert "Same job 0.00" in page.text and "Family 0.70" in page.text
    assert r"\_fidelity says “fidelity”" in page.text
    *_, in_families, _, _, duplicates, families = page.figures("grouped: ")
    assert (in_families, duplicates, families) == (4, 1, 2)
    page.at.session_state["pair_more"] = "Signals"
    page.at.run()
    assert metrics(page.at) == {"Same job": "0.00", "Family": "0.70"}


def test_the_document_of_a_family_is_untouched_until_somebody_edits_it(page):
    page.open("documents", merge=by_name(page.work, 1, SCHWAB).id)
    assert page.button("save_").disabled
    assert page.button("reset_").disabled
    assert "Family of providers" in page.text
    assert f"**{safe_text.untrusted(PROVIDER)}**" in page.text

"""History: every decision with who took it back, and decisions brought from a file."""

import json

import pytest

from tests.ui.services.small_workspace import by_name
from toolscope_core.judging.learned_weights import JudgeUpdate, WeightUpdate
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.profile import Profile
from toolscope_core.model.tool import canonical_json
from toolscope_core.profiles.intent_cover import with_choice
from ui.profiles import profile_edits
from ui.shared.services import exports, learned_judge, review


@pytest.fixture
def page(open_app):
    return open_app().open("history")


def accepted(page, name, reviewer="ann"):
    return review.decide(page.now, "accept", by_name(page.work, 1, name), reviewer)


def test_every_decision_is_listed_with_who_took_it_back_and_filtered(page):
    first = accepted(page, "send_mail")
    review.undo(page.now, "bob", first.seq)
    review.decide(page.now, "keep_apart", by_name(page.work, 1, "get_weather"), "zoe")
    page.at.run()
    assert list(page.tables("what")[0]["state"]) == ["stands", "undone by bob"]
    assert "2 of 2 decisions listed; 1 is in effect." in page.text
    page.widget("text_input", "history_words").set_value("weather").run()
    assert list(page.tables("what")[0]["what"]) == ["Kept apart"]
    page.widget("text_input", "history_words").set_value("nothing of the kind").run()
    assert not page.tables("what") and "No decision" in page.text
    page.widget("text_input", "history_words").set_value("").run()
    page.widget("multiselect", "history_reviewers").set_value(["ann"]).run()
    assert list(page.tables("what")[0]["who"]) == ["ann"]


def at_decision(page, number):
    page.at.query_params["decision"] = number
    page.at.run()
    return page


def test_a_decision_on_a_profile_says_what_it_changed_in_it_and_goes_back(page):
    for ids in (["alpha/send_mail", "alpha/get_weather"], ["beta/add_numbers"]):
        standing = profile_edits.tools_by_profile(page.now).get("desk")
        before = standing.profile if standing else Profile("desk")
        profile_edits.save(page.now, with_choice(page.now.plan, before, ids, is_in=True), "ann")
    profile_edits.delete(page.now, profile_edits.tools_by_profile(page.now)["desk"].profile, "ann")
    said = {
        "1": "profile desk: 2 new",
        "2": "profile desk: 1 new",
        "3": r"Profile changed \(desk, deleted\)",
    }
    for number, words in said.items():
        assert words in at_decision(page, number).text
    assert "the profile desk: 3 gone" in page.text
    page.press("history_undo_3")
    assert len(profile_edits.tools_by_profile(page.now)["desk"].ids) == 3
    with pytest.raises(DecisionError, match="undo"):
        review.undo(page.now, "ann", 1)
    review.undo(page.now, "ann", 2)
    assert len(profile_edits.tools_by_profile(page.now)["desk"].ids) == 2


def test_a_long_history_comes_in_pages_and_a_link_opens_its_own(page, monkeypatch):
    monkeypatch.setattr("ui.history.decision_list.PAGE_SIZE", 2)
    for _ in range(3):
        review.undo(page.now, "bob", accepted(page, "send_mail").seq)
    at_decision(page, "1")
    assert list(page.tables("what")[0]["no."]) == [1] and "3 of 3 decisions listed" in page.text
    page.widget("pagination", "history_page_2").set_value(1).run()
    assert list(page.tables("what")[0]["no."]) == [5, 3]


def test_the_chosen_decision_says_what_it_changed_and_goes_back_and_forth(page):
    accepted(page, "send_mail")
    page.at.run()
    assert "the toolset: 1 merged" in page.text
    page.press("history_undo_1")
    assert review.active_decisions(page.now) == ()
    assert "Decision 1 is undone" in page.text
    page.press("history_redo_1")
    (again,) = review.active_decisions(page.now)
    assert (again.action, again.seq) == ("accept", 3)
    at_decision(page, "3").press("history_restore_2_3")
    assert review.active_decisions(page.now) == ()
    at_decision(page, "1").press("history_restore_1_4")
    assert [one.action for one in review.active_decisions(page.now)] == ["accept"]


def test_what_builds_on_a_decision_is_shown_and_goes_back_with_it(page):
    accepted(page, "send_mail")
    edited = by_name(page.work, 1, "send_mail")
    review.decide(page.now, "canonical", edited, "bob", {"canonical": edited.members[1]})
    at_decision(page, "1")
    assert "Later decisions" in page.text
    page.press("history_undo_all_1")
    assert review.active_decisions(page.now) == ()


def test_a_batch_goes_back_at_once_and_a_note_stays(page):
    rows = [("accept", by_name(page.work, 1, name), {}) for name in ("send_mail", "get_weather")]
    review.decide_each(page.now, "ann", rows)
    page.at.run()
    page.widget("text_area", "history_note_").set_value("asked the mail team")
    page.at.button[[b.label for b in page.at.button].index("Save note")].click().run()
    assert "asked the mail team" in page.text
    page.widget("text_input", "history_words").set_value("mail team").run()
    assert len(page.tables("what")[0]) == 1
    page.press("history_undo_batch_")
    assert [one.action for one in review.active_decisions(page.now)] == ["note"]


def test_somebody_who_decided_meanwhile_is_not_overruled_by_a_restore(page):
    accepted(page, "send_mail")
    page.at.run()
    accepted(page, "get_weather", "bob")
    page.press("history_restore_0_1")
    assert "in the meantime" in page.text
    assert len(review.active_decisions(page.now)) == 2


def test_a_catalog_teaches_the_order_of_its_queue_and_forgets_it(open_app, monkeypatch):
    monkeypatch.setattr("ui.history.learning_panel.learned_weights.learned", offered)
    page = open_app().open("history")
    page.open("history", history_part="More")
    assert page.figures("one by one") == [0, 0, 0]
    assert "20 decisions" in page.text
    accepted(page, "send_mail")
    page.at.run()
    assert page.figures("one by one") == [1, 3, 3], "decisions, pairs, those of the same job"
    before = review.safe(page.now)
    page.press("learn_")
    assert "In use: version" in page.text
    assert learned_judge.update_in_use(page.now).start == 0.5
    assert review.safe(page.now) == before, "what is safe is not widened"
    waiting = {one.id for one in review.queue(page.now)}
    assert set(learned_judge.of_clusters(page.now)) == waiting
    page.open("review")
    page.widget("selectbox", "by").set_value("learned").run()
    page.open("history", history_part="More")
    page.press("learn_off")
    assert learned_judge.update_in_use(page.now) is None
    page.open("review")  # by an order that is gone


def offered(judge, taught):
    """An update that helps, from any lesson."""
    update = JudgeUpdate(judge.name, 0.5, 0.0, {"closeness": 0.25})
    return WeightUpdate(update, 1, 3, 0.8, 0.9, 0.05, 0.15) if taught else None


def test_two_states_are_compared(page):
    accepted(page, "send_mail")
    page.open("history", history_part="Compare")
    rows = page.tables("before")[0]
    assert list(rows["change"]) == ["merged"]
    before = page.widget("selectbox", "state_at_Before")
    before.set_value(1).run()
    assert not page.tables("before") and "6 unchanged" in page.text


def bring(page, *rows, turn=0):
    lines = "".join(f"{canonical_json(row)}\n" for row in rows).encode()
    page.at.file_uploader(key=f"import_{turn}").upload("decisions.jsonl", lines).run()
    return page


def test_decisions_of_a_bundle_are_shown_first_and_added_once(page):
    review.decide(page.now, "accept", by_name(page.work, 1, "send_mail"), "ann")
    review.decide(page.now, "keep_apart", by_name(page.work, 1, "get_weather"), "ann")
    gone = review.decide(page.now, "accept", by_name(page.work, 1, "list_files"), "ann")
    review.undo(page.now, "ann", gone.seq)
    files = exports.bundle(page.now, PlanConfig(accept="none"))
    review.undo_all(page.now, "ann", [1, 2])
    rows = [json.loads(line) for line in files["decisions.jsonl"].splitlines()]
    strange = {"action": "accept", "ids": ["x", "y"], "fingerprints": ["f", "g"], "reviewer": "zoe"}
    bring(page, *rows, strange)
    assert page.figures("to add") == [2, 1], "one is about tools not in this catalog"
    assert review.active_decisions(page.now) == ()
    page.press("import_button_")
    added = review.active_decisions(page.now)[::-1]
    assert [(d.action, d.reviewer) for d in added] == [("accept", "ann"), ("keep_apart", "ann")]
    bring(page, *rows, turn=1)
    assert page.figures("to add") == [0, 2], "two are recorded"
    assert page.button("import_button_").disabled
    page.press("undo_batch_")
    assert review.active_decisions(page.now) == ()


def test_what_contradicts_is_refused_in_words_and_the_rest_is_offered(page):
    review.decide(page.now, "keep_apart", by_name(page.work, 1, "send_mail"), "ann")
    ids = ["alpha/send_mail", "beta/send_mail"]
    weather = ["alpha/get_weather", "beta/get_weather"]
    bring(page, *({"action": "accept", "ids": two, "reviewer": "zoe"} for two in (ids, weather)))
    assert "line 1" not in page.text
    assert "1 decision to add, 1 refused" in page.text
    rows = page.tables("outcome")[0]
    assert list(rows["outcome"]) == ["refused", "added"]
    assert "contradicts decision 1" in rows["why"][0]


def test_a_file_that_is_none_is_one_sentence(page):
    page.at.file_uploader(key="import_0").upload("decisions.jsonl", b"{no").run()
    assert "line 1 is not JSON" in page.at.error[0].value


def test_a_share_is_ones_own_and_a_second_look_is_blind(page):
    page.open("history", history_part="More")
    page.widget("text_input", "share_names_").set_value("ann, reviewer")
    page.at.button[[b.label for b in page.at.button].index("Divide")].click().run()
    page.open("history", history_part="People")
    own = [i for i, who in review.owners(page.now).items() if who == "reviewer"]
    review.decide(page.now, "accept", by_name(page.work, 1, "send_mail"), "ann")
    page.at.run()
    assert "1 decision left" in page.text and "Accepted" not in page.text
    page.press("look_apart_1")
    assert "0 of 1 look agree" in page.text
    assert page.figures("look disagrees") == [1]
    page.open("review")
    page.widget("toggle", "review_share").set_value(True).run()
    shown = review.queue(page.now)
    left = [one.id for one in shown if one.id in own]
    assert not left or f"{len(left)} of {len(shown)} shown" in page.text

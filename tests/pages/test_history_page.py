"""History: every decision with who took it back, and decisions brought from a file."""

import json

import pytest

from tests.workspace.desk import by_name
from toolscope_core.config import PlanConfig
from toolscope_core.datamodel import canonical_json


@pytest.fixture
def page(bench):
    return bench().open("history")


def test_every_decision_is_listed_page_by_page_and_undone_ones_say_by_whom(page):
    review = page.review
    for _ in range(6):
        made = review.decide(1, "accept", by_name(page.work, 1, "send_mail"), "ann")
        review.undo(1, "bob", made.seq)
    for tool_id in ("alpha/send_mail", "beta/send_mail", "gamma/send_mail"):
        for reason in ("one", "two"):
            made = page.work.toolsets.leave_out(1, [tool_id], "ann", reason)
            review.undo(1, "carl", made.seq)
    review.decide(1, "reject", by_name(page.work, 1, "send_mail"), "ann")
    page.at.run()
    assert not page.at.exception
    labels = [expander.label for expander in page.at.expander]
    assert "All decisions (13)" in labels
    assert page.text.count("undone by carl") == 6
    assert page.text.count("undone by bob") == 3, "the rest is on the next page"
    assert len([b for b in page.at.button if (b.key or "").startswith("recent_undo_")]) == 1
    assert "~~Accepted" in page.text


def bring(page, *rows, turn=0):
    lines = "".join(f"{canonical_json(row)}\n" for row in rows).encode()
    page.at.file_uploader(key=f"import_{turn}").upload("decisions.jsonl", lines).run()
    assert not page.at.exception
    return page


def test_decisions_of_a_bundle_are_shown_first_and_added_once(page):
    review = page.review
    review.decide(1, "accept", by_name(page.work, 1, "send_mail"), "ann")
    review.decide(1, "reject", by_name(page.work, 1, "get_weather"), "ann")
    gone = review.decide(1, "accept", by_name(page.work, 1, "list_files"), "ann")
    review.undo(1, "ann", gone.seq)
    files = review.bundle(1, PlanConfig(accept="none"))
    review.undo_all(1, "ann", [1, 2])
    rows = [json.loads(line) for line in files["decisions.jsonl"].splitlines()]
    strange = {"action": "accept", "ids": ["x", "y"], "members": ["f", "g"], "reviewer": "zoe"}
    bring(page, *rows, strange)
    assert "2 decisions to add, 1 about tools not in this catalog" in page.text
    assert review.standing(1) == ()
    page.press("import_button_")
    assert [(d.action, d.reviewer) for d in review.standing(1)[::-1]] == [
        ("accept", "ann"),
        ("reject", "ann"),
    ]
    bring(page, *rows, turn=1)
    assert "0 decisions to add, 2 already recorded" in page.text
    assert page.button("import_button_").disabled
    page.press("undo_batch_")
    assert review.standing(1) == ()


def test_what_contradicts_is_refused_in_words_and_the_rest_is_offered(page):
    page.review.decide(1, "reject", by_name(page.work, 1, "send_mail"), "ann")
    ids = ["alpha/send_mail", "beta/send_mail"]
    weather = ["alpha/get_weather", "beta/get_weather"]
    bring(
        page,
        {"action": "accept", "ids": ids, "reviewer": "zoe"},
        {"action": "accept", "ids": weather, "reviewer": "zoe"},
    )
    assert "line 1" not in page.text
    assert "1 decision to add, 1 refused:" in page.text
    assert "contradicts decision 1" in page.text


def test_a_file_that_is_none_is_one_sentence(page):
    page.at.file_uploader(key="import_0").upload("decisions.jsonl", b"{no").run()
    assert "line 1 is not JSON" in page.at.error[0].value

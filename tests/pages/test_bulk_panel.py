"""Review, many at once: the bar, ticked rows, one batch with one undo, its audit."""

import pytest

from tests.ui.services.small_workspace import by_name
from ui.shared.services import review


@pytest.fixture
def page(open_app):
    return open_app().open("review", queue_view="By merge")


def test_a_batch_is_accepted_audited_and_undone_as_one(page):
    page.widget("button_group", "bulk_without").set_value([]).run()
    page.press("bulk_accept_")
    assert review.progress(page.now).accepted == 3
    assert len({one.detail["batch"] for one in review.active_decisions(page.now)}) == 1
    page.press("audit_wrong_").press("audit_right_")
    assert page.figures("wrong**") == [1, 2, 0.50, 0.09, 0.91]
    page.press("audit_back_").press("audit_undo_")
    assert review.progress(page.now).accepted == 0
    assert [one.action for one in review.active_decisions(page.now)] == ["flag"]


def test_kept_for_review_no_policy_takes_them_and_rejected_ones_come_back(page):
    page.press("bulk_propose_")
    assert by_name(page.work, 1, "list_files").put_forward
    page.widget("button_group", "bulk_without").set_value([]).run()
    page.press("bulk_keep_apart_")
    assert review.progress(page.now).kept_apart == 3
    page.widget("selectbox", "show").set_value("Kept apart").run()
    page.press("bulk_back_")
    assert review.progress(page.now).kept_apart == 0


def test_what_is_not_ticked_is_left_alone(page):
    page.widget("button_group", "bulk_without").set_value([]).run()
    key = page.widget("dataframe", "bulk_rows_").key
    assert page.at.session_state[key]["selection"]["rows"] == [0, 1, 2]
    assert page.button("bulk_accept_").label == "Accept all 3"
    page.tick("bulk_rows_", 1)
    assert page.button("bulk_accept_").label == "Accept the 1 ticked"
    page.press("bulk_accept_")
    assert review.progress(page.now).accepted == 1


def test_safe_merges_open_on_all_ticked_rows_and_a_find_that_narrows_them_is_said(page):
    def rows():
        table = page.widget("dataframe", "bulk_rows_")
        return list(table.value["name"]), page.at.session_state[table.key]["selection"]["rows"]

    find = page.widget("text_input", "review_find")
    find.set_value("mail").run()
    assert "**1 of 3 merges** listed, by find “mail”" in page.text
    page.press("accept_safe")
    names, ticked = rows()
    assert (len(names), names[0], ticked) == (3, "list_files", [0])
    assert not page.widgets("button", "list_all")
    for words, said in (("mail", "0 of 1 safe merge"), ("no such", "No proposal of 3")):
        page.widget("text_input", "review_find").set_value(words).run()
        assert said in page.text
        page.press("list_all")
        assert rows() == (names, [0])
    assert "2 for which" in page.text
    assert review.progress(page.now).accepted == 0
    page.press("bulk_accept_")
    assert "Accepted\\: 1 cluster" in page.text
    assert page.button("accept_safe").disabled


def test_a_larger_gateway_cannot_be_ticked(page, monkeypatch):
    mail = by_name(page.work, 1, "send_mail").id
    monkeypatch.setattr(review, "larger_gateways", lambda snapshot: frozenset({mail}))
    page.at.run()
    assert page.figures("Not listed") == [1]
    listed = page.widget("dataframe", "bulk_rows_").value["name"]
    assert set(listed) == {"get_weather", "list_files"}

import re
from dataclasses import replace

import pytest
import streamlit as st

from tests.ui.services.small_workspace import FILES, MAIL, SUM, by_name, catalog, on
from toolscope_core.catalog.tokens import Size, SizeChange
from toolscope_core.model.pair import tool_key
from ui.review.queue_panel import sorted_rows
from ui.shared.cards.shortcuts import LISTENS, SHORTCUTS
from ui.shared.safe_text import word_diff
from ui.shared.services import review


@pytest.fixture
def page(open_app):
    return open_app().open("review")


def shown(page):
    return page.at.subheader[0].value.replace("\\", "")


def test_the_page_shows_progress_the_riskiest_card_and_what_speaks_against_it(page):
    assert "0 of 3 reviewed" in str(page.at.get("progress")[0].proto)
    assert shown(page) == "send_mail"
    assert "so a gateway is needed" in page.text
    assert "**send\\_mail** on alpha or" in page.text
    queue = page.at.dataframe[0].value
    assert list(queue["name"]) == ["send_mail", "get_weather", "list_files"]
    assert list(queue["server"]) == ["alpha, beta, gamma", "alpha, beta", "alpha"]
    assert page.at.query_params["cluster"] == by_name(page.work, 1, "send_mail").id


def test_accept_shows_the_next_card_and_leaves_a_trail_that_undoes_it(page):
    mail = card_id(page)
    page.press(f"accept_{mail}")
    assert shown(page) == "get_weather"
    assert "Accepted\\: send\\_mail" in page.text
    assert [d.action for d in page.now.log] == ["accept"]
    page.expand("trail").press("recent_undo_")
    assert card_id(page) == mail, "where it was"
    assert review.active_decisions(page.now) == ()


def card_id(page):
    """What the URL shows."""
    found = page.at.query_params["cluster"]
    return found if isinstance(found, str) else found[0]


def test_an_address_whose_proposal_is_gone_says_so(page):
    mail = card_id(page)
    page.press(f"accept_{mail}")
    assert not page.at.warning, "what was shown here and decided is no surprise"
    page.open("review", cluster=mail)
    assert not page.at.warning, "it is there, accepted"
    page.open("review", cluster="f00")
    (warning,) = page.at.warning
    assert "gone" in warning.value and shown(page) == "get_weather"
    assert page.at.run().warning, "the card that is shown now has its own address"
    page.open("review", cluster=mail)
    assert not page.at.warning


def test_a_link_to_a_settled_proposal_shows_it(page):
    review.decide(page.now, "accept", by_name(page.work, 1, "list_files"), "somebody else")
    accepted = next(one.id for one in page.now.plan.clusters if one.state == "accepted")
    page.open("review", cluster=accepted)
    assert (shown(page), page.at.selectbox(key="show").value) == ("list_files", "Accepted")


def test_a_gateway_proposal_says_why_it_is_no_drop_in(open_app, monkeypatch):
    monkeypatch.setattr("ui.shared.cards.cards._drop_in", lambda *_: "")
    page = open_app().open("review").press("drop_in_")
    (error,) = page.at.error
    assert "every call" in error.value and review.active_decisions(page.now) == ()


def test_undo_takes_back_the_own_last_decision_only(page):
    assert page.button("undo_").disabled
    review.decide(page.now, "accept", by_name(page.work, 1, "list_files"), "somebody else")
    page.at.run()
    assert page.button("undo_").disabled
    page.press(f"accept_{card_id(page)}").press("undo_")
    assert [d.reviewer for d in review.active_decisions(page.now)] == ["somebody else"]
    assert shown(page) == "send_mail"


def test_undo_means_the_newest_own_decision_even_if_the_page_is_older(page):
    review.decide(page.now, "accept", by_name(page.work, 1, "get_weather"), "reviewer")
    page.at.run()
    review.decide(page.now, "accept", by_name(page.work, 1, "list_files"), "reviewer")
    page.press("undo_1")
    assert [d.ids[0] for d in review.active_decisions(page.now)] == ["alpha/get_weather"]


def test_skip_asks_last_and_the_order_stays(page):
    page.press(f"skip_{card_id(page)}")
    assert list(page.at.dataframe[0].value["name"]) == ["get_weather", "list_files", "send_mail"]
    page.press(f"next_{card_id(page)}").press(f"next_{card_id(page)}")
    assert shown(page) == "send_mail"
    page.press(f"previous_{card_id(page)}")
    assert shown(page) == "list_files"


def test_rows_are_sorted_by_a_column_without_regard_to_case():
    assert sorted_rows(["b", "A", "c"], descending=False) == [1, 0, 2]
    assert sorted_rows([2, 3, 2], descending=True) == [1, 0, 2]


def test_a_long_notice_keeps_its_beginning_and_its_end(page):
    page.at.session_state["notice"] = (False, f"first {'middle ' * 500}last")
    page.at.run()
    (shown,) = page.at.error
    assert len(shown.value) < 500
    assert shown.value.startswith("first middle")
    assert shown.value.endswith("middle last")


@pytest.mark.case(70)
def test_a_card_decided_by_somebody_else_meanwhile_is_refused_in_words(page):
    review.decide(page.now, "keep_apart", by_name(page.work, 1, "send_mail"), "bob")
    page.press(f"accept_{card_id(page)}")
    error = page.at.error[0].value
    assert "bob decided on" in error and "keep apart by bob" in error
    assert [d.reviewer for d in page.now.log] == ["bob"]
    assert shown(page) == "get_weather"


def test_one_member_is_dropped_by_its_button_and_nothing_is_accepted(page):
    before = review.progress(page.now)
    (button,) = [b for b in page.at.button if b.key.endswith("_gamma/send_mail")]
    button.click().run()
    left = by_name(page.work, 1, "send_mail")
    assert left.members == ("alpha/send_mail", "beta/send_mail")
    assert (left.state, review.progress(page.now)) == ("proposed", before)
    assert card_id(page) == left.id, "what is left is shown, to be decided"
    text = page.text.replace("\\", "")
    assert "gamma/send_mail kept out" in text and "2 tools still to be decided" in text
    page.press(f"accept_{left.id}")
    assert [d.action for d in page.now.log] == ["recut", "accept"]
    page.press("undo_").press("undo_")
    assert len(by_name(page.work, 1, "send_mail").members) == 3


def part(page, tool_id):
    return page.widget("button_group", f"part_{tool_key(tool_id)}")


def test_a_proposal_is_divided_with_a_look_at_what_becomes_of_it(page):
    page.press("parts_")
    assert page.button("reshape_record_").disabled, "nothing was moved yet"
    part(page, "beta/send_mail").set_value(2).run()
    assert "unchanged: **send\\_mail**" in page.text
    page.press("reshape_record_")
    left = by_name(page.work, 1, "send_mail")
    assert left.members == ("alpha/send_mail", "gamma/send_mail")
    assert left.state == "proposed"
    assert card_id(page) == left.id
    assert next(iter(page.at.dataframe[0].value["name"])) == "send_mail", "in the place it had"
    page.press("undo_")
    assert len(by_name(page.work, 1, "send_mail").members) == 3


def test_a_tool_of_another_cluster_is_taken_in_and_its_neighbour_stays_behind(page):
    page.press("parts_")
    page.widget("selectbox", "reshape_tool").set_value("beta/get_weather").run()
    assert part(page, "alpha/get_weather").value == 2
    page.press("reshape_record_")
    (grown,) = [c for c in page.now.plan.clusters if len(c.members) == 4]
    assert "beta/get_weather" in grown.members and grown.put_forward
    assert [d.action for d in page.now.log] == ["recut"]
    assert all("alpha/get_weather" not in c.members for c in page.now.plan.clusters)


def test_two_clusters_are_joined(page):
    page.press("parts_")
    weather = by_name(page.work, 1, "get_weather").id
    page.widget("selectbox", "reshape_cluster").set_value(weather).run()
    page.press("reshape_one").press("reshape_record_")
    (grown,) = [c for c in page.now.plan.clusters if len(c.members) > 3]
    assert grown.state == "proposed"
    assert [d.action for d in page.now.log] == ["propose"]


def test_a_note_is_kept_listed_and_removed(page):
    page.press("flag_")
    page.widget("text_input", "note_").set_value("ask *the* owner")
    next(b for b in page.at.button if b.label == "Save the note").click().run()
    assert "ask \\*the\\* owner" in page.text
    assert [d.action for d in review.active_decisions(page.now)] == ["flag"]
    page.widget("selectbox", "show").set_value("Flagged").run()
    assert [*page.at.dataframe[0].value["name"]] == ["send_mail"]
    page.press("unflag_")
    assert "Nothing is flagged" in page.text


def test_the_card_says_what_calls_to_two_members_showed(page):
    (mail,) = [c for c in page.now.plan.clusters if c.id == card_id(page)]
    detail = {"verdict": "differs in 1 of 2: *all*", "calls": 2, "differing": 1, "rows": []}
    review.say(page.now, "compare", mail.members[:2], "ann", detail)
    page.open("review", cluster=mail.id)
    assert "differs in 1 of 2\\: \\*all\\*" in page.text
    assert any("were compared" in one for one in by_name(page.work, 1, "send_mail").reasons)


def test_a_duplicate_is_accepted_as_a_family(page):
    page.press("family_")
    assert [said.action for said in review.active_decisions(page.now)] == ["accept"]
    assert by_name(page.work, 1, "send_mail").relation == "family"


@pytest.mark.parametrize(
    ("action", "state"), [("accept", "Accepted"), ("keep_apart", "Kept apart")]
)
def test_decided_clusters_are_listed_and_taken_back(page, action, state):
    page.press(f"{action}_{card_id(page)}")
    page.widget("selectbox", "show").set_value(state).run()
    assert [*page.at.dataframe[0].value["name"]] == ["send_mail"]
    assert not page.widgets("button", "keep_apart_")
    page.press("take_back_")
    assert review.active_decisions(page.now) == ()
    assert f"Nothing has been {state.lower()}" in page.text


def test_filters_narrow_the_queue_and_are_cleared(page):
    page.widget("selectbox", "review_size").set_value("3 to 5").run()
    assert "1 of 3 shown" in page.text
    page.widget("selectbox", "review_objection").set_value("Hidden or hostile text").run()
    assert "No proposal of 3" in page.text
    page.press("review_clear")
    assert "3 of 3 shown" in page.text


def test_another_canonical_can_be_chosen(page):
    page.widget("selectbox", "canonical_").set_value("beta/send_mail").run()
    assert by_name(page.work, 1, "send_mail").canonical == "beta/send_mail"
    assert "send_mail; it is beta/send_mail" in page.text.replace("\\", "")
    assert "chosen (beta/send_mail): " in page.expand("trail").text.replace("\\", "")
    assert shown(page) == "send_mail"
    assert "**send\\_mail** on beta or" in page.text


def test_a_newcomer_is_kept_out_with_the_same_button(open_app):
    before = open_app(on("alpha", MAIL), on("beta", MAIL), SUM)
    review.decide(before.now, "accept", by_name(before.work, 1, "send_mail"), "ann")
    page = open_app().open("review")
    while shown(page) != "send_mail":
        page.press(f"next_{card_id(page)}")
    assert any("**send\\_mail** on gamma" in info.value for info in page.at.info)
    page.press(f"keep_apart_{card_id(page)}")
    mail = by_name(page.work, page.catalog_id, "send_mail")
    assert (len(mail.members), mail.newcomers) == (2, ())


def test_a_queue_is_sorted_by_the_head_of_a_column_and_without_a_chosen_row_leaves_the_card(
    page, monkeypatch
):
    drawn, heads = st.dataframe, []

    def chosen(*args, **options):
        if options.get("key") == "queue" and heads:
            st.session_state["queue"] = {"selection": {"rows": [], "columns": heads.pop()}}
            options["on_select"]()
        return drawn(*args, **options)

    def names(*head):
        """The queue once the head of a column, or that of the sorted one again, was clicked."""
        heads.append(head)
        return list(page.at.run().run().dataframe[0].value["name"])

    monkeypatch.setattr(st, "dataframe", chosen)
    before, card = names(), shown(page)
    assert card == before[0] == "send_mail"
    assert names("name") == sorted(before) != before
    assert names() == sorted(before, reverse=True)
    assert names() == before, "the order it had"
    assert shown(page) == card


def test_keys_can_be_switched_off(page):
    def shortcuts():
        return {b.proto.shortcut for b in page.at.button if b.proto.shortcut}

    assert shortcuts() == set(), "the browser does not listen yet"
    page.at.session_state[LISTENS] = True
    page.at.run()
    assert {key.upper() for key in shortcuts()} >= set("AXFSJKPDNGH")
    page.press("help")
    page.at.toggle(key="keys").set_value(False).run()
    assert shortcuts() == set()
    page.press("flag_")
    assert shortcuts() == {"escape"}, "it closes the note"


def test_text_of_the_catalog_never_forms_markdown(open_app):
    bad = "![x](http://evil.example/x) <img src=x onerror=alert(1)> [a](javascript:alert(1))"
    tools = [
        replace(FILES, id=f"{n}/{bad}", server=n + bad, name=bad, description=bad) for n in "ab"
    ]
    page = open_app(*tools, SUM).open("review")
    assert "evil" in page.text
    assert not re.search(r"(?<!\\)!\[|(?<!\\)\]\(|(?<!\\)<img", page.text)


def test_what_is_in_conflict_cannot_be_accepted_as_it_is(page, monkeypatch):
    queued = review.queue

    def in_conflict(*args):
        return tuple(replace(one, state="conflict") for one in queued(*args))

    assert not page.button(f"accept_{card_id(page)}").disabled
    monkeypatch.setattr(review, "queue", in_conflict)
    page.at.run()
    assert page.button(f"accept_{card_id(page)}").disabled
    assert not page.button(f"keep_apart_{card_id(page)}").disabled


def test_a_catalog_without_an_analysis_offers_to_start_one(open_app):
    page = open_app()
    record = page.work.catalogs.add("Unread", catalog(SUM))
    page.open("review", catalog="Unread")
    assert "Comparing 1 tool takes" in page.text
    page.press("analyse")
    page.after(page.work.analyses.job(record.id))
    assert "Nothing left to review" in page.text


def test_what_was_decided_last_can_be_taken_back_after_the_last_card(page):
    for _ in range(3):
        page.press(f"accept_{card_id(page)}")
    assert "Nothing left to review" in page.text
    before = len(review.active_decisions(page.now))
    page.at.session_state[LISTENS] = True
    page.at.run()
    undo = page.button("undo_")
    assert undo.proto.shortcut
    undo.click().run()
    assert len(review.active_decisions(page.now)) == before - 1
    assert "Nothing left to review" not in page.text


def test_no_two_shortcuts_share_a_key_and_none_is_one_of_streamlits():
    letters = [shortcut.letter for shortcut in SHORTCUTS.values()]
    assert len(set(letters)) == len(letters)
    assert not {"C", "R"} & set(letters)


def test_a_proposal_that_adds_tokens_says_so_and_comes_last(open_app, monkeypatch):
    def size(cluster, tools, format, costs):
        after = 1_220 if cluster.document.name == "send_mail" else 90
        return SizeChange(format, Size(100, 400), Size(after, 4 * after))

    for module in ("ui.shared.services.review", "ui.shared.cards.cards"):
        monkeypatch.setattr(f"{module}.merge_size", size)
    page = open_app().open("review")
    queue = page.at.dataframe[0].value
    assert list(queue["name"])[-1] == "send_mail"
    assert list(map(list, queue["tokens"])) == [["−10"], ["−10"], ["+1,120"]]
    assert "100 → 90 tokens (−10 %), 400 → 360 bytes" in page.text
    page.press("previous_")
    assert ":red-badge[≈ 100 → 1,220 tokens (+1,120 %), 0.4 → 4.9 kB]" in page.text
    assert "longer than what it replaces" in page.text
    page.widget("toggle", "review_larger").set_value(True).run()
    assert list(page.at.dataframe[0].value["name"]) == ["send_mail"]


def test_what_shares_little_with_the_canonical_is_a_text_of_its_own():
    assert "<del" not in word_diff("Send a mail", "Deliver some letter", by_side=True)
    apart = word_diff("Send a mail", "<b>")
    assert apart.count("<p>") == 2 and apart.endswith("<p>+ &lt;b&gt;</p>")
    assert "<ins" in word_diff("Send a mail", "Send a letter")


def test_blind_nothing_of_the_judge_is_on_the_card_until_it_is_turned_off(page):
    def columns():
        return set(page.tables("tools")[0])

    assert "Likelihood" in page.text and {"weakest", "kind"} <= columns()
    page.press("help").widget("toggle", "blind").set_value(True).run()
    assert "Do these tools do the same job?" in page.text
    for word in ("Likelihood", "Agents keep", "Check before", "Safe to accept", "Drop-in"):
        assert word not in page.text
    assert columns() == {"name", "server", "tools"}
    page.press(f"accept_{card_id(page)}")
    assert review.progress(page.now).accepted == 1
    page.widget("toggle", "blind").set_value(False).run()
    assert "Likelihood" in page.text

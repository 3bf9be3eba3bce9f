import json
from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import (
    FILES,
    SUM,
    accept_drop_in,
    by_name,
    on,
    say_one_account,
    tool,
)
from toolscope_core.model.pair import tool_key
from toolscope_core.model.tool import canonical_json
from ui.shared.services import review


@pytest.fixture
def page(open_app):
    tab = open_app()
    say_one_account(tab.work, tab.catalog_id)
    return tab.open("documents", merge=by_name(tab.work, 1, "send_mail").id)


def parameters(page, **change):
    state = {"edited_rows": {}, "added_rows": [], "deleted_rows": [], **change}
    page.at.session_state[f"parameters_{seen(page)}"] = state
    page.at.run()


def seen(page):
    return page.widget("text_input", "name_").key.removeprefix("name_")


def test_the_page_shows_the_document_of_the_cluster_in_the_url_and_of_another_that_is_picked(page):
    assert page.widget("text_input", "name_").value == "send_mail"
    assert page.widget("text_area", "description_").value == "Send a mail to a person."
    assert "Exact copy" in page.text
    assert page.button("save_").disabled
    assert page.button("reset_").disabled
    assert all(not b.proto.shortcut for b in page.at.button)
    wanted = by_name(page.work, 1, "get_weather").id
    page.at.selectbox(key="merge").set_value(wanted).run()
    assert page.widget("text_input", "name_").value == "get_weather"


def test_a_better_description_is_saved_and_stays_a_drop_in_and_a_bad_name_is_told(page):
    page.widget("text_input", "name_").set_value("two words").run()
    assert "use 1 to 64 letters" in page.at.error[0].value and page.button("save_").disabled
    page.widget("text_input", "name_").set_value("send_mail").run()
    page.widget("text_area", "description_").set_value("Mail somebody.").run()
    assert not page.at.warning
    page.press("save_")
    mail = by_name(page.work, 1, "send_mail")
    assert (mail.document.description, mail.kind) == ("Mail somebody.", "drop_in")
    assert page.button("save_").disabled
    page.press("reset_")
    assert by_name(page.work, 1, "send_mail").document.description == "Send a mail to a person."
    notice = "Reset send_mail to the generated document: description"
    assert notice in page.text.replace("\\", "")


def test_a_parameter_renamed_in_the_table_takes_its_calls_along(page):
    parameters(page, edited_rows={0: {"name": "recipient"}})
    assert len(page.at.warning) == 1  # a gateway, and nothing lost
    page.widget("button_group", "way_").select("JSON Schema").run()
    assert "recipient" in page.widget("text_area", "schema_").value
    page.press("save_")
    mail = by_name(page.work, 1, "send_mail")
    assert list(mail.document.schema["properties"]) == ["recipient", "body"]
    assert all(alpha.lossless for alpha in mail.arguments)


def test_a_parameter_added_and_one_removed(page):
    urgent = {"name": "urgent", "type": "boolean", "required": True}
    parameters(page, edited_rows={0: {"enum": ["a"]}}, deleted_rows=[1], added_rows=[urgent])
    assert "body" in "".join(w.value for w in page.at.warning)
    page.press("save_")
    schema = by_name(page.work, 1, "send_mail").document.schema
    to, urgent = {"type": "string", "enum": ["a"]}, {"type": "boolean"}
    assert schema["properties"] == {"to": to, "urgent": urgent}
    assert schema["required"] == ["to", "urgent"]


def test_the_raw_schema_can_be_edited(page):
    page.at.session_state[f"way_{seen(page)}"] = "JSON Schema"
    page.at.run()
    schema = json.loads(page.widget("text_area", "schema_").value)
    schema["properties"]["to"]["description"] = "Whom."
    page.widget("text_area", "schema_").set_value(json.dumps(schema)).run()
    page.press("save_")
    assert by_name(page.work, 1, "send_mail").document.schema == schema


def test_an_edit_on_what_somebody_else_decided_is_refused(page):
    page.widget("text_area", "description_").set_value("Mail somebody.").run()
    mail = by_name(page.work, 1, "send_mail")
    review.decide(page.now, "canonical", mail, "bob", {"canonical": "beta/send_mail"})
    page.button("save_").click().run()
    assert "canonical by bob" in page.at.error[0].value
    assert page.now.log[-1].action == "canonical"


@pytest.fixture
def single(open_app):
    page = open_app(on("alpha", FILES), on("beta", FILES), SUM)
    return page.open("documents", texts="Single tools", single=tool_key(SUM.id))


def test_a_tool_that_nothing_merges_with_is_edited_and_leaves_so(single):
    assert single.widget("text_input", "name_").value == SUM.name
    assert single.button("save_").disabled
    single.widget("text_area", "description_").set_value("Add numbers, as we say it.").run()
    single.press("save_")
    plan = single.now.plan
    assert {one.tool.description for one in plan.tools} > {"Add numbers, as we say it."}
    assert [d.action for d in single.now.log] == ["edit"]
    single.press("reset_")
    assert {one.tool.description for one in single.now.plan.tools} > {SUM.description}


def test_a_single_tool_is_left_out_with_a_reason_and_comes_back(single):
    assert single.button("leave_single").disabled
    single.widget("text_input", "why_single").set_value("nobody <b>calls</b> it").run()
    single.press("leave_single")
    assert single.now.plan.removed == (SUM.id,)
    assert "Left out: nobody \\<b\\>calls" in single.text
    single.press("in_again_single_")
    assert single.now.plan.removed == ()


def test_a_tool_of_an_accepted_merge_says_whose_document_counts(open_app):
    page = open_app(on("alpha", FILES), on("beta", FILES), SUM)
    cluster = next(iter(page.now.plan.clusters))
    accept_drop_in(page.work, 1, "list_files")
    page.open("documents", texts="Single tools", single=tool_key(cluster.canonical))
    assert "part of the accepted merge" in page.text


KEYWORDS = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1},
        "to": {"type": "string", "enum": ["French", "German"], "examples": ["French"]},
        "style": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"f": {}}}]},
    },
    "required": ["text", "to"],
    "additionalProperties": False,
}


@pytest.fixture
def nested(open_app):
    plain = (tool(server, "translate", "Translate a text.") for server in ("s", "t"))
    tab = open_app(*(replace(one, schema=KEYWORDS) for one in plain))
    (cluster,) = tab.now.plan.clusters
    review.decide(tab.now, "accept", cluster, "ann", {})
    return tab.open("documents", merge=cluster.id)


@pytest.mark.case(66)
def test_opening_a_document_with_values_and_nested_keywords_changes_nothing(nested):
    assert all(nested.button(start).disabled for start in ("save_", "reset_", "discard_"))
    (cluster,) = nested.now.plan.clusters
    shown = json.loads(nested.at.code[-1].value)
    assert canonical_json(shown) == canonical_json(cluster.document.schema)


def test_what_was_typed_waits_while_other_pages_are_open(page):
    page.widget("text_input", "name_").set_value("mail_it").run()
    parameters(page, edited_rows={0: {"name": "recipient"}})
    page.open("review")
    page.at.query_params.clear()
    page.open("documents")
    assert page.widget("text_input", "name_").value == "mail_it"
    assert "recipient" in page.at.code[-1].value
    assert "not saved" in str(page.at.selectbox(key="merge").options)
    page.press("save_")
    saved = by_name(page.work, 1, "mail_it").document
    assert list(saved.schema["properties"]) == ["recipient", "body"]
    assert page.button("discard_").disabled


def test_what_cannot_be_saved_waits_too_and_can_be_discarded(page):
    page.at.session_state[f"way_{seen(page)}"] = "JSON Schema"
    page.at.run()
    page.widget("text_area", "schema_").set_value("{").run()
    page.open("review").open("documents")
    assert page.widget("text_area", "schema_").value == "{"
    assert "line 1" in page.at.error[0].value and page.button("save_").disabled
    page.press("discard_")
    assert not page.at.error
    assert page.button("save_").disabled and page.button("discard_").disabled


def typed_in_map(page, tool_id, row, **cells):
    """Type into a row of the table of a member's argument map."""
    page.widget("selectbox", "map_of_").set_value(tool_id).run()
    (key,) = [
        key
        for key in page.at.session_state["map_began"]
        if key.startswith(f"map_{seen(page)}_{tool_key(tool_id)}")
    ]
    state = {"edited_rows": {row: cells}, "added_rows": [], "deleted_rows": []}
    page.at.session_state[key] = state
    page.at.run()


def test_an_argument_map_is_edited_in_place_and_says_at_once_what_it_loses(page):
    assert "Lossless: every old call" in page.text
    typed_in_map(page, "beta/send_mail", 1, becomes="(dropped)")
    assert "without a reason" in page.at.error[0].value
    typed_in_map(page, "beta/send_mail", 1, becomes="(dropped)", reason="one mailbox only")
    assert "would lose" in page.text and "Lossless" not in page.text
    page.press("save_")
    mail = by_name(page.work, 1, "send_mail")
    (alpha,) = [one for one in mail.arguments if one.tool_id == "beta/send_mail"]
    assert list(alpha.dropped.values()) == ["one mailbox only"]
    assert mail.state == "proposed", "a person said so: it may be accepted"
    (reason,) = [one for one in mail.reasons if one.startswith("a person dropped")]
    assert reason.endswith(": one mailbox only")
    review.decide(page.now, "accept", mail, "ann")
    assert by_name(page.work, 1, "send_mail").state == "accepted"


def test_a_call_is_tried_on_the_merged_tool(page):
    page.widget("text_area", "try_").set_value('{"to": "ann", "x": 1}').run()
    assert "does not accept" in page.text
    assert "the call is unchanged" not in page.text
    page.widget("text_area", "try_").set_value('{"to": "ann"}').run()
    assert "the call is unchanged" in page.text
    page.widget("text_area", "try_").set_value("{").run()
    assert "the call cannot be read" in page.at.error[0].value

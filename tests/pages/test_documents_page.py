import json

import pytest

from tests.workspace.desk import SUM, by_name, tool


@pytest.fixture
def page(bench):
    bench = bench()
    return bench.open("documents", cluster=by_name(bench.work, 1, "send_mail").id)


def parameters(page, **change):
    state = {"edited_rows": {}, "added_rows": [], "deleted_rows": [], **change}
    page.at.session_state[f"parameters_{seen(page)}"] = state
    page.at.run()


def seen(page):
    return page.widget("text_input", "name_").key.removeprefix("name_")


def test_the_page_shows_the_document_of_the_cluster_in_the_url(page):
    assert page.widget("text_input", "name_").value == "send_mail"
    assert page.widget("text_area", "description_").value == "Send a mail to a person."
    assert "no code needed" in page.text
    assert page.button("save_").disabled
    assert page.button("reset_").disabled
    assert all(not b.proto.shortcut for b in page.at.button)


def test_a_better_description_is_saved_and_stays_a_prune(page):
    page.widget("text_area", "description_").set_value("Mail somebody.").run()
    assert not page.at.warning
    page.press("save_")
    mail = by_name(page.work, 1, "send_mail")
    assert (mail.document.description, mail.kind) == ("Mail somebody.", "prune")
    assert page.button("save_").disabled
    page.press("reset_")
    assert by_name(page.work, 1, "send_mail").document.description == "Send a mail to a person."


def test_a_new_name_says_that_it_needs_a_gateway(page):
    page.widget("text_input", "name_").set_value("mail_it").run()
    assert "needs a gateway" in page.at.warning[0].value
    page.press("save_")
    assert by_name(page.work, 1, "mail_it").kind == "router"


@pytest.mark.parametrize(
    ("kind", "start", "value", "told"),
    [
        ("text_input", "name_", "two words", "use 1 to 64 letters"),
        ("text_input", "name_", "get_weather", "belongs to another tool"),
        ("text_area", "description_", " ", "the description is empty"),
    ],
)
def test_what_cannot_be_saved_is_told_at_once(page, kind, start, value, told):
    page.widget(kind, start).set_value(value).run()
    assert told in page.at.error[0].value.replace("\\", "")
    assert page.button("save_").disabled


def test_a_parameter_renamed_in_the_table_takes_its_calls_along(page):
    parameters(page, edited_rows={0: {"name": "recipient"}})
    assert len(page.at.warning) == 1  # a gateway, and nothing lost
    page.press("save_")
    mail = by_name(page.work, 1, "send_mail")
    assert list(mail.document.schema["properties"]) == ["recipient", "body"]
    assert all(alpha.lossless for alpha in mail.arguments)


def test_a_parameter_added_and_one_removed(page):
    parameters(page, deleted_rows=[1], added_rows=[{"name": "urgent", "type": "boolean"}])
    assert "body" in "".join(w.value for w in page.at.warning)
    page.press("save_")
    schema = by_name(page.work, 1, "send_mail").document.schema
    assert schema["properties"] == {"to": {"type": "string"}, "urgent": {"type": "boolean"}}
    assert schema["required"] == ["to"]


def test_the_raw_schema_can_be_edited_and_a_slip_is_placed(page):
    page.at.session_state[f"way_{seen(page)}"] = "JSON Schema"
    page.at.run()
    text = page.widget("text_area", "schema_")
    schema = json.loads(text.value)
    text.set_value("{").run()
    assert "line 1" in page.at.error[0].value
    assert page.button("save_").disabled
    schema["properties"]["to"]["description"] = "Whom."
    page.widget("text_area", "schema_").set_value(json.dumps(schema)).run()
    page.press("save_")
    assert by_name(page.work, 1, "send_mail").document.schema == schema


def test_an_edit_on_what_somebody_else_decided_is_refused(page):
    page.widget("text_area", "description_").set_value("Mail somebody.").run()
    mail = by_name(page.work, 1, "send_mail")
    page.review.decide(1, "canonical", mail, "bob", {"canonical": "beta/send_mail"})
    page.button("save_").click().run()
    assert "canonical by bob" in page.at.error[0].value
    assert len(page.review.log(1)) == 1


def test_another_merge_can_be_picked(page):
    wanted = by_name(page.work, 1, "get_weather").id
    page.at.selectbox(key="merge").set_value(wanted).run()
    assert page.widget("text_input", "name_").value == "get_weather"


def test_tools_without_a_description_have_a_document(bench):
    bench = bench(tool("s", "note", ""), tool("t", "note", ""))
    (cluster,) = bench.review.plan(bench.catalog_id).clusters
    bench.open("documents", cluster=cluster.id)
    assert not bench.at.exception


def test_without_merges_there_is_nothing_to_edit(bench):
    assert "no document to edit" in bench(SUM).open("documents").text

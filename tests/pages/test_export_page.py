from dataclasses import replace

import pytest

from tests.workspace.desk import by_name


@pytest.fixture
def page(bench):
    return bench().open("export")


def figures(page):
    return {metric.label: metric.value for metric in page.at.metric}


def test_nothing_is_merged_before_anybody_decided(page):
    assert not page.at.exception
    assert figures(page)["Tools"] == "8 → 8"
    assert "3 proposed merges are not decided" in page.text
    assert not page.at.get("download_button")


def test_the_policy_decides_what_goes_out(page):
    page.at.selectbox(key="accept").set_value("auto").run()
    assert figures(page)["Tools"] == "8 → 7"
    page.at.selectbox(key="accept").set_value("all").run()
    assert figures(page)["Tools"] == "8 → 4"
    merges = page.at.dataframe[-1].value
    assert list(merges["gone"].iloc[0]) == ["beta/get_weather"]


def test_the_bundle_is_made_on_demand_and_goes_stale_with_a_decision(page):
    page.press("prepare")
    (button,) = page.at.get("download_button")
    assert button.proto.label == "Download the bundle"
    files = page.at.dataframe[0].value
    assert files["file"].iloc[0] == "toolset.json"
    assert "send_mail" in page.at.code[0].value
    page.review.decide(1, "accept", by_name(page.work, 1, "send_mail"), "bob")
    page.at.run()
    assert not page.at.get("download_button")
    assert figures(page)["Tools"] == "8 → 6"


def test_an_accepted_router_is_left_out_until_asked_for(page):
    mail = by_name(page.work, 1, "send_mail")
    draft = page.review.draft(1, mail)
    draft = replace(draft, document=replace(draft.document, name="mail.it"))
    page.review.edit(1, mail, draft, "bob")
    page.review.decide(1, "accept", by_name(page.work, 1, "mail.it"), "bob")
    page.at.run()
    assert "1 accepted merges need a gateway" in page.text
    page.at.toggle(key="routers").set_value(True).run()
    assert figures(page)["Tools"] == "8 → 6"
    page.at.selectbox(key="shape_mcp").set_value("anthropic").run()
    assert "mail.it" in page.at.warning[0].value.replace("\\", "")

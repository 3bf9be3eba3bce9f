import pytest

from tests.pages.screen import numbers
from tests.support.model_server import ModelServer
from tests.support.replies import planning, served
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.profile import Profile
from toolscope_core.profiles.intent_cover import with_choice
from ui.profiles import profile_edits

MAIL, SUM = "alpha/send_mail", "beta/add_numbers"


@pytest.fixture
def desk(open_app):
    """The page with one profile, of the tool that adds up."""
    tab = open_app()
    profile_edits.save(tab.now, with_choice(tab.now.plan, Profile("desk"), [SUM], True), "bob")
    return tab.open("profiles")


def edit(page, key, *rows):
    """Change cells of the first rows of a table."""
    state = {"edited_rows": dict(enumerate(rows)), "added_rows": [], "deleted_rows": []}
    page.at.session_state[key] = state
    page.at.run()


def intents_table(page):
    """The last table of requests and the tools that serve them."""
    return page.tables("by")[-1]


def test_a_profile_is_made_from_requests(open_app):
    page = open_app().open("profiles")
    assert "one agent or role" in page.text
    page.widget("text_area", "profile_requests").set_value("Send a mail to a person").run()
    (line,) = [
        one for one in page.text.splitlines() if "toolset" in one and "no request needs" in one
    ]
    taken, _, served, requests, whole, more, unasked = numbers(line)
    assert (served, requests, taken + more + unasked) == (1, 1, whole)
    assert list(intents_table(page)["by"]) == ["alpha_send_mail"], "before it is saved"
    assert page.button("save_profile").disabled, "it has no name yet"
    page.widget("text_input", "profile_name").set_value("desk").run()
    page.press("save_profile")
    chosen = profile_edits.tools_by_profile(page.now)["desk"]
    assert any("send_mail" in one for one in chosen.ids)
    assert chosen.profile.intents == ("Send a mail to a person",)
    assert "**1 of 1 request**" in page.text
    own = ["alpha/send_mail", "beta/send_mail"]
    profile_edits.save(page.now, with_choice(page.now.plan, chosen.profile, own, True), "bob")
    page.at.run()
    (by,) = intents_table(page)["by"]
    assert {"alpha_send_mail", "beta_send_mail"} <= set(by.split(", ")), "accounts told apart"


def test_resources_and_prompts_are_named_one_per_line(desk):
    profile = profile_edits.tools_by_profile(desk.now)["desk"].profile
    key = f"desk_{profile.seq}"
    desk.widget("text_area", f"resources_{key}").set_value("alpha+file:///a\n\nalpha+ui://b").run()
    desk.widget("text_area", f"prompts_{key}").set_value("beta+greet").run()
    desk.press(f"save_passed_{key}")
    profile = profile_edits.tools_by_profile(desk.now)["desk"].profile
    assert profile.resources == ("alpha+file:///a", "alpha+ui://b")
    assert profile.prompts == ("beta+greet",)
    shown = desk.widget("text_area", f"resources_desk_{profile.seq}")
    assert shown.value.splitlines() == [*profile.resources]


def test_a_model_plans_the_requests_when_it_is_asked(open_app):
    page = open_app().open("profiles")
    page.widget("text_area", "profile_requests").set_value("Tell a person\nAdd up").run()
    assert page.widget("segmented_control", "profile_by").disabled, "no model is set up"
    with ModelServer(served(planning(adds_up))) as running:
        page.work.endpoints.save(Endpoint(running.url, "m"))
        page.at.run()
        page.widget("segmented_control", "profile_by").set_value("a model").run()
        assert "Questions: **2** to **m**" in page.text and not running.received
        assert not [one for one in page.at.button if one.key == "save_profile"]
        page.press("ask_plan")
        page.after(page.work.analyses.job(1, "plan"))
        assert running.received
    assert "**1 tool, " in page.text and "Not served (1): Tell a person" in page.text
    page.widget("text_input", "profile_name").set_value("desk").run()
    page.press("save_profile")
    assert profile_edits.tools_by_profile(page.now)["desk"].ids == {SUM}


def adds_up(job, tools):
    place = next((at for at, text in tools.items() if "add_numbers" in text), None)
    return [{"tool": place, "arguments": []}] if place and "Add up" in job else []


def test_ticks_change_the_figures_at_once_and_are_saved_together(desk):
    page = desk
    edit(page, "ticks_1_8", {"in desk": False}, {"in desk": True}, {"in desk": True})
    figures = page.tables("profile")[0]
    assert figures["tools"].to_list() == [2]
    assert profile_edits.tools_by_profile(page.now)["desk"].ids == {SUM}, "nothing is saved yet"
    assert page.button("save_ticks").label == "Save 3 ticks"
    page.press("save_ticks")
    ids = profile_edits.tools_by_profile(page.now)["desk"].ids
    assert len(ids) == 2 and SUM not in ids


def test_words_and_fixed_values_are_checked_and_saved(desk):
    page = desk
    page.at.query_params["profile_part"] = "Words and fixed values"
    page.at.run()
    edit(page, "own_words_desk_1", {"fixed": "{numbers"})
    assert "use JSON such as" in page.text
    edit(page, "own_words_desk_1", {"fixed": '{"numbers": [1]}', "name here": "total"})
    page.press("save_words")
    (item,) = profile_edits.tools_by_profile(page.now)["desk"].tools
    assert item.tool.name == "total"
    assert not item.tool.parameters


def test_rules_and_the_end_of_a_profile(desk):
    page = desk
    page.at.query_params["profile_part"] = "Rules"
    page.at.run()
    page.widget("multiselect", "servers_Include").set_value(["alpha"]).run()
    page.press("save_rules")
    assert MAIL in profile_edits.tools_by_profile(page.now)["desk"].ids
    page.press("delete_profile_desk")
    assert "Profile deleted" in page.text
    assert not profile_edits.tools_by_profile(page.now)

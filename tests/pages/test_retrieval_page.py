"""Retrieval: a request against the toolset as it is and the merged one, side by side."""

import json
import re

import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import planning, served
from tests.tool2vec.tiny_bert import save_tiny_bert
from tests.ui.services import test_learned_searches
from tests.ui.services.small_workspace import add_queries, say_one_account
from toolscope_core.embedding import encoders
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.errors import ModelError
from toolscope_core.tool2vec.training import LearnConfig
from ui.retrieval import learned_panel, plan_panel
from ui.shared.services import learned_searches, searches

QUERIES = [
    {"id": "a", "query": "send a mail", "gold": ["beta/send_mail"]},
    {"id": "b", "query": "mail and weather", "gold": ["alpha/none"], "steps": ["mail", "weather"]},
]


@pytest.fixture
def slow(monkeypatch, tmp_path):
    """Nothing is cached, and nothing is built while a page waits."""
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(searches, "AT_ONCE", -1)


@pytest.fixture
def page(open_app):
    made = open_app()
    add_queries(made.work, made.catalog_id, QUERIES)
    return made


def test_a_request_in_the_address_shows_both_toolsets(page):
    say_one_account(page.work, page.catalog_id)
    page.open("retrieval", q="send a mail", merges="all proposals")
    assert "As it is: 8 tools" in page.text
    assert "Merged: 4 tools" in page.text
    assert "**1 of 1** answers found" in page.text
    before, after = page.tables("elsewhere")
    assert list(before["name"][:3]) == ["send_mail"] * 3
    assert sorted(before["answers"])[-1] == "✓"
    assert list(before["elsewhere"][:4]) == ["1", "1 ▲", "1 ▲", "2 ▲"]
    assert after["merged"][0] == 3
    assert after["elsewhere"][1] == "4 ▲"
    assert "the same job, scores 0.00 apart" in page.text
    assert "Only one of these" in page.text


def test_a_picked_query_becomes_the_request_and_another_request_unpicks_it(page):
    page.open("retrieval")
    page.at.selectbox(key="picked").set_value(1).run()
    assert page.at.text_input(key="q").value == "mail and weather"
    assert "**1** mail; **2** weather" in page.text
    assert "Missed: **alpha/none**" in page.text
    assert set(page.tables("elsewhere")[0]["part"]) <= {"1", "2"}
    page.at.text_input(key="q").set_value("another").run()
    assert page.at.selectbox(key="picked").value is None


def test_servers_are_found_instead(page):
    page.open("retrieval", q="send a mail")
    page.at.segmented_control(key="find").set_value("servers").run()
    before, _ = page.tables("elsewhere")
    assert "As it is: 3 servers" in page.text
    assert re.search(r"\d+% of the results", page.text)
    assert set(before["description"]) == {"made of its tools"}
    assert "scores 0.00 apart" not in page.text
    assert page.at.selectbox(key="corpus").value == "tools and servers"


def ended(page):
    """The job that builds the index, once it has ended; the page is drawn again."""
    page.after(page.now.job(searches.KIND))
    return page.now.job(searches.KIND)


def test_an_index_that_takes_long_is_built_by_a_job(slow, page):
    page.open("retrieval", q="send a mail")
    assert "by words alone (BM25)" in page.text
    assert "send_mail" in set(page.at.dataframe[0].value["tool"])
    assert ended(page).state == "done"
    assert "by words alone" not in page.text
    assert len(page.tables("elsewhere")) == 2


def test_a_failed_building_is_said_and_not_begun_again_unasked(slow, page, monkeypatch):
    def fail(*_):
        raise ModelError("no model; get one")

    monkeypatch.setattr(searches, "run", fail)
    page.open("retrieval", q="send a mail")
    assert ended(page).state == "failed"
    assert "no model; get one" in page.text.replace("\\", "")
    assert [button for button in page.at.button if button.key == "index"]
    assert not page.tables("elsewhere")


@pytest.fixture
def planner(page):
    """A model that sends a mail wherever it can."""

    def calls(job, tools):
        mail = next((at for at, text in tools.items() if "send_mail" in text), None)
        return [{"tool": mail, "arguments": [{"name": "to", "source": "request"}]}] if mail else []

    with ModelServer(served(planning(calls))) as running:
        page.work.endpoints.save(Endpoint(running.url, "m"))
        yield running


def plan(page, **choices):
    """The plan of a request of two jobs."""
    page.open("retrieval", q="mail and weather")
    page.at.segmented_control(key="find").set_value("plan").run()
    for key, value in choices.items():
        kind = "segmented_control" if key == "worker" else "toggle"
        page.widget(kind, key).set_value(value).run()


def asked(page):
    """The job that asks for plans, once it has ended."""
    page.press("ask_plan")
    page.after(page.now.job(plan_panel.KIND))
    return page.now.job(plan_panel.KIND)


def test_a_plan_shows_the_jobs_their_candidates_and_what_is_called(page):
    plan(page)
    assert "**1** mail" in page.text and "**2** weather" in page.text
    assert "Also searched" in page.text
    assert "**0 of 1** answers found" in page.text
    tables = page.tables("called")
    assert len(tables) == 4, "two jobs before and after"
    assert tables[0]["called"][0] == "●" and "send_mail" in set(tables[0]["name"])
    page.widget("toggle", "iterative").set_value(False).run()
    assert "Also searched" not in page.text


def test_a_model_plans_when_it_is_asked_and_not_before(page, planner):
    plan(page, worker="a model", iterative=False)
    assert "Why: not asked" in page.text and not planner.received
    assert asked(page).state == "done"
    assert "Why: chosen by m at" in page.text
    assert any("to: request" in [*table["arguments"]] for table in page.tables("called"))
    runs = page.open("history", history_part="Model runs").at.dataframe[0].value
    assert "plans of requests" in runs.to_string()


def test_a_model_that_refuses_is_said_and_what_was_found_stays(page, planner):
    planner.mode = "refused-key"
    plan(page, worker="a model")
    assert asked(page).state != "done"
    assert page.at.error and "key" in page.text and page.tables("called")


def test_a_model_is_trained_used_and_removed(page):
    add_queries(page.work, page.catalog_id, test_learned_searches.QUERIES, "l.jsonl")
    page.open("retrieval", q="post box letter nine", ranking="Usage")
    assert not page.widgets("button", "remove_model")
    page.press("train_model")
    page.work.analyses.wait(page.now.job(learned_searches.KIND).id)
    page.open("retrieval", q="post box letter nine")
    assert any("recall@5" in one.label for one in page.at.expander)
    assert any("Trained on 13 queries" in one.value for one in page.at.caption)
    before, _ = page.tables("elsewhere")
    assert before["name"][0] == "send_mail"
    page.press("remove_model")
    assert not page.widgets("button", "remove_model") and page.button("train_model")


def test_an_encoder_is_tuned_as_a_job_that_says_its_time(page, tmp_path, monkeypatch):
    tiny = str(save_tiny_bert(tmp_path))
    monkeypatch.setitem(
        learned_panel._METHODS["Learned"],
        "classifier, with tuned encoder",
        LearnConfig("mlc", encoder=tiny),
    )
    add_queries(page.work, page.catalog_id, test_learned_searches.QUERIES, "l.jsonl")
    page.open("retrieval", q="post box letter nine", ranking="Learned")
    assert "Tuning takes" not in page.text
    page.at.selectbox(key="learn_method").select("classifier, with tuned encoder").run()
    assert re.search(r"Tuning takes at most about \d+ s", page.text)
    assert learned_searches.tuning_seconds(page.now) == pytest.approx(13 * 4 * 0.022 * 2)
    page.press("train_model")
    page.work.analyses.wait(page.now.job(learned_searches.KIND).id)
    page.open("retrieval", q="post box letter nine")
    ways = page.tables("ranked by")[0]["ranked by"]
    assert "classifier with a tuned encoder" in set(ways)


def test_the_search_of_a_paper_and_single_settings_of_it_are_chosen(page, monkeypatch):
    def fail(source):
        raise ModelError(f"the cross-encoder '{source}' cannot be loaded")

    monkeypatch.setattr(encoders, "_load_cross_encoder", fail)

    def bars():
        """The shares of the scores before the merge, by the part that gave them."""
        figure = json.loads(page.at.get("plotly_chart")[0].proto.spec)
        return {trace["name"]: trace["x"] for trace in figure["data"]}

    page.open("retrieval", q="mail and weather", search="as in Retrieval–Plan–Select")
    assert list(bars()) == ["dense (meaning)"]
    page.at.number_input(key="dense_weight").set_value(0.0).run()
    assert list(bars()) == ["sparse (words)"]
    page.at.selectbox(key="rerank").set_value("a cross-encoder (ms-marco)").run()
    assert any("MiniLM" in notice.value for notice in (*page.at.warning, *page.at.error))
    page.at.selectbox(key="rerank").set_value("off").run()
    page.at.selectbox(key="assembly").set_value("the best of each part first").run()
    before, _ = page.tables("elsewhere")
    assert list(before["score"][:2]) == [1.0, 1.0], "the best of each of the two parts"

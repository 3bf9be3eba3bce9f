"""Evaluation → Agent runs: asked for with a tick for each server, shown side by side."""

import json
from dataclasses import replace

import pytest

from tests.evaluation.agent.test_agent_run import QUERIES, scripted
from tests.mcp.gateway.stub_toolset import configuration, stub_catalog
from tests.pages.screen import figures
from tests.support.model_server import ModelServer
from tests.ui.services.small_workspace import add_queries
from toolscope_core.model.configuration import AgentConfig, Endpoint
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.pair import Pair
from toolscope_core.store.experiment_rows import get_experiment
from ui.evaluation import agent_jobs, evaluations
from ui.evaluation.agent_jobs import AgentRunRequest
from ui.shared import sign_in
from ui.shared.services import experiments, judging, live_servers, toolsets

SET = "asked.jsonl"
VIEW = {"evaluation_view": "Experiments", "experiment": "Agent runs"}
asks_for_token = sign_in.asks_for_token


@pytest.fixture
def server():
    with ModelServer() as running:
        running.turn = scripted
        yield running


@pytest.fixture
def page(open_app, server, monkeypatch):
    monkeypatch.setattr(sign_in, "is_shared", lambda: False)
    monkeypatch.setattr(sign_in, "asks_for_token", lambda: False)
    page = open_app(*stub_catalog().tools)
    work, catalog_id = page.work, page.catalog_id
    add_queries(work, catalog_id, QUERIES, SET)
    pair = Pair.of("north/get", "north/read_file")
    version = toolsets.version(work.snapshot(catalog_id), (pair.left, pair.right))
    toolsets.relate(work.snapshot(catalog_id), pair, "duplicate", version, "ann")
    return page


def opened(page, server):
    """The panel, with a model to ask."""
    page.work.endpoints.save(Endpoint(server.url, "m"))
    return page.open("evaluation", **VIEW)


def given(page, text):
    page.at.text_area(key="servers_text").set_value(text).run()
    return page


def test_without_a_model_or_beyond_this_machine_it_says_why_not(page, monkeypatch):
    assert "No model" in page.open("evaluation", **VIEW).text
    monkeypatch.setattr(sign_in, "is_shared", lambda: True)
    page.at.run()
    assert "Reading servers is off" in page.text


def test_it_asks_for_the_token_of_this_start(page, server, monkeypatch):
    monkeypatch.setattr(sign_in, "asks_for_token", asks_for_token)
    opened(page, server)
    assert page.at.text_input(key="start_token")
    assert not [one for one in page.at.text_area if one.key == "servers_text"]


def test_nothing_starts_before_every_server_is_ticked(page, server, tmp_path):
    opened(page, server)
    assert "3 requests with two toolsets" in page.text
    assert not [one for one in page.at.button if one.key == "agent_start"]
    given(page, configuration(tmp_path))
    assert "original_stub.py north" in "\n".join(text.value for text in page.at.text)
    assert page.button("agent_start").disabled
    page.tick_servers("north")
    assert page.button("agent_start").disabled and not server.received
    page.tick_servers("south")
    assert not page.button("agent_start").disabled


def test_a_run_is_shown_side_by_side_with_each_request(page, server, tmp_path):
    given(opened(page, server), configuration(tmp_path))
    page.at.toggle(key="agent_changes").set_value(True).run()
    page.tick_servers("north", "south").press("agent_start")
    page.after(judging.job(page.now))
    results = page.tables("figure")[0].set_index("figure")
    assert list(results.loc["tools"][["as it is", "merged"]]) == ["6", "5"]
    assert results.loc["exactly the right tools"]["merged"].startswith("0.667")
    requests = page.tables("request")[0]
    assert requests.iloc[0]["as it is"] == "✗ get, read_file"
    assert requests.iloc[0]["merged"] == "✓ get"
    page.at.session_state["experiment"] = "Kept runs"
    page.at.run()
    run = page.tables("what")[0].iloc[0]
    assert "agent m:" in run["what"] and figures(run["what"], "accepted and safe") == [3]
    (kept,) = experiments.all(page.now)
    assert "north" not in json.dumps(kept.configuration), "nothing of the servers is kept"
    stored = get_experiment(page.work.store, kept.number)
    assert stored.result["requests"][0]["sides"][1]["answer"] == "Done."
    sheet = evaluations.spreadsheet(stored).decode()
    assert len(sheet.splitlines()) == 1 + 2 * 3 and "get, read_file" in sheet


def test_what_cannot_be_started_is_refused_and_what_can_is_given_the_best_tools(
    page, server, tmp_path
):
    opened(page, server)
    servers = live_servers.configuration("mcp.json", configuration(tmp_path).encode())
    keys = {"north": "north", "south": "south"}

    def refused(request, keys, words, is_shared=False):
        with pytest.raises(ConfigError, match=words):
            ticked = live_servers.TickedServers((), servers, keys)
            agent_jobs.start(page.now, request, ticked, is_shared=is_shared)

    wanted = AgentRunRequest(SET, "accepted", first=1, config=AgentConfig(k=2))
    refused(wanted, {"north": "north"}, "'south'")
    refused(wanted, keys, "other machines", is_shared=True)
    refused(replace(wanted, queries="gone"), keys, "no query set 'gone'")
    assert not server.received and experiments.all(page.now) == ()
    agent_jobs.run(page.now, wanted, servers, keys)
    tools = [len(one.body["tools"]) for one in server.received]
    assert set(tools) == {2}, "the best of each request"
    page.work.endpoints.forget()
    refused(wanted, keys, "[Mm]odel")


def test_a_server_of_another_name_is_chosen(page, server, tmp_path):
    text = json.loads(configuration(tmp_path))
    text["mcpServers"]["arctic"] = text["mcpServers"].pop("north")
    given(opened(page, server), json.dumps(text))
    choice = next(one for one in page.at.selectbox if one.label == "Server north")
    assert choice.value is None and page.button("agent_start").disabled
    choice.set_value("arctic").run()
    page.tick_servers("arctic", "south")
    assert not page.button("agent_start").disabled

"""An agent at work as a job: a scripted endpoint over HTTP, two gateways, and the stub servers."""

import json
import re
from dataclasses import replace

import pytest

from tests.evaluation.agent.test_agent_run import QUERIES, scripted
from tests.mcp.gateway.stub_toolset import configuration, stub_catalog
from tests.support.model_server import ModelServer
from tests.ui.services.small_workspace import Functions, add_queries, open_workspace
from toolscope_core.model.configuration import AgentConfig, Endpoint
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.pair import Pair
from toolscope_core.store.experiment_rows import get_experiment
from ui.evaluation import agent_jobs, evaluations
from ui.evaluation.agent_jobs import AGENT, AgentRunRequest
from ui.shared.services import experiments, judging, live_servers, toolsets

KEYS = {"north": "north", "south": "south"}
SET = "asked.jsonl"
WANTED = AgentRunRequest(SET, "accepted", config=AgentConfig(changes=True, concurrency=1))


def open_families():
    """The stub toolset with its drop-in and its family accepted, and a query set."""
    work, catalog_id = open_workspace(*stub_catalog().tools)
    add_queries(work, catalog_id, QUERIES, SET)
    for pair, answer in (
        (Pair.of("north/get", "north/read_file"), "duplicate"),
        (Pair.of("north/work", "south/work"), "family"),
    ):
        version = toolsets.version(work.snapshot(catalog_id), (pair.left, pair.right))
        toolsets.relate(work.snapshot(catalog_id), pair, answer, version, "ann")
    return work, catalog_id


def finished(work, catalog_id):
    return tuple(one for one in experiments.all(work.snapshot(catalog_id)) if one.is_done)


@pytest.fixture
def server():
    with ModelServer() as running:
        running.turn = scripted
        yield running


@pytest.fixture
def own(server):
    work, catalog_id = open_families()
    work.endpoints.save(Endpoint(server.url, "m"))
    return work, catalog_id


@pytest.fixture
def servers(own, tmp_path):
    return live_servers.configuration("mcp.json", configuration(tmp_path).encode())


def test_both_toolsets_are_worked_with_and_kept_as_an_experiment(work, catalog_id, servers, server):
    estimate = agent_jobs.estimate(work.snapshot(catalog_id), WANTED)
    assert (estimate.queries, estimate.most_calls) == (3, 48)
    assert estimate.tools == {"as it is": 6, "merged": 4} and not server.received
    assert agent_jobs.servers(work.snapshot(catalog_id), WANTED) == ("north", "south")
    work.analyses.wait(agent_jobs.start(work.snapshot(catalog_id), WANTED, servers, KEYS))
    (kept,) = finished(work, catalog_id)
    result = get_experiment(work.store, kept.number).result
    before, after = result["sides"]
    assert before["correct"]["mean"] == pytest.approx(1 / 3) and after["correct"]["mean"] == 1.0
    reading = next(one for one in result["requests"] if one["id"] == "q1")
    assert [side["called"] for side in reading["sides"]] == [["get", "read_file"], ["get"]]
    assert [side["right"] for side in reading["sides"]] == [False, True]
    assert reading["sides"][1]["answer"] == "Done."
    (run,) = judging.runs(work.snapshot(catalog_id))
    assert (run.kind, run.state, run.calls) == (AGENT, "done", len(server.received))
    assert kept.configuration["model"] == "m"
    assert evaluations.is_current(work.snapshot(catalog_id), kept)
    assert "north" not in json.dumps(kept.configuration), "nothing of the servers is kept"
    experiment = get_experiment(work.store, kept.number)
    sheet = evaluations.spreadsheet(experiment).decode()
    assert len(sheet.splitlines()) == 1 + 2 * 3 and "get, read_file" in sheet


def test_the_agent_may_be_given_the_best_tools_of_each_request(work, catalog_id, servers, server):
    server.turn = lambda body: {"content": "Nothing to do."}
    wanted = replace(WANTED, first=1, config=AgentConfig(k=2))
    agent_jobs.run(work.snapshot(catalog_id), wanted, servers, KEYS)
    assert [len(one.body["tools"]) for one in server.received] == [2, 2]


def test_what_cannot_be_started_is_refused_before(work, catalog_id, servers, server):
    start = Functions(work, agent_jobs).start
    with pytest.raises(ConfigError, match="'south'"):
        start(catalog_id, WANTED, servers, {"north": "north"})
    with pytest.raises(ConfigError, match="other machines"):
        start(catalog_id, WANTED, servers, KEYS, is_shared=True)
    with pytest.raises(ConfigError, match="no query set 'gone'"):
        start(catalog_id, replace(WANTED, queries="gone"), servers, KEYS)
    work.endpoints.forget()
    with pytest.raises(ConfigError, match=re.compile("model", re.I)):
        start(catalog_id, WANTED, servers, KEYS)
    assert not server.received and finished(work, catalog_id) == ()

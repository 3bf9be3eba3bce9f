"""Plans of requests: jobs, candidates, calls; by score and by a model over real HTTP."""

import json
import re

import pytest

from tests.fakes import WordEmbedder
from tests.model_server import ModelServer
from tests.replies import served
from tests.test_cli import EXAMPLE, run
from toolscope_core.cache import VectorCache
from toolscope_core.datamodel import Tool
from toolscope_core.errors import ConfigError
from toolscope_core.planning import Candidate, PlanJob, by_score, plans_of
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import Retriever

TOOLS = (
    Tool("mail", "send_mail", "send a mail to people"),
    Tool("rain", "get_weather", "tell the weather of a town"),
    Tool("file", "write_file", "write text to a file"),
)
REQUEST = "Look up the weather in Paris and then write it to a file"


@pytest.fixture
def retriever(tmp_path):
    return Retriever(TOOLS, WordEmbedder(), VectorCache(tmp_path))


def plan(retriever, request, worker=by_score, k=2):
    (one,) = plans_of([request], {tool.id: tool for tool in TOOLS}, retriever, worker, k)
    return one


def test_each_job_has_candidates_of_its_own_and_the_best_is_called(retriever):
    request = ToolRequest("both", ("weather of a town", "write a file"))
    planned = plan(retriever, request)
    assert [step.job for step in planned.steps] == list(request.subqueries)
    assert [len(step.candidates) for step in planned.steps] == [2, 2]
    assert planned.tool_ids == ("rain", "file")
    trace = json.loads(json.dumps(planned.as_json()))
    assert trace["steps"][0]["calls"] == [{"tool": "rain", "arguments": {}}]
    assert trace["steps"][0]["candidates"][0]["tool"] == "rain"
    with pytest.raises(ConfigError, match="k is 0"):
        plan(retriever, request, k=0)


def test_a_whole_request_is_one_job_and_one_without_text_finds_nothing(retriever):
    assert [step.job for step in plan(retriever, ToolRequest("send mail")).steps] == ["send mail"]
    (step,) = plan(retriever, ToolRequest(" ")).steps
    assert step.calls == () and step.reason == "nothing was found"


def test_what_is_as_good_as_the_best_is_called_too():
    def calls(*scores, margin=0.05):
        candidates = tuple(
            Candidate(tool, score) for tool, score in zip(TOOLS, scores, strict=False)
        )
        ((chosen, reason),) = by_score([PlanJob("r", "j", candidates)], margin)
        return [one.tool_id for one in chosen], reason

    assert calls(0.9, 0.5, 0.4) == (["mail"], "the best by 0.40")
    assert calls(0.9, 0.88, 0.4)[0] == ["mail", "rain"]
    assert calls(0.9, 0.85)[0] == ["mail"], "the margin itself is apart"
    assert calls(0.9, 0.9, margin=0)[0] == ["mail"]
    assert calls(0.9) == (["mail"], "the only one found")


@pytest.fixture
def server(monkeypatch):
    def reply(request):
        questions = re.findall(r"^(\w{12}): job", request.user, re.MULTILINE)
        return {"answers": [{"question": one, "calls": answer(request)} for one in questions]}

    def answer(request):
        texts = re.findall(r"--- begin tool \d+\.(\d+) .*\n(.*)", request.user)
        wanted = next((at for at, text in texts if "write_note" in text), None)
        arguments = [{"name": state["name"], "source": "request"}] if state["name"] else []
        return [{"tool": int(wanted), "arguments": arguments}] if wanted else []

    state = {"name": ""}
    with ModelServer(served(reply)) as running:
        monkeypatch.setenv("TOOLSCOPE_BASE_URL", running.url)
        monkeypatch.setenv("TOOLSCOPE_MODEL", "m")
        running.state = state
        yield running


def test_the_command_prints_the_jobs_and_their_calls():
    told = run("plan-request", EXAMPLE, "Translate this to French, then write a note of it").output
    assert "job 1: Translate this to French" in told and "job 2: write a note of it" in told
    assert "call wordsmith-text/translate_to_french" in told
    assert "2 rankings, 0 questions to a model" in told


def test_a_model_chooses_and_says_where_arguments_come_from(server):
    asked = ("plan-request", EXAMPLE, "Write a note of it", "--worker", "model", "--json")
    trace = json.loads(run(*asked).output)
    assert (trace["searches"], trace["questions"], trace["tools_shown"]) == (1, 1, 5)
    assert len(server.received) == 1
    again = json.loads(run(*asked).output)
    assert again["tools"] == trace["tools"] and len(server.received) == 1, "the answer is kept"


def test_an_answer_with_a_parameter_that_is_not_there_takes_nothing(server):
    server.state["name"] = "no_such_parameter"
    trace = json.loads(
        run("plan-request", EXAMPLE, "Write a note", "--worker", "model", "--json").output
    )
    (step,) = trace["steps"]
    assert step["calls"] == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((EXAMPLE,), "give a catalog and after it the request"),
        ((EXAMPLE, " "), "the request is empty"),
        ((EXAMPLE, "x", "--decompose", "steps"), "recorded steps are of the queries"),
        ((EXAMPLE, "x", "-k", 0), "k is 0"),
        ((EXAMPLE, "x", "--worker", "model"), "no model is chosen"),
    ],
)
def test_what_cannot_be_planned_is_said(args, message):
    assert message in run("plan-request", *args, code=2).stderr

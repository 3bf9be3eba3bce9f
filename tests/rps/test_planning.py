"""Plans of requests: jobs, candidates, calls; by score and by a model over real HTTP."""

import json
import re
from functools import partial

import pytest

from tests.cli.test_cli import EXAMPLE, run
from tests.profiles.shelf import DELETE, GET, MAIL, READ, plan_of, shelf
from tests.support.fakes import WordEmbedder
from tests.support.json_files import write_lines
from tests.support.printed import figures
from tests.support.replies import PHRASINGS, planning, served
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.rps import workers
from toolscope_core.rps.planner import Planner, plan_figures, planned_intents
from toolscope_core.rps.workers import Candidate, PlannedCall, PlannedStep, RequestPlan

TOOLS = (
    Tool("mail", "send_mail", "send a mail to people"),
    Tool("rain", "get_weather", "tell the weather of a town"),
    Tool("file", "write_file", "write text to a file"),
)


@pytest.fixture
def retriever(tmp_path):
    return Retriever(TOOLS, WordEmbedder(), VectorCache(tmp_path))


def plan(retriever, request, worker=workers.by_score, k=2, **options):
    by_id = {tool.id: tool for tool in TOOLS}
    (one,) = Planner(by_id, retriever, worker, k, **options).plans([request])
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
    def calls(*scores):
        candidates = tuple(
            workers.Candidate(tool, score) for tool, score in zip(TOOLS, scores, strict=False)
        )
        ((chosen, reason),) = workers.by_score([workers.PlanJob("r", "j", candidates)])
        return [one.tool_id for one in chosen], reason

    assert calls(0.9, 0.5, 0.4) == (["mail"], "the best, ahead by 0.40")
    assert calls(0.9, 0.88, 0.4)[0] == ["mail", "rain"]
    assert calls(0.9, 0.85)[0] == ["mail"], "the margin itself is apart"
    assert calls(0.9) == (["mail"], "the only one found")


def widening(retriever, takes, k=1, widest=3):
    """A plan by a worker that takes of the shown tools those in ``takes``."""
    shown = []

    def worker(jobs):
        shown.append([[one.tool.id for one in job.candidates] for job in jobs])
        return [
            (tuple(workers.PlannedCall(i) for i in ids if i in takes), "as it likes")
            for ids in shown[-1]
        ]

    request = ToolRequest("send mail and get weather")
    return plan(retriever, request, worker, k, widest=widest), shown


def test_a_worker_that_takes_nothing_sees_the_next_tools_and_none_twice(retriever, monkeypatch):
    monkeypatch.setattr("toolscope_core.rps.planner.STEP", 1)
    (step,) = plan(retriever, ToolRequest("send mail and get weather")).steps
    best, second = (one.tool.id for one in step.candidates)
    planned, shown = widening(retriever, {second})
    assert shown == [[[best]], [[second]]]
    assert planned.tool_ids == (second,) and planned.steps[0].rounds == 2
    assert [one.tool.id for one in planned.steps[0].candidates] == [best, second]
    monkeypatch.setattr("toolscope_core.rps.planner.STEP", 2)
    _, shown = widening(retriever, set(), k=2)
    assert [len(ids) for ((ids),) in shown] == [2, 1], "2 + 2 is more than the widest, 3"


def test_a_job_that_nothing_fits_takes_the_best_in_the_end(retriever, monkeypatch):
    monkeypatch.setattr("toolscope_core.rps.planner.STEP", 1)
    planned, shown = widening(retriever, set())
    (step,) = planned.steps
    assert planned.tool_ids == (step.candidates[0].tool.id,)
    assert step.rounds == len(shown) and "is taken" in step.reason
    at_once, _ = widening(retriever, set(), k=3)
    assert at_once.tool_ids == planned.tool_ids, "in rounds, also where the first is the widest"
    once, _ = widening(retriever, set(), widest=0)
    assert once.tool_ids == () and once.steps[0].rounds == 1


def test_another_phrasing_finds_what_the_job_does_not(retriever):
    request, phrasings = ToolRequest("write a message"), ("send a mail to people",)
    planned = plan(retriever, request, k=1, rephraser=lambda jobs: [phrasings])
    assert planned.tool_ids == ("mail",) and planned.searches == 2
    assert planned.steps[0].phrasings == phrasings
    assert plan(retriever, request, k=1).tool_ids != ("mail",)


def test_offline_a_job_is_searched_within_its_request_too():
    whole, part = workers.PlanJob("r", "r", ()), workers.PlanJob("both of it", "both", ())
    assert workers.in_request([whole, part]) == [(), ("both both of it",)]


def test_offline_the_filter_drops_what_the_whole_request_does_not_find(retriever, monkeypatch):
    monkeypatch.setattr("toolscope_core.rps.workers.WITHIN", 1)
    request = ToolRequest("tell the weather of a town", ("weather of a town", "write to a file"))
    plan_filter = partial(workers.filtered_by_request, retriever)
    loose, tight = (plan(retriever, request, k=1, plan_filter=one) for one in (None, plan_filter))
    assert loose.tool_ids == tight.called_tools == ("rain", "file")
    assert tight.tool_ids == ("rain",) and "whole request" in tight.dropped["file"]
    assert tight.as_json()["dropped"] == dict(tight.dropped)
    other = ToolRequest("send mail", ("write to a file", "weather of a town"))
    nothing = plan(retriever, other, k=1, plan_filter=plan_filter)
    assert nothing.tool_ids == ("file", "rain"), "a plan is never emptied"


@pytest.fixture
def server(model_server):
    state = {"name": ""}

    def calls(job, tools):
        """The tool of notes, with the parameter of the test."""
        wanted = next((at for at, text in tools.items() if "create_note" in text), None)
        if wanted is None or "French" in job:
            return []
        arguments = [{"name": state["name"], "source": "request"}] if state["name"] else []
        return [{"tool": wanted, "arguments": arguments}]

    model_server.answer, model_server.state = served(planning(calls)), state
    return model_server


def test_the_command_prints_the_jobs_and_their_calls():
    args = ("plan-request", EXAMPLE, "Translate this to French, then write a note of it")
    output = run(*args).output
    assert "job 1: Translate this to French" in output and "job 2: write a note of it" in output
    assert re.findall(r"call \S+/(\w+)", output)[0] == "translate_to_french"
    assert figures(output, "rankings")[1:4] == [4, 0, 0]
    assert figures(run(*args, "--once").output, "rankings")[1:3] == [2, 0]


def test_a_model_chooses_and_says_where_arguments_come_from(server):
    args = ("plan-request", EXAMPLE, "Write a note of it", "--worker", "model", "--once", "--json")
    server.state["name"] = "title"
    trace = json.loads(run(*args).output)
    assert (trace["searches"], trace["questions"], trace["tools_shown"]) == (1, 1, 5)
    assert len(server.received) == 1
    ((call,),) = (step["calls"] for step in trace["steps"])
    assert call["tool"].endswith("/create_note") and call["arguments"] == {"title": "request"}
    again = json.loads(run(*args).output)
    assert again["tools"] == trace["tools"] and len(server.received) == 1, "the answer is kept"
    assert trace["calls"] == 1 and trace["tokens_in"] > 0 and again["calls"] == 0


def test_iteratively_a_model_rephrases_and_looks_through_the_plan(server):
    request = "Write a note of it, then translate this to French"
    args = ("plan-request", EXAMPLE, request, "--worker", "model", "--filter", "--json")
    trace = json.loads(run(*args).output)
    assert [step["phrasings"] for step in trace["steps"]] == [PHRASINGS] * 2
    assert trace["searches"] == 4
    first, second = trace["steps"]
    assert first["rounds"] == 1 and second["rounds"] == 3
    assert "is taken" in second["reason"]
    assert len(trace["tools"]) == 1 and len(trace["dropped"]) == 1
    assert trace["questions"] == 2 + 1 + 3 + 1


def test_a_profile_has_the_tools_that_a_model_plans(server, tmp_path):
    rows = [{"query": "Write a note of it"}, {"query": "Translate this to French"}]
    write_lines(tmp_path / "asked.jsonl", *rows)
    make = ("--name", "notes", "--queries", tmp_path / "asked.jsonl", "--by", "model")
    output = run("profile", EXAMPLE, *make, "--accept", "none").output
    first, second, *_ = output.splitlines()
    assert "create_note: 1 served" in first
    assert second.startswith("notes: 1 tool, ")


def test_an_answer_with_a_parameter_that_is_not_there_is_no_plan(server):
    server.state["name"] = "no_such_parameter"
    plan = ("plan-request", EXAMPLE, "Write a note", "--worker", "model", "--once", "--json")
    result = run(*plan, code=1)
    assert "not a parameter" in result.stderr and not result.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((EXAMPLE,), "name a catalog"),
        ((EXAMPLE, " "), "the request is empty"),
        ((EXAMPLE, "x", "--decompose", "steps"), "recorded steps"),
        ((EXAMPLE, "x", "-k", 0), "k is 0"),
        ((EXAMPLE, "x", "--worker", "model"), "no model is chosen"),
    ],
)
def test_what_cannot_be_planned_is_said(args, message):
    assert message in run("plan-request", *args, code=2).stderr


def test_plans_name_needs_in_the_toolset_of_a_merge():
    plan = plan_of(shelf(), (READ, GET), omitted=(DELETE,))
    kept = plan.phi[READ]
    calls = (workers.PlannedCall(kept), workers.PlannedCall(MAIL))
    steps = (
        workers.PlannedStep("read", (), calls, ""),
        workers.PlannedStep("dance", (), (), "nothing fits"),
    )
    (planned,) = planned_intents(
        [workers.RequestPlan("x", steps, {MAIL: "not requests for"})], plan
    )
    assert planned.needs == (frozenset({READ, GET} & {kept}), frozenset())


# Figures of plans, worked out by hand.

BY_NAME = {name: Tool(name, name, name) for name in "abcd"}


def step(shown, called, phrasings=()):
    candidates = tuple(Candidate(BY_NAME[name], 0.5) for name in shown)
    return PlannedStep("job", candidates, tuple(map(PlannedCall, called)), "", phrasings)


def test_sets_are_averaged_over_queries_and_work_is_counted():
    """The first plan calls *a* and *b* for *a* and *c*: half of both. The second drops *d*, which
    nobody needs, and has exactly *b*.
    """
    plans = (
        RequestPlan("r", (step("ab", "a", ("other words",)), step("bcd", "b"))),
        RequestPlan("s", (step("bd", "bd"),), dropped={"d": "not needed"}),
    )
    golds = ((frozenset("a"), frozenset("c")), (frozenset("bd"),))
    figures = plan_figures(plans, golds, lambda tool: 10)
    assert figures.queries == 2
    assert figures.precision.mean == (0.5 + 1) / 2
    assert figures.recall.mean == (0.5 + 1) / 2
    assert figures.f1.mean == pytest.approx((0.5 + 1) / 2)
    assert figures.exact.mean == 0.5
    assert (figures.jobs, figures.searches) == (1.5, (3 + 1) / 2)
    assert (figures.tools_called, figures.tools_shown) == (1.5, (5 + 2) / 2)
    assert figures.tokens_shown == 35.0
    assert figures.recall.low <= 0.75

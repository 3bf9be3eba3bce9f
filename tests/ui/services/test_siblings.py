"""Siblings that collide: listed, told apart, measured, saved, taken back."""

import json

import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import served
from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import TEXT, tool
from toolscope_core.model.configuration import Endpoint, PlanConfig
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair
from ui.documents.siblings import Siblings
from ui.shared.services.exports import Exports
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.model_runs import ModelRuns
from ui.shared.services.reviewed_variants import Variants

TEXT_OF_BOTH = "Get the airport of a flight as a code and as a name in plain words"
START = tool("alpha", "get_flight_origin", TEXT_OF_BOTH, flight=TEXT)
END = tool("alpha", "get_flight_goal", TEXT_OF_BOTH, flight=TEXT, day=TEXT)
OTHER = tool("alpha", "add_numbers", "Add up numbers", numbers=TEXT)
PAIR = Pair.of(START.id, END.id)
QUERIES = [
    {"id": "a", "query": "the goal of a flight", "gold": [END.id]},
    {"id": "b", "query": "the airport", "gold": [START.id, END.id]},
    {"id": "c", "query": "add numbers", "gold": [OTHER.id]},
]


@pytest.fixture
def flights():
    work, i = small_workspace.open_workspace(START, END, OTHER)
    yield work, i
    work.close()


def test_what_leaves_otherwise_is_not_listed_and_what_people_keep_apart_is(flights):
    work, i = flights
    work.toolsets.leave_out(i, [START.id], "ann", "not used")
    assert work.service(Siblings).pairs(i, 0.6) == ()
    work.review.undo(i, "ann", work.review.standing(i)[0].seq)
    both = [START.id, END.id]
    work.toolsets.never_merge(i, both, work.toolsets.version(i, both), "ann")
    assert [one.pair for one in work.service(Siblings).pairs(i, 0.6)] == [PAIR]


def test_the_effect_is_on_the_texts_and_on_requests_that_one_of_them_answers(flights):
    work, i = flights
    work.service(LoadedQueries).add(i, "\n".join(map(json.dumps, QUERIES)).encode(), "q.jsonl")
    (one,) = work.service(Siblings).pairs(i, 0.6)
    card = work.service(Siblings).card(i, one)
    assert card.standing == {START.id: START.description, END.id: END.description}
    assert card.offline[END.id] == f"Goal: {TEXT_OF_BOTH}"
    assert not card.is_edited and card.by_model == {}
    effect = work.service(Siblings).effect(i, PAIR, card.offline)
    assert effect.after < effect.before
    (query,) = effect.queries
    assert query.text == "the goal of a flight" and query.right == END.id
    assert query.after > query.before and effect.right == (1, 1)
    same = work.service(Siblings).effect(i, PAIR, card.standing)
    assert same.after == pytest.approx(same.before)
    row = {"tool": START.id, "expanded": "", "questions": ["where does it start"]}
    work.service(Variants).add(i, json.dumps(row).encode(), "v.jsonl")
    work.service(Variants).accept_clean(i, "ann")
    asked = {query.text for query in work.service(Siblings).effect(i, PAIR, card.offline).queries}
    assert asked == {"the goal of a flight", "where does it start"}


def test_saved_descriptions_are_edits_that_leave_and_come_back(flights):
    work, i = flights
    (one,) = work.service(Siblings).pairs(i, 0.6)
    card = work.service(Siblings).card(i, one)
    written = {START.id: START.description, END.id: card.offline[END.id]}
    (decision,) = work.service(Siblings).save(i, written, "ann")
    assert decision.action == "edit" and work.service(Siblings).edited(i) == {END.id}
    assert work.service(Siblings).card(i, one).is_edited
    toolset = json.loads(work.service(Exports).bundle(i, PlanConfig(), "neutral")["toolset.json"])
    by_id = {row["id"]: row["description"] for row in toolset["tools"]}
    assert by_id[END.id] == written[END.id] and by_id[START.id] == START.description
    with pytest.raises(DecisionError, match="neither description was changed"):
        work.service(Siblings).save(i, written, "ann")
    work.review.undo(i, "ann", work.review.standing(i)[0].seq)
    assert work.service(Siblings).edited(i) == frozenset()


def test_a_model_writes_descriptions_as_a_run(flights):
    work, i = flights
    shown = []

    def reply(request):
        shown.append(request.user)
        question = request.user.split("\nQuestions:\n")[1][:12]
        first = "origin" in request.user.split("--- begin ")[1]
        texts = ["Origin of a flight.", "Goal of a flight."]
        one, other = texts if first else texts[::-1]
        return {"answers": [{"question": question, "first": one, "second": other}]}

    with ModelServer(served(reply)) as server:
        work.endpoints.save(Endpoint(server.url, "m"))
        assert work.service(ModelRuns).estimate(i, "siblings").questions == 1
        run = work.service(ModelRuns).run(i, "siblings")
        (one,) = work.service(Siblings).pairs(i, 0.6)
        card = work.service(Siblings).card(i, one)
        assert work.service(ModelRuns).estimate(i, "siblings").questions == 0
    assert run.state == "done" and len(shown) == 1
    assert card.by_model == {START.id: "Origin of a flight.", END.id: "Goal of a flight."}

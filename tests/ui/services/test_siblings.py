"""Siblings that collide: listed, told apart, measured, saved, taken back."""

import json

import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import served
from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import TEXT, add_queries, tool
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Augmentation
from ui.documents import siblings as siblings_module
from ui.shared.services import loaded_queries, model_runs, reviewed_variants

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
REQUESTS = "\n".join(
    json.dumps({"id": text, "query": text, "gold": [END.id]})
    for text in ("goal in plain words", "goal as a code", "the goal of it", "a goal as code")
).encode()


@pytest.fixture
def flights():
    work, i = small_workspace.open_workspace(START, END, OTHER)
    return work, i, small_workspace.Functions(work, siblings_module)


def queries(card):
    """The requests that the last rewrite of a card is measured on."""
    last = card.rewrites[-1]
    return [*last.training.queries, *last.held_out.queries]


def test_the_effect_is_on_the_texts_and_on_requests_that_one_of_them_answers(flights):
    work, i, siblings = flights
    add_queries(work, i, QUERIES)
    (one,) = siblings.pairs(i, 0.6)
    card = siblings.card(i, one)
    assert card.descriptions == {START.id: START.description, END.id: END.description}
    clause, in_front = (one.rewrite for one in card.rewrites)
    assert clause.descriptions[END.id] == f"Use for goal: {TEXT_OF_BOTH}"
    assert in_front.descriptions[END.id] == f"Goal: {TEXT_OF_BOTH}"
    assert not card.is_edited
    similarity = siblings.similarity
    assert similarity(i, card.descriptions) == pytest.approx(one.similarity, abs=1e-5)
    assert similarity(i, in_front.descriptions) < one.similarity
    (query,) = queries(card)
    assert query.text == "the goal of a flight"
    assert query.after > query.before
    row = {"tool": START.id, "expanded": "", "questions": ["where does it start"]}
    reviewed_variants.add(work.snapshot(i), json.dumps(row).encode(), "v.jsonl")
    small_workspace.accept_variants(small_workspace.Functions(work, reviewed_variants), i)
    requests = {query.text for query in queries(siblings.card(i, one))}
    assert requests == {"the goal of a flight", "where does it start"}


def test_a_model_writes_descriptions_as_a_run(flights):
    work, i, siblings = flights
    shown = []

    def reply(request):
        shown.append(request.user)
        question = request.user.split("\nQuestions:\n")[1][:12]
        first = "origin" in request.user.split("--- begin ")[1]
        texts = ["Origin of a flight.", "Goal of a flight."]
        one, other = texts if first else texts[::-1]
        answer = {"first": one, "second": other, "first_clause": "", "second_clause": "For ends:"}
        return {"answers": [{"question": question, **answer}]}

    with ModelServer(served(reply)) as server:
        work.endpoints.save(Endpoint(server.url, "m"))
        assert model_runs.estimate(work.snapshot(i), "siblings").questions == 1
        run = model_runs.run(work.snapshot(i), "siblings")
        (one,) = siblings.pairs(i, 0.6)
        card = siblings.card(i, one)
        assert model_runs.estimate(work.snapshot(i), "siblings").questions == 0
    assert run.state == "done" and len(shown) == 1
    clause, whole = (one.rewrite for one in card.rewrites if "model" in one.rewrite.way)
    assert whole.descriptions == {START.id: "Origin of a flight.", END.id: "Goal of a flight."}
    assert sorted(clause.descriptions.values()) == [f"For ends: {TEXT_OF_BOTH}", TEXT_OF_BOTH]


def test_what_wins_is_saved_unseen_and_nothing_else(flights):
    """A request that the other tool takes comes to its own by a clause of its word."""
    work, i, siblings = flights
    assert siblings.winning(i, 0.6) == {}
    loaded_queries.add(work.snapshot(i), REQUESTS, "q.jsonl")
    (one,) = siblings.pairs(i, 0.6)
    clause, *_ = siblings.card(i, one).rewrites
    assert clause.wins and siblings.winning(i, 0.6) == clause.rewrite.descriptions
    siblings.save(i, clause.rewrite.descriptions, "ann")
    assert siblings.winning(i, 0.6) == {}  # both have other descriptions now
    with pytest.raises(DecisionError, match="neither"):
        siblings.save(i, clause.rewrite.descriptions, "ann")


def test_of_a_variant_the_clause_that_wins_is_accepted_before_its_whole_text(flights):
    work, i, _ = flights
    row = {"tool": END.id, "expanded": TEXT_OF_BOTH.upper(), "questions": ["how does it end"]}
    reviewed_variants.add(work.snapshot(i), json.dumps(row).encode(), "v.jsonl")
    clause, whole = reviewed_variants.rewrites(work.snapshot(i), END.id, row["expanded"])
    assert clause.in_words == whole.in_words == "not enough requests to tell (n = 0)"
    loaded_queries.add(work.snapshot(i), REQUESTS, "q.jsonl")
    clause, whole = reviewed_variants.rewrites(work.snapshot(i), END.id, row["expanded"])
    assert clause.wins and "2 requests won, none lost" in clause.in_words
    assert not whole.wins and "no request is won" in whole.in_words
    reviewed_variants.accept_measured(work.snapshot(i), "ann")
    assert reviewed_variants.accepted_variants(work.snapshot(i)) == {
        END.id: Augmentation(f"Use for goal: {TEXT_OF_BOTH}", ("how does it end",))
    }

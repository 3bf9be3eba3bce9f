"""Models trained from a catalog's query sets: both sides of the merge, stale tools, removal."""

from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import Functions, add_queries, by_name
from toolscope_core.model.errors import ConfigError
from toolscope_core.store.experiment_rows import get_experiment
from toolscope_core.tool2vec.training import LearnConfig
from ui.evaluation import evaluations, measured_sides
from ui.evaluation.experiment_requests import ExperimentRequest
from ui.shared.services import learned_searches, review

ASKED = "put a letter in the post box nine"
QUERIES = [
    {"query": f"{words} {number}", "gold": [tool]}
    for words, tool in (
        ("put a letter in the post box", "beta/send_mail"),
        ("umbrella or sunglasses", "beta/get_weather"),
    )
    for number in "one two three four five six".split()
]


@pytest.fixture(scope="module")
def own(shared):
    work, catalog_id = shared
    add_queries(work, catalog_id, QUERIES, "logged.jsonl")
    mails = by_name(work, catalog_id, "send_mail")
    review.decide(work.snapshot(catalog_id), "accept", mails, "ann")
    assert learned_searches.view(work.snapshot(catalog_id), "usage") is None
    job = learned_searches.start(work.snapshot(catalog_id), LearnConfig("tool2vec"))
    work.analyses.wait(job)
    return work, catalog_id


def test_evaluations_list_it_and_ask_what_it_did_not_learn_from(work, catalog_id):
    sides = Functions(work, measured_sides).names(catalog_id)
    assert {"as it is, by usage", "accepted and safe, by usage"} <= set(sides)
    assert "as it is, learned" not in sides
    wanted = ExperimentRequest(queries="logged.jsonl", after="as it is, by usage")
    with pytest.raises(ConfigError, match=r"logged\.jsonl"):
        evaluations.run(work.snapshot(catalog_id), wanted)
    with pytest.raises(ConfigError, match="'as it is, learned'"):
        evaluations.run(work.snapshot(catalog_id), replace(wanted, after="as it is, learned"))
    later = [*QUERIES[:1], {"query": ASKED, "gold": ["beta/send_mail"]}]
    add_queries(work, catalog_id, later, "later.jsonl")
    number = evaluations.run(work.snapshot(catalog_id), replace(wanted, queries="later.jsonl"))
    result = get_experiment(work.store, number).result
    assert [one["query"] for one in result["queries"]] == [ASKED]
    assert result["after"]["name"] == "as it is, by usage"


def test_a_damaged_model_is_said_and_can_be_removed(work, catalog_id):
    (card,) = work.vectors.folder.glob("learned/*/usage/before/model.json")
    whole = card.read_bytes()
    card.write_bytes(whole.replace(b"recall@5", b"recall#5"))
    manifest = card.with_name("manifest.json")
    manifest.write_bytes(manifest.read_bytes() + b" ")
    with pytest.raises(ConfigError, match=r"model\.json"):
        learned_searches.view(work.snapshot(catalog_id), "usage")
    learned_searches.delete(work.snapshot(catalog_id), "usage")
    assert learned_searches.view(work.snapshot(catalog_id), "usage") is None

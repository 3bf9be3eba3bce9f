"""Document variants of a catalog: loaded, decided on, searched, exported, taken back."""

import json
from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import (
    MAIL,
    TOOLS,
    Functions,
    accept_variants,
    add_queries,
    catalog,
)
from toolscope_core.catalog.document_variants import variants_in
from toolscope_core.decisions.decision_lines import decisions_in
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Augmentation
from toolscope_core.store.experiment_rows import get_experiment
from ui.evaluation import evaluations, measured_sides
from ui.evaluation.experiment_requests import ExperimentRequest
from ui.evaluation.measured_sides import VARIANT_SIDES
from ui.shared.services import exports, review, reviewed_variants, searches
from ui.shared.services.searches import Lookup

WRITTEN = Augmentation("Sends a mail to somebody.", ("Write to Ann about lunch",))
ROWS = [
    {"tool": "alpha/send_mail", "expanded": WRITTEN.expanded, "questions": list(WRITTEN.questions)},
    {
        "tool": "beta/get_weather",
        "expanded": "Tells the weather.",
        "questions": ["Take an umbrella today"],
    },
    {"tool": "add_numbers", "expanded": "See https://evil.example.", "questions": []},
    {"tool": "gone", "expanded": "Nothing.", "questions": []},
]
LINES = "\n".join(map(json.dumps, ROWS)).encode()


@pytest.fixture
def variants(work):
    return Functions(work, reviewed_variants)


@pytest.fixture
def own(own):
    work, catalog_id = own
    loaded = variants_in(LINES, "v.jsonl", work.snapshot(catalog_id).catalog)
    assert loaded.unknown_names == ("gone",)
    assert reviewed_variants.views(work.snapshot(catalog_id)) == ()
    assert reviewed_variants.add(work.snapshot(catalog_id), LINES, "v.jsonl") == 3
    return own


def states(work, catalog_id):
    return {view.tool.id: view.state for view in reviewed_variants.views(work.snapshot(catalog_id))}


def first(work, catalog_id, **change):
    lookup = Lookup("take an umbrella today", k=1, **change)
    view = searches.look(work.snapshot(catalog_id), lookup)
    return [place.name for place in view.after.places]


def test_nothing_is_read_before_somebody_accepts_it(work, catalog_id, variants):
    assert set(states(work, catalog_id).values()) == {"waiting"}
    assert variants.accepted_variants(catalog_id) == {}
    assert first(work, catalog_id) != ["get_weather"]
    accept_variants(variants, catalog_id)
    assert states(work, catalog_id) == {
        "alpha/send_mail": "accepted",
        "beta/get_weather": "accepted",
        "beta/add_numbers": "waiting",  # it cites an address that its tool does not
    }


def test_searches_read_what_was_accepted_unless_told_otherwise(work, catalog_id, variants):
    everything = {tool.id: Augmentation(tool.description) for tool in TOOLS}
    asked = Augmentation("", ("Take an umbrella today",))
    variants.decide(catalog_id, {**everything, "beta/get_weather": asked}, "ann")
    assert first(work, catalog_id) == ["get_weather"]
    assert first(work, catalog_id, variants=False) != ["get_weather"]


def test_merges_and_variants_do_not_wait_for_each_other(work, catalog_id, variants):
    queue = review.queue(work.snapshot(catalog_id))
    mail = next(one for one in queue if "alpha/send_mail" in one.members)
    both = dict.fromkeys(("alpha/send_mail", "beta/send_mail"), WRITTEN)
    written = variants.decide(catalog_id, both, "ann")
    accepted = [review.decide(work.snapshot(catalog_id), "accept", mail, "ann") for _ in "12"]
    assert accepted[0] == accepted[1], "as it was shown before"
    review.undo(work.snapshot(catalog_id), "ann", written.seq)
    again = variants.decide(catalog_id, both, "ann")
    review.undo(work.snapshot(catalog_id), "ann", accepted[0].seq)
    assert again in review.active_decisions(work.snapshot(catalog_id))


def test_a_changed_tool_loses_its_variant_and_the_others_keep_theirs(work, catalog_id, variants):
    accept_variants(variants, catalog_id)
    others = [tool for tool in TOOLS if tool.id != MAIL.id]
    newer = work.catalogs.add("Desk", catalog(replace(MAIL, description="Post."), *others)).id
    assert set(variants.accepted_variants(newer)) == {"beta/get_weather"}
    assert "alpha/send_mail" not in states(work, newer)


def test_the_bundle_has_them_by_the_ids_that_leave_and_replays_them(work, catalog_id, variants):
    config = PlanConfig(accept="auto")
    assert "variants.jsonl" not in exports.bundle(work.snapshot(catalog_id), config)
    accept_variants(variants, catalog_id)
    files = exports.bundle(work.snapshot(catalog_id), config)
    rows = [json.loads(line) for line in files["variants.jsonl"].splitlines()]
    leaving = {item.tool.id for item in work.snapshot(catalog_id).plan_under(config).tools}
    assert {row["tool"] for row in rows} <= leaving
    assert [row["questions"] for row in rows if "mail" in row["tool"]] == [list(WRITTEN.questions)]
    assert "variants.jsonl" in json.loads(files["manifest.json"])["sha256"]
    replayed = decisions_in(work.snapshot(catalog_id).catalog, files["decisions.jsonl"], "d.jsonl")
    assert [one.action for one in replayed] == ["augment"]


def test_they_are_measured_beside_the_toolset_as_it_is(work, catalog_id, variants):
    assert "with variants" not in Functions(work, measured_sides).names(catalog_id)
    accept_variants(variants, catalog_id)

    assert set(VARIANT_SIDES) <= set(Functions(work, measured_sides).names(catalog_id))
    for side in VARIANT_SIDES:
        number = evaluations.run(work.snapshot(catalog_id), ExperimentRequest(after=side))
        assert get_experiment(work.store, number).is_done


def test_unseen_only_those_are_accepted_that_lose_no_request(work, catalog_id, variants):
    with pytest.raises(DecisionError, match="no query set"):
        variants.accept_measured(catalog_id, "ann")
    rows = [
        {"id": "a", "query": "get the weather", "gold": ["beta/get_weather"]},
        {"id": "b", "query": "send a mail", "gold": ["alpha/send_mail"]},
        {"id": "c", "query": "up", "gold": ["beta/add_numbers"]},
    ]
    worse = {"tool": "beta/add_numbers", "expanded": "Send a mail.", "questions": []}
    variants.add(catalog_id, json.dumps(worse).encode(), "worse.jsonl")
    add_queries(work, catalog_id, rows)
    variants.accept_measured(catalog_id, "ann")
    assert set(variants.accepted_variants(catalog_id)) == {"alpha/send_mail", "beta/get_weather"}
    with pytest.raises(DecisionError, match="loses some"):
        variants.accept_measured(catalog_id, "ann")

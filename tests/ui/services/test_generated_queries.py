"""Queries of a model, over real HTTP: asked for, paused, gone on with, reviewed, kept as a set."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import served, writing
from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import add_queries
from toolscope_core.model.configuration import Endpoint, QueryGeneration
from toolscope_core.model.errors import ConfigError, JobError
from toolscope_core.store.experiment_rows import get_experiment
from toolscope_core.store.named_rows import SET_NAME
from ui.evaluation import evaluations
from ui.evaluation.evaluations import ExperimentRequest
from ui.shared.services import generated_queries, judging, loaded_queries

WANTED = QueryGeneration(4)


@pytest.fixture
def server():
    with ModelServer(served(writing())) as running:
        yield running


@pytest.fixture
def own(own, server):
    own[0].endpoints.save(Endpoint(server.url, "m", concurrency=1))
    return own


@pytest.fixture
def drafts(work):
    return small_workspace.Functions(work, generated_queries)


@pytest.fixture
def written(drafts, catalog_id):
    drafts.run(catalog_id, WANTED)


def run(work, catalog_id):
    """How a job that was waited for ended."""
    job = generated_queries.start(work.snapshot(catalog_id), WANTED)
    with suppress(JobError):
        work.analyses.wait(job)
    return work.analyses.watch(job)


def rows(work, catalog_id):
    return [view.query for view in generated_queries.views(work.snapshot(catalog_id))]


def sets(work, catalog_id):
    return {view.name: view for view in loaded_queries.sets(work.snapshot(catalog_id))}


def test_nothing_is_a_query_set_before_somebody_keeps_it(work, catalog_id, drafts, written):
    queries = rows(work, catalog_id)
    assert len(queries) == 4 and {row.state for row in queries} == {"waiting"}
    assert sets(work, catalog_id) == {} and drafts.file(catalog_id) == b""
    assert drafts.covered_count(catalog_id) == 0
    every = drafts.covered_count(catalog_id, with_waiting=True)
    assert every == len(small_workspace.TOOLS), "copies answer too"
    assert drafts.keep_clean(catalog_id) > 0
    kept = [row for row in rows(work, catalog_id) if row.state == "kept"]
    (name,) = sets(work, catalog_id)
    view = sets(work, catalog_id)[name]
    assert name == SET_NAME and view.unknown == ()
    assert [query.text for query in view.content.queries] == [row.text for row in kept]
    assert 2 <= drafts.covered_count(catalog_id) <= len(small_workspace.TOOLS)
    lines = [json.loads(line) for line in drafts.file(catalog_id).splitlines()]
    assert [line["query"] for line in lines] == [row.text for row in kept]
    number = evaluations.run(work.snapshot(catalog_id), ExperimentRequest(queries=SET_NAME))
    assert get_experiment(work.store, number).is_done


def test_what_was_cleared_is_on_offer_again_at_no_cost(work, catalog_id, drafts, written):
    drafts.decide(catalog_id, rows(work, catalog_id)[:1], "dropped")
    assert drafts.clear(catalog_id) == 1 and len(rows(work, catalog_id)) == 3
    drafts.run(catalog_id, WANTED)
    assert len(rows(work, catalog_id)) == 4
    assert judging.runs(work.snapshot(catalog_id))[0].calls == 0


def test_an_edit_is_kept_for_all_versions_and_one_that_cannot_be_used_is_refused(
    work, catalog_id, drafts, written
):
    shown = rows(work, catalog_id)[0]
    for bad in ("Mail it.", "x" * 601, "Mail the list of my files\u200b to Ann."):
        with pytest.raises(ConfigError, match="cannot be kept"):
            drafts.edit(catalog_id, shown, bad)
    text = "Mail the list\nof my  files to Ann."
    drafts.edit(catalog_id, shown, text)
    edited = rows(work, catalog_id)[0]
    assert (edited.state, edited.text) == ("kept", " ".join(text.split()))
    assert edited.draft == shown.draft
    flaws = drafts.flaws(catalog_id, shown, f"Use {shown.tools[0].split('/')[1]} for it")
    assert [flaw.code for flaw in flaws] == ["name"]
    others = [one for one in small_workspace.TOOLS if one.id != shown.tools[0]]
    newer = work.catalogs.add("Desk", small_workspace.catalog(*others)).id
    (view, *_) = drafts.views(newer)
    assert "gone" in {flaw.code for flaw in view.flaws}
    assert sets(work, newer)[SET_NAME].content.queries


@pytest.mark.parametrize("mode", ["refusal", "malformed"])
def test_a_model_that_never_answers_well_leaves_reasons_until_it_does(
    work, catalog_id, server, mode
):
    server.mode = mode
    job = run(work, catalog_id)
    assert job.state == "failed" and "4 of 4 answers" in job.message
    queries = rows(work, catalog_id)
    assert len(queries) == 4 and {row.state for row in queries} == {"failed"}
    assert all(row.reason and not row.text for row in queries)
    assert generated_queries.decide(work.snapshot(catalog_id), queries, "kept") == 0
    assert sets(work, catalog_id) == {}
    server.mode = "ok"
    assert run(work, catalog_id).state == "done"
    again = rows(work, catalog_id)
    assert {row.state for row in again} == {"waiting"}
    assert {row.key for row in again} == {row.key for row in queries}


def test_tools_with_queries_of_people_come_last_and_copies_are_pointed_out(
    work, catalog_id, drafts, written, server
):
    first = rows(work, catalog_id)[0]
    own = {"query": first.text.upper(), "gold": list(first.tools)}
    add_queries(work, catalog_id, [own], "people.jsonl")
    assert [flaw.code for flaw in drafts.views(catalog_id)[0].flaws] == ["copy"]
    drafts.run(catalog_id, replace(WANTED, count=2))
    served_to = json.dumps([got.user for got in server.received])
    assert first.text.upper()[:40] in served_to, "it is an example now"
    shown = work.snapshot(catalog_id).catalog.by_id[first.tools[0]]
    questions = drafts._questions(catalog_id, replace(WANTED, count=2))
    assert shown.name not in [question.tools[0].name for question in questions]


def test_a_dropped_query_makes_no_copy_of_another(own, server):
    work, catalog_id = own
    server.answer = served(writing(polish=lambda text: "Ann wants to know it by noon."))
    generated_queries.run(work.snapshot(catalog_id), WANTED)
    views = generated_queries.views(work.snapshot(catalog_id))
    assert [bool(view.flaws) for view in views] == [False, True, True, True]
    generated_queries.decide(work.snapshot(catalog_id), [views[0].query], "dropped")
    views = generated_queries.views(work.snapshot(catalog_id))
    assert [bool(view.flaws) for view in views] == [False, False, True, True]

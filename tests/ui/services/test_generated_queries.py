"""Queries of a model, over real HTTP: asked for, paused, gone on with, reviewed, kept as a set."""

from contextlib import suppress

import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import served, writing
from tests.ui.services import small_workspace
from toolscope_core.model.configuration import Endpoint, QueryGeneration
from toolscope_core.model.errors import ConfigError, JobError
from toolscope_core.store.named_rows import SET_NAME
from ui.shared.services import generated_queries, loaded_queries

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

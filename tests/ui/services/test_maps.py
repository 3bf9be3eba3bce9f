"""Projections are made once and kept; the merged panel; colours."""

from threading import Event

import numpy as np
import pytest

from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import accept_drop_in, by_name
from toolscope_core.embedding import projection
from toolscope_core.model.errors import ConfigError, JobError
from ui.overlap import maps
from ui.overlap import maps as module
from ui.shared.services import analyses, review

pytestmark = pytest.mark.usefixtures("counts_folder")


@pytest.fixture
def own_maps(work):
    return small_workspace.Functions(work, maps)


def test_a_projection_is_made_by_a_job_once_and_kept_on_disk(
    work, catalog_id, computed_aside, own_maps
):
    assert own_maps.points(catalog_id, "UMAP") is None
    with pytest.raises(JobError, match="not been computed"):
        own_maps.map_of(catalog_id, "UMAP", "servers", compare=False)
    work.analyses.wait(own_maps.start(catalog_id, "UMAP"))
    assert work.snapshot(catalog_id).job("UMAP").state == "done"
    points = own_maps.points(catalog_id, "UMAP")
    assert np.allclose(points, 2 * own_maps.points(catalog_id, "PCA"))
    sample = own_maps.points(catalog_id, "UMAP", by_sample=True)
    assert np.allclose(sample, -own_maps.points(catalog_id, "PCA")), "shown until all are projected"
    own_maps.run(catalog_id, "UMAP")
    assert computed_aside == ["umap"]
    other, _ = small_workspace.open_workspace(name="Desk again")
    found = maps.points(other.newest("Desk again"), "UMAP")
    assert np.array_equal(found, points), "another process, another catalog of the same tools"


@pytest.mark.case(97)
def test_nothing_waits_for_a_map_that_never_ends(work, catalog_id, endless_maps, own_maps):
    job = own_maps.start(catalog_id, "UMAP")
    done = Event()
    work.analyses.background(catalog_id, "profile", lambda progress: done.set())
    assert done.wait(60)
    work.analyses.wait(work.analyses.start(catalog_id))
    assert work.analyses.watch(job).live
    work.analyses.cancel(job)
    with pytest.raises(JobError):
        work.analyses.wait(job)


def test_a_map_goes_on_while_somebody_looks_at_it(work, catalog_id, endless_maps, own_maps):
    job, watched = own_maps.start(catalog_id, "UMAP"), work.analyses.watched
    for visitor in ("ann", "ben"):
        watched.look(visitor, work.analyses.watch(job))
    watched.look_away("ann")
    assert endless_maps.lives(work, job, after=2 * analyses.AWAY_SECONDS), "ben looks at it"
    watched.look_away("ben")
    assert endless_maps.lives(work, job, after=0.9 * analyses.AWAY_SECONDS)
    assert not endless_maps.lives(work, job, after=0.2 * analyses.AWAY_SECONDS)
    assert analyses.was_left(work.analyses.watch(job))
    job = own_maps.start(catalog_id, "UMAP")
    assert not endless_maps.lives(work, job, after=analyses.AWAY_SECONDS), "nobody ever looked"
    job = own_maps.start(catalog_id, "UMAP")
    watched.look("ann", work.analyses.watch(job))
    watched.leave("ann")
    assert endless_maps.lives(work, job, after=0), "it is on the page that was drawn"
    watched.look_away("ann")
    watched.leave("ann")
    assert not endless_maps.lives(work, job, after=0), "it is not: it ends at once"


def test_what_cannot_be_had_is_refused_with_the_reason(catalog_id, monkeypatch, own_maps):
    assert "at least 16 tools" in own_maps.refusal(catalog_id, "UMAP")
    assert own_maps.refusal(catalog_id, "PCA") == ""
    monkeypatch.setattr(projection, "LEAST_TOOLS", 4)
    assert own_maps.refusal(catalog_id, "t-SNE") == ""
    monkeypatch.setattr(module, "MOST_TSNE", 7)
    assert "up to 7 tools" in own_maps.refusal(catalog_id, "t-SNE")
    with pytest.raises(ConfigError, match="up to 7"):
        own_maps.start(catalog_id, "t-SNE")


def test_the_merged_panel_is_what_export_would_write(work, catalog_id, own_maps):
    mails = by_name(work, catalog_id, "send_mail")
    accept_drop_in(work, catalog_id)
    before, after = own_maps.map_of(catalog_id, "PCA", "servers", compare=True).panels
    rows = {tool.id: row for row, tool in enumerate(work.snapshot(catalog_id).catalog.tools)}
    place = after.members.index(tuple(rows[member] for member in mails.members))
    assert after.names[place] == "send_mail"
    assert np.array_equal(after.points[place], before.points[rows[mails.canonical]])
    assert sorted(row for members in after.members for row in members) == list(range(8))
    assert own_maps.rewritten(catalog_id) == 0
    assert len(own_maps.map_of(catalog_id, "PCA", "servers", compare=False).panels) == 1


def test_colours_follow_servers_clusters_states_and_fields(work, catalog_id, own_maps):
    assert own_maps.colours(catalog_id) == ("servers", "clusters", "states")
    kinds = own_maps.colours(catalog_id)
    drawn = {by: own_maps.map_of(catalog_id, "PCA", by, compare=False) for by in kinds}
    rows = {tool.id: row for row, tool in enumerate(work.snapshot(catalog_id).catalog.tools)}
    at = rows["beta/send_mail"]
    assert [drawn[by].panels[0].groups[at] for by in drawn] == ["beta", "send_mail", "proposed"]
    assert [drawn[by].grouping for by in drawn] == ["server", "cluster", "cluster state"]
    assert drawn["clusters"].panels[0].groups[rows["beta/add_numbers"]] == ""
    review.decide(
        work.snapshot(catalog_id), "accept", by_name(work, catalog_id, "send_mail"), "ann"
    )
    again = own_maps.map_of(catalog_id, "PCA", "states", compare=False)
    assert again is own_maps.map_of(catalog_id, "PCA", "states", compare=False), "drawn once"
    assert again.panels[0].groups[at] == "accepted"

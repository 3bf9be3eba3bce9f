"""Collisions and maps of document variants: own text, with variants, with random words."""

import json

import numpy as np
import pytest

from tests.ui.services.small_workspace import Functions, accept_variants
from toolscope_core.model.errors import JobError
from toolscope_core.store import subprocess_jobs
from ui.overlap import collisions, variant_figures
from ui.overlap.variant_figures import CONTROL, OWN, SIDES, WRITTEN
from ui.shared.services import analyses, reviewed_variants

ROWS = [
    {"tool": "alpha/send_mail", "expanded": "Post a letter now.", "questions": ["Write to Ann"]},
    {"tool": "beta/send_mail", "expanded": "Deliver many newsletters.", "questions": ["Spam all"]},
]


@pytest.fixture
def varied(opened):
    """A catalog of which two of three equal tools have accepted variants, and their figures."""
    work, i = opened
    figures = Functions(work, variant_figures)
    assert not variant_figures.has_any(work.snapshot(i))
    reviewed_variants.add(work.snapshot(i), "\n".join(map(json.dumps, ROWS)).encode(), "v.jsonl")
    assert not variant_figures.has_any(work.snapshot(i)), "what is only on offer is read by nobody"
    accept_variants(Functions(work, reviewed_variants), i)
    return work, i, figures


def at(view, threshold):
    row = view.thresholds.index(threshold)
    return {one.name: int(one.pairs[row]) for one in view.variants}


def test_tools_that_say_different_things_no_longer_collide(varied):
    _, i, figures = varied
    assert figures.has_any(i)
    counts = at(figures.curve(i), 0.95)
    assert counts[WRITTEN] < counts[OWN]
    assert list(counts) == [OWN, WRITTEN, CONTROL]


def test_a_heatmap_keeps_its_places_and_changes_with_the_texts(varied):
    work, i, _ = varied
    snapshot = work.snapshot(i)
    whole = collisions.whole(snapshot.analysis)
    own, written = variant_figures.tiles(snapshot, whole).values()
    assert own.grid.rows == written.grid.rows == whole.grid.rows
    assert written.near < own.near, "two of three equal tools are told apart"
    alike, other = (collisions.pair_cosines(one.grid) for one in (own, written))
    assert other.mean() < alike.mean() and len(alike) == len(whole.rows) * (len(whole.rows) - 1) / 2


def test_the_map_has_a_panel_for_each_and_the_tools_in_their_order(varied, monkeypatch):
    work, i, figures = varied
    drawn = figures.map_of(i, "PCA", "servers")
    names = tuple(tool.name for tool in work.snapshot(i).analysed.catalog.tools)
    assert [(panel.title, panel.names) for panel in drawn.panels] == [(s, names) for s in SIDES]
    assert drawn is figures.map_of(i, "PCA", "servers")
    own, written, _ = (panel.points for panel in drawn.panels)
    same = [row for row, name in enumerate(names) if name != "send_mail"]
    np.testing.assert_allclose(own[same], written[same], atol=1e-6)
    assert not np.allclose(own, written)

    monkeypatch.setattr(
        subprocess_jobs, "compute", lambda task, vectors, progress: vectors[:, :2].astype(float)
    )
    with pytest.raises(JobError, match="not been computed"):
        figures.map_of(i, "UMAP", "servers")
    work.analyses.wait(figures.start(i, "UMAP"))
    for panel in figures.map_of(i, "UMAP", "servers").panels:
        assert np.abs(panel.points).max() == pytest.approx(1.0)


@pytest.mark.case(97)
def test_another_projection_does_not_wait_for_one_that_never_ends(varied, endless_maps):
    work, i, figures = varied
    endless, quick = figures.start(i, "UMAP"), figures.start(i, "PCA")
    work.analyses.wait(quick)
    kinds = map(variant_figures.kind_of, ("PCA", "UMAP"))
    assert [work.snapshot(i).job(kind).id for kind in kinds] == [quick, endless]
    away = analyses.AWAY_SECONDS
    assert not endless_maps.lives(work, endless, after=away), "nobody looks at it"

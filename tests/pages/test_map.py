import json
import re
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.pages.screen import HANGS_AFTER, figures, open_page, words
from toolscope_core.model.errors import JobError
from toolscope_core.model.protocols import Step
from toolscope_core.model.tool import digest
from toolscope_core.store import subprocess_jobs
from toolscope_core.store.jobs import record_step, start_job
from ui.overlap import map_panel
from ui.shared import page_frame, pictures
from ui.shared.services import analyses, review
from ui.shared.tools import tool_selection

pytestmark = pytest.mark.usefixtures("through_the_app")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(tmp_path / "cache"))


def plane(monkeypatch, work, **query):
    return open_page(monkeypatch, work, "overlap", view="Map", **query)


def drawn(app):
    return json.loads(app.get("plotly_chart")[0].proto.spec)


@pytest.fixture(autouse=True)
def _called_back(monkeypatch):
    """What a lasso calls before the page runs, which AppTest leaves out, is called here."""
    calls = []
    picture, panel = pictures.picture, map_panel.map_panel

    def noted(*args, **more):
        calls[:] = [more["on_select"]] if "on_select" in more else calls
        return picture(*args, **more)

    def called(catalog_id):
        if st.session_state.get("lassoed"):
            st.session_state["lassoed"] = False
            calls[0]()
        panel(catalog_id)

    monkeypatch.setattr(pictures, "picture", noted)
    monkeypatch.setattr(map_panel, "map_panel", called)


def drawn_round(app, work, *points):
    """What the chart says is selected in it; a test's chart says it for one run."""
    key = "map_1"
    points = [{"curve_number": curve, "point_index": index} for curve, index in points]
    app.session_state[key] = {
        "selection": {"points": points, "point_indices": [], "box": [], "lasso": []}
    }


def lasso(app, work, *points):
    drawn_round(app, work, *points)
    app.session_state["lassoed"] = True
    return app.run()


def selected(app, work):
    """What the link says is selected."""
    key = app.query_params.get("sel")
    key = key if isinstance(key, str) or key is None else key[0]
    selection = tool_selection.get(work.snapshot(1), key) if key else None
    return set(selection.tool_ids) if selection else set()


def test_few_tools_are_shown_by_pca_and_the_page_says_why(monkeypatch, work):
    app = plane(monkeypatch, work)
    assert figures(words(app), "UMAP needs") == [16, 8]
    assert "Two principal components" in words(app)
    assert list(app.dataframe[0].value.columns) == ["tool", "server", "x", "y", "merged"]
    assert len({trace["xaxis"] for trace in drawn(app)["data"]}) == 2


def test_a_failed_projection_is_told_and_started_again_only_when_asked(
    monkeypatch, work, computed_aside
):
    def fail(*_args, **_more):
        raise JobError("umap of 8 tools stopped early; start it again")

    good = subprocess_jobs.compute
    monkeypatch.setattr(subprocess_jobs, "compute", fail)
    app = plane(monkeypatch, work)
    with pytest.raises(JobError, match="stopped early"):
        work.analyses.wait(work.snapshot(1).job("UMAP").id)
    app.run()
    assert "stopped early" in words(app)
    failed = work.snapshot(1).job("UMAP").id
    app.run()
    assert work.snapshot(1).job("UMAP").id == failed
    monkeypatch.setattr(subprocess_jobs, "compute", good)
    app.button(key="project").click().run()
    assert work.snapshot(1).job("UMAP").id != failed


@pytest.mark.case(97)
def test_a_map_whose_progress_is_shown_goes_on(monkeypatch, work, endless_maps):
    """As a fragment the panel is drawn again each second, and the page is not."""
    plane(monkeypatch, work)
    first = work.snapshot(1).job("UMAP")

    def panel(job_id):
        from ui.shared import page_frame

        page_frame.job_panel(job_id)

    app = AppTest.from_function(panel, args=(first.id,), default_timeout=HANGS_AFTER)
    for _ in range(3):
        app.run()
        assert endless_maps.lives(work, first.id, after=0.6 * analyses.LOOK_SECONDS)
    assert not endless_maps.lives(work, first.id, after=analyses.LOOK_SECONDS)


@pytest.mark.case(97)
@pytest.mark.parametrize("leave", ["page", "method"])
def test_a_map_that_is_left_stops_and_starts_again_unasked(monkeypatch, work, endless_maps, leave):
    app = plane(monkeypatch, work)
    first = work.snapshot(1).job("UMAP")
    if leave == "page":
        app.switch_page("pages/settings.py").run()
    else:
        app.segmented_control(key="method").set_value("PCA").run()
    assert not endless_maps.lives(work, first.id, after=0), "at once, not after a while"
    assert work.snapshot(1).job("UMAP").state == "paused"
    if leave == "page":
        app.switch_page("pages/overlap.py").run()
    else:
        app.segmented_control(key="method").set_value("UMAP").run()
    assert work.snapshot(1).job("UMAP").live
    assert "left" not in words(app)


def test_the_time_left_is_by_the_pace_of_the_step_once_it_is_known(monkeypatch, work):
    plane(monkeypatch, work)
    start_job(work.store, "slow", 1, "slow")
    clock = SimpleNamespace(monotonic=lambda: clock.now, now=0.0)
    monkeypatch.setattr(page_frame, "time", clock)

    def panel():
        from ui.shared import page_frame

        page_frame.job_panel("slow", seconds=3_000)

    app = AppTest.from_function(panel, default_timeout=HANGS_AFTER)

    def progress(now, *step):
        clock.now = now
        record_step(work.store, "slow", Step(*step))
        app.run()
        (bar,) = app.get("progress")
        (left,) = re.findall(r"about ([\d,]+) s left", bar.proto.text)
        return bar.proto.value, int(left.replace(",", ""))

    assert progress(0, "ready", 0, 0)[1] > 2_900
    assert progress(10, "layout", 100, 500)[0] == 20
    assert progress(20, "layout", 200, 500) == (40, 30), "100 in 10 s, 300 are left"
    assert progress(60, "layout", 300, 500) == (60, 50), "200 in 50 s, 200 are left"


def test_a_large_catalog_is_projected_only_when_asked(monkeypatch, work, computed_aside):
    monkeypatch.setattr("ui.overlap.maps.UNASKED", 7)
    app = plane(monkeypatch, work)
    assert work.snapshot(1).job("UMAP") is None
    assert "(about " in app.button(key="project").label
    app.button(key="project").click().run()
    assert work.snapshot(1).job("UMAP") is not None


def test_a_lasso_selects_and_dims_and_an_empty_one_changes_nothing(monkeypatch, work):
    app = plane(monkeypatch, work, method="PCA")
    assert "tools selected" not in words(app)
    lasso(app, work, (0, 0), (0, 1))
    first = selected(app, work)
    assert len(first) == 2
    assert "**2 tools selected**" in words(app)
    assert drawn(app)["data"][0]["selectedpoints"] == [0, 1]
    lasso(app, work)
    assert selected(app, work) == first, "a redrawn figure has lost its selection"


def test_a_lasso_among_only_these_leaves_fewer(monkeypatch, work):
    app = plane(monkeypatch, work, method="PCA", map_beside="false")
    lasso(app, work, (0, 0), (0, 1), (0, 2))
    three = selected(app, work)
    app.session_state[tool_selection.ONLY] = True
    app.run()
    assert sum(len(trace["x"]) for trace in drawn(app)["data"]) == 3
    lasso(app, work, (0, 1))
    assert len(selected(app, work)) == 1 and set(selected(app, work)) < set(three)
    assert sum(len(trace["x"]) for trace in drawn(app)["data"]) == 1


def test_a_decision_draws_the_marks_with_the_colours(monkeypatch, work):
    app = plane(monkeypatch, work, method="PCA", map_beside="false", colour="state of the cluster")
    lasso(app, work, (0, 0), (0, 1))
    assert not any(trace.get("selectedpoints") for trace in drawn(app)["data"])
    review.decide(work.snapshot(1), "accept", review.queue(work.snapshot(1))[0], "ann")
    drawn_round(app, work, (0, 0), (0, 1))
    app.run()
    assert any(trace.get("selectedpoints") for trace in drawn(app)["data"])


def test_a_selection_is_proposed_taken_back_and_kept_apart_where_it_is_ticked(monkeypatch, work):
    app = plane(monkeypatch, work, method="PCA")
    lasso(app, work, (0, 0), (0, 3))
    ids = selected(app, work)
    (button,) = [b for b in app.button if b.key.startswith("propose_")]
    assert button.label == "Propose all 2 as a cluster"
    button.click().run()
    (decision,) = review.active_decisions(work.snapshot(1))
    assert (decision.action, set(decision.ids)) == ("propose", ids)
    assert "Sent to review\\: 2 tools" in words(app)
    app.button(key=f"undo_batch_{decision.seq}").click().run()
    assert review.active_decisions(work.snapshot(1)) == ()
    lasso(app, work, (0, 0), (0, 1), (0, 2))
    table = digest(sorted(selected(app, work)))[:12]
    app.session_state[f"chosen_{table}"] = {"selection": {"rows": [0, 2]}}
    app.run()
    (button,) = [b for b in app.button if b.key.startswith("never_")]
    assert button.label == "Keep the 2 ticked apart"
    button.click().run()
    (decision,) = review.active_decisions(work.snapshot(1))
    assert (decision.action, len(decision.ids)) == ("keep_apart", 2)


def test_a_search_rings_what_it_finds_and_one_find_shows_its_nearest(monkeypatch, work):
    app = plane(monkeypatch, work, method="PCA", map_beside="false", map_find="mail alpha")
    assert "with a ring: **1 tool**" in words(app)
    similarities = figures(words(app), r"Nearest to **send\_mail**")
    assert similarities[:2] == [1.00, 1.00] and similarities == sorted(similarities, reverse=True)
    assert [trace.get("mode") for trace in drawn(app)["data"]][-2:] == ["lines", "markers"]
    app.text_input(key="map_find").set_value("mail").run()
    assert "**3 tools**" in words(app) and "Nearest to" not in words(app)
    app.button(key="select_found").click().run()
    assert len(selected(app, work)) == 3
    app.text_input(key="map_find").set_value("").run()
    assert "Found" not in words(app)

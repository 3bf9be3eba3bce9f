import pytest

from tests.pages.screen import open_page, words
from tests.ui.services import small_workspace
from toolscope_core.model.pair import Pair, pair_key
from toolscope_core.model.tool import digest
from ui.overlap import collisions
from ui.overlap.collisions import pair_at, tile

EVIL = "![x](http://evil.test/p.png) <img src=x onerror=alert(1)> [go](javascript:alert(2))"


def heatmap(monkeypatch, work, **query):
    return open_page(monkeypatch, work, "overlap", view="Heatmap", **query)


def table(app):
    return app.dataframe[0].value


def place(app):
    """Where the address says that one is."""
    query = {k: app.query_params.get(k) for k in ("one", "other", "cell")}
    return {k: v if isinstance(v, str) else v[0] for k, v in query.items() if v is not None}


def click(app, key, point):
    point = {"point_index": point, "curve_number": 1}
    app.session_state[key] = {
        "selection": {"points": [point], "point_indices": [0], "box": [], "lasso": []}
    }
    return app.run()


def test_clicks_go_down_and_the_breadcrumb_up(monkeypatch, work):
    app = heatmap(monkeypatch, work)
    shown = collisions.grid_of(work.snapshot(1), "servers", "share")
    row, column = (shown.blocks[at] for at in shown.grid.cells[1])
    click(app, f"blocks_1_{digest('servers', 'share')[:8]}", 1)
    assert place(app) == {"one": row.key, "other": column.key}
    assert "at the threshold or more" in words(app)
    click(app, f"tile_1_{digest(row.key, column.key)[:8]}", 0)
    analysis = work.snapshot(1).analysed
    pair = pair_at(analysis, tile(analysis, row, column), 0)
    assert place(app) == {"one": row.key, "other": column.key, "cell": pair_key(pair)}
    assert "Same job" in words(app)
    app.button(key="up_1").click().run()
    assert place(app) == {"one": row.key, "other": column.key}
    app.button(key="up_0").click().run()
    assert place(app) == {}
    assert "Showing 3 servers" in words(app)


def test_a_link_shows_the_same(monkeypatch, work):
    app = heatmap(monkeypatch, work, one="alpha", other="beta")
    assert "4 tools of alpha (rows) by 3 of beta" in words(app)
    assert [link.proto.label for link in app.get("page_link")] == [
        "Compare side by side, and see what to merge"
    ]
    assert table(app)["cosine"].iloc[0] == pytest.approx(1.0, abs=1e-4)
    cell = pair_key(Pair.of("alpha/send_mail", "beta/send_mail"))
    deep = {"one": "alpha", "other": "beta", "cell": cell}
    app = heatmap(monkeypatch, work, **deep)
    assert "Same job 1.00" in words(app)
    assert place(app) == deep
    app = heatmap(monkeypatch, work, heatmap_by="clusters", heatmap_measure="mean")
    assert "In no block:" in words(app)


def test_a_link_that_leads_nowhere_says_so_and_shows_the_top(monkeypatch, work):
    app = heatmap(monkeypatch, work, one="nowhere", other="beta")
    assert "not in this catalog" in words(app)
    assert "Showing 3 servers" in words(app)
    assert place(app) == {}


def test_all_tools_at_once(monkeypatch, work):
    app = heatmap(monkeypatch, work, heatmap_show="All tools")
    assert "All 8 tools" in words(app)
    assert len(table(app)) == 28
    click(app, "tools_1", 0)
    assert set(place(app)) == {"cell"}
    assert "Same job" in words(app)
    app.button(key="up_0").click().run()
    assert "All 8 tools" in words(app)
    app = heatmap(monkeypatch, work, heatmap_show="All tools", cell="no~such")
    assert "not in this catalog" in words(app)


def test_too_many_tools_are_not_offered_at_once(monkeypatch, work):
    monkeypatch.setattr("ui.overlap.collisions.MOST_WHOLE", 7)
    app = heatmap(monkeypatch, work)
    assert "heatmap_show" not in [choice.key for choice in app.get("button_group")]


def test_hostile_names_are_shown_as_text_on_every_level(monkeypatch, work):
    evil = [small_workspace.tool(f"{s} {EVIL}", f"send {EVIL}", EVIL) for s in "ab"]
    small_workspace.add_analysed(work, "Evil", *evil)
    one, other = evil
    servers = {"one": one.server, "other": other.server}
    pair = {"cell": pair_key(Pair.of(one.id, other.id))}
    for deep in ({}, servers, servers | pair, {"heatmap_show": "All tools"}):
        app = heatmap(monkeypatch, work, catalog="Evil", **deep)
        said = words(app) + "".join(button.label for button in app.button)
        assert "![x](" not in said
        assert "<img" not in said.replace("\\<", "")
        for chart in app.get("plotly_chart"):
            assert "<img" not in str(chart.proto)

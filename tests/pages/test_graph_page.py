import json

import pytest

from tests.pages.screen import open_page, words
from tests.ui.services import small_workspace
from toolscope_core.catalog.tokens import tool_tokens


@pytest.fixture
def desk_work():
    work, catalog_id = small_workspace.open_workspace()
    yield work, catalog_id
    work.close()


def table(app, part):
    """The one table whose key holds ``part``."""
    (found,) = [frame for frame in app.dataframe if part in (frame.key or "")]
    return found.value


def test_the_largest_cluster_is_drawn_with_its_table(monkeypatch, desk_work):
    app = open_page(monkeypatch, desk_work[0], "graph")
    assert "do the same job: **3**" in words(app)
    clusters, edges = table(app, "clusters"), table(app, "links_rows")
    (frame,) = [frame for frame in app.dataframe if "clusters" in (frame.key or "")]
    assert json.loads(frame.proto.columns)["name"]["label"] == "cluster"
    assert clusters.iloc[0]["name"] == "send_mail"
    assert clusters.iloc[0]["tokens"] == 3 * tool_tokens(small_workspace.MAIL)
    assert clusters.iloc[0]["saved"] == 2 * tool_tokens(small_workspace.MAIL)
    assert "Token counts (openai-chat): estimate" in words(app)
    assert set(edges["tool A"]) == {"send_mail"}
    assert len(app.get("bidi_component")) == 1
    assert [link.proto.label for link in app.get("page_link")] == ["Open in Review"]


def test_the_address_chooses_the_cluster_and_a_choice_enters_it(monkeypatch, desk_work):
    work, catalog_id = desk_work
    wanted = small_workspace.by_name(work, catalog_id, "get_weather")
    app = open_page(monkeypatch, work, "graph", drawn=wanted.id)
    assert set(table(app, "links_rows")["tool A"]) == {"get_weather"}
    mail = small_workspace.by_name(work, catalog_id, "send_mail")
    app.session_state[f"drawn_{catalog_id}"] = [mail.id]
    del app.query_params["drawn"]
    app.run()
    assert app.query_params["drawn"] == mail.id


def test_several_clusters_stand_side_by_side_and_none_is_a_sentence(monkeypatch, desk_work):
    work, catalog_id = desk_work
    app = open_page(monkeypatch, work, "graph")
    ids = [
        small_workspace.by_name(work, catalog_id, name).id for name in ("send_mail", "get_weather")
    ]
    app.session_state[f"drawn_{catalog_id}"] = [*ids, "gone"]
    app.run()
    assert set(table(app, "links_rows")["tool A"]) == {"send_mail", "get_weather"}
    del app.query_params["drawn"]
    app.session_state[f"drawn_{catalog_id}"] = []
    app.run()
    assert "Select one or more rows" in words(app)


def test_everything_is_drawn_at_once(monkeypatch, desk_work):
    app = open_page(monkeypatch, desk_work[0], "graph", draw="All")
    assert len(table(app, "tools_rows")) == 7


def test_a_large_component_is_cut_out_loud(monkeypatch, desk_work):
    monkeypatch.setattr("ui.graph.components.SHOWN_NODES", 2)
    app = open_page(monkeypatch, desk_work[0], "graph")
    assert "Showing 2 tools" in words(app)
    assert "not shown: 1." in words(app)


def test_where_nothing_overlaps_the_closest_pair_is_named(monkeypatch, desk_work):
    work, _ = desk_work
    small_workspace.add_analysed(work, "Apart", small_workspace.MAIL, small_workspace.SUM)
    said = words(open_page(monkeypatch, work, "graph", catalog="Apart"))
    assert "the judge would merge no tools" in said
    assert r"send\_mail" in said

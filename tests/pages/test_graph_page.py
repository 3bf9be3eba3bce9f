from tests.pages.screen import figures, open_page, words
from tests.ui.services import small_workspace


def table(app, part):
    """The one table whose key holds ``part``."""
    (found,) = [frame for frame in app.dataframe if part in (frame.key or "")]
    return found.value


def drawings(app):
    return [one.key for one in app.get("bidi_component") if one.key.endswith("network")]


def test_servers_and_larger_clusters_are_shown_and_one_is_drawn_when_chosen(monkeypatch, own):
    work, catalog_id = own
    app = open_page(monkeypatch, work, "graph")
    assert figures(words(app), "share a job") == [3, 3]
    clusters = table(app, "clusters")
    assert clusters["name"].tolist() == ["send_mail"], "two tools have one link"
    assert clusters.iloc[0]["kind"] == "gateway tool"
    assert drawings(app) == ["servers_network"]
    mail = small_workspace.by_name(work, catalog_id, "send_mail")
    app = open_page(monkeypatch, work, "graph", drawn=mail.id)
    assert set(table(app, "links_")["tool A"]) == {"send_mail"}
    assert drawings(app) == ["servers_network", "network"]
    assert [link.proto.label for link in app.get("page_link")] == ["Open in Review"]


def test_a_card_of_three_offers_the_graph_and_one_of_two_does_not(monkeypatch, own):
    work, catalog_id = own
    mail = small_workspace.by_name(work, catalog_id, "send_mail")
    weather = small_workspace.by_name(work, catalog_id, "get_weather")
    app = open_page(monkeypatch, work, "review", cluster=mail.id)
    app.session_state[f"graph_{mail.id}"] = True
    app.run()
    assert "network" in drawings(app)
    app = open_page(monkeypatch, work, "review", cluster=weather.id)
    assert "hang together" not in " ".join(box.label for box in app.expander)

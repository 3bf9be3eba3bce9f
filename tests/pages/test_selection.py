import pytest

from tests.pages.screen import open_page, words
from tests.ui.services import small_workspace
from toolscope_core.model.pair import tool_key
from ui.shared.tools import tool_selection

pytestmark = pytest.mark.usefixtures("through_the_app")
MAILS = ("alpha/send_mail", "beta/send_mail")


@pytest.fixture
def kept(work):
    return tool_selection.keep(work.snapshot(1), MAILS, "the **map**")


def sidebar(app):
    return "\n".join(element.value for element in app.sidebar.markdown)


def test_a_link_selects_tools_until_they_are_cleared_though_the_address_loses_it(
    monkeypatch, work, kept
):
    app = open_page(monkeypatch, work, sel=kept.key)
    assert "**2 tools** from the \\*\\*map\\*\\*" in sidebar(app)
    app.query_params.clear()  # as a change of the page in the menu does
    app.run()
    assert "**2 tools** from" in sidebar(app)
    assert app.query_params["sel"] == kept.key

    app.button(key="sel_clear").click().run()
    assert "sel" not in app.query_params
    assert "tools** from" not in sidebar(app)
    app.run()
    assert "tools** from" not in sidebar(app)


def test_a_link_to_what_is_not_kept_says_so_and_selects_nothing(monkeypatch, work):
    app = open_page(monkeypatch, work, sel="0123456789abcdef")
    (toast,) = app.toast
    assert "no longer available" in toast.value
    assert "sel" not in app.query_params
    assert not app.run().toast


def test_each_catalog_has_its_own_selection(monkeypatch, work, kept):
    work.catalogs.add("Other", small_workspace.catalog(small_workspace.SUM))
    app = open_page(monkeypatch, work, sel=kept.key, catalog="Desk")
    app.selectbox(key="catalog").select("Other").run()
    assert not app.toast
    assert "tools** from" not in sidebar(app)
    assert "sel" not in app.query_params
    app.selectbox(key="catalog").select("Desk").run()
    assert app.query_params["sel"] == kept.key
    assert "**2 tools**" in sidebar(app)


def rows(app, start):
    (found,) = [table for table in app.dataframe if (table.key or "").startswith(start)]
    return found.value


def ids(app):
    table = rows(app, "tools_")
    return (table["server"] + "/" + table["name"]).tolist()


def test_what_another_view_selected_is_ticked_first_in_the_table_of_tools(monkeypatch, work, kept):
    app = open_page(monkeypatch, work, sel=kept.key, part="Tools")
    assert ids(app)[:3] == [*MAILS, "alpha/get_weather"]
    assert app.session_state["tools_1"]["selection"]["rows"] == [0, 1]
    assert len(rows(app, "tools_")) == 8


def test_only_these_narrows_each_table(monkeypatch, work, kept):
    app = open_page(monkeypatch, work, sel=kept.key, only="1", part="Tools")
    assert ids(app) == [*MAILS]
    app.switch_page("pages/overlap.py").run()
    pairs = rows(app, "pairs_")
    assert {"● one", "● ● both"} == set(pairs["selected"])
    app.switch_page("pages/graph.py").run()
    assert rows(app, "clusters_")["name"].tolist() == ["send_mail"]
    app.switch_page("pages/review.py").run()
    assert rows(app, "queue")["name"].tolist() == ["send_mail"]
    assert "1 of 3 shown" in words(app)
    app.switch_page("pages/documents.py").run()
    (option,) = app.selectbox(key="merge").options
    assert option.startswith("send_mail (3 tools")


def test_without_it_the_selected_are_marked_and_nothing_is_missing(monkeypatch, work, kept):
    app = open_page(monkeypatch, work, "review", sel=kept.key)
    queue = rows(app, "queue")
    assert len(queue) == 3
    assert queue[queue[""] == "●"]["name"].tolist() == ["send_mail"]


def test_a_selection_without_clusters_leaves_an_empty_queue_and_says_so(monkeypatch, work):
    alone = tool_selection.keep(work.snapshot(1), ["beta/add_numbers"], "the map")
    for page, said in (
        ("review", "No proposal of 3 matches the filters and contains selected tools."),
        ("documents", "0 of 3 clusters contain selected tools."),
    ):
        assert said in words(open_page(monkeypatch, work, page, sel=alone.key, only="1"))


def test_the_drawer_shows_a_tool_and_selects_what_is_near(monkeypatch, work):
    app = open_page(monkeypatch, work, "review", tool=tool_key("beta/send_mail"))
    assert app.json
    labels = [link.proto.label for link in app.get("page_link")]
    assert any(label.startswith("In **send\\_mail**") for label in labels)
    assert any("alpha" in label and ":green[same job]" in label for label in labels)
    app.button(key="select_near").click().run()
    assert "tool" not in app.query_params
    assert "**8 tools**" in sidebar(app) and "similar to send\\_mail" in sidebar(app)


def test_a_link_to_an_unknown_tool_says_so(monkeypatch, work):
    app = open_page(monkeypatch, work, tool="0123456789ab")
    assert "not in this catalog" in app.toast[0].value
    assert "tool" not in app.query_params

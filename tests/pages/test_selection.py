import pytest

from tests.pages.screen import open_page
from tests.workspace import desk

pytestmark = pytest.mark.usefixtures("through_the_app")
MAILS = ("alpha/send_mail", "beta/send_mail")


@pytest.fixture
def work():
    work, _ = desk.open_desk()
    yield work
    work.close()


@pytest.fixture
def kept(work):
    catalog_id = work.catalogs.newest()[0].id
    return work.selections.keep(catalog_id, MAILS, "the **map**")


def sidebar(app):
    return "\n".join(element.value for element in app.sidebar.markdown)


def test_a_link_selects_tools_and_comes_back_when_the_address_loses_it(monkeypatch, work, kept):
    app = open_page(monkeypatch, work, sel=kept.key)
    assert "**2 tools** from the \\*\\*map\\*\\*" in sidebar(app)
    app.query_params.clear()  # as a change of the page in the menu does
    app.run()
    assert "**2 tools** from" in sidebar(app)
    assert app.query_params["sel"] == kept.key


def test_clear_forgets_the_selection_for_good(monkeypatch, work, kept):
    app = open_page(monkeypatch, work, sel=kept.key)
    app.button(key="sel_clear").click().run()
    assert "sel" not in app.query_params
    assert "tools** from" not in sidebar(app)
    app.run()
    assert "tools** from" not in sidebar(app)


def test_a_link_to_what_is_not_kept_says_so_and_selects_nothing(monkeypatch, work):
    app = open_page(monkeypatch, work, sel="0123456789abcdef")
    assert [toast.value for toast in app.toast] == [
        "The tools that the link selects are not kept any more."
    ]
    assert "sel" not in app.query_params
    assert not app.run().toast


def test_each_catalog_has_its_own_selection(monkeypatch, work, kept):
    work.catalogs.add("Other", desk.catalog(desk.SUM))
    app = open_page(monkeypatch, work, sel=kept.key, catalog="Desk")
    app.selectbox(key="catalog").select("Other").run()
    assert not app.exception and not app.toast
    assert "tools** from" not in sidebar(app)
    assert "sel" not in app.query_params
    app.selectbox(key="catalog").select("Desk").run()
    assert app.query_params["sel"] == kept.key
    assert "**2 tools**" in sidebar(app)


def test_a_link_brings_only_these(monkeypatch, work, kept):
    app = open_page(monkeypatch, work, sel=kept.key, only="1")
    assert app.sidebar.toggle(key="only").value


@pytest.mark.parametrize("page", ["overlap", "graph", "review", "documents", "export"])
def test_the_selection_goes_along_to_every_page(monkeypatch, work, kept, page):
    app = open_page(monkeypatch, work, sel=kept.key)
    app.query_params.clear()
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert "**2 tools** from" in sidebar(app)
    assert app.query_params["sel"] == kept.key

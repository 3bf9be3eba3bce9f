"""The app over a given workspace, one page at a time."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from ui.shared import page_frame

APP = str(Path(__file__).resolve().parents[2] / "app.py")
CHEAP = {"part": "Usage"}


def open_page(monkeypatch, work, page="catalog", **query):
    """The page as a visitor with this address sees it."""
    monkeypatch.setattr(page_frame, "workspace", lambda: work)
    app = AppTest.from_file(APP, default_timeout=60)
    if page != "catalog":
        pass_through(app, query)
        app.switch_page(f"pages/{page}.py")
    app.query_params.update(query)
    app.run()
    return app


def pass_through(app, query):
    """Run the app once, by its first page, of which a part is drawn that costs little: the frame
    around every page is there then.
    """
    app.query_params.update(query | CHEAP)
    app.run()
    for name in CHEAP:
        app.query_params.pop(name, None)


def words(app):
    """All text on the page that is read as markdown, and what stands in notices."""
    parts = (app.markdown, app.caption, app.info, app.success, app.warning, app.error)
    return "\n".join(element.value for part in parts for element in part)

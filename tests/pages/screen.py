"""The app over a given workspace, one page at a time."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from ui.shared import page_frame

APP = str(Path(__file__).resolve().parents[2] / "app.py")


def open_page(monkeypatch, work, page="catalog", **query):
    """The page as a visitor with this address sees it."""
    monkeypatch.setattr(page_frame, "workspace", lambda: work)
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    if page != "catalog":
        app.switch_page(f"pages/{page}.py")
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
    assert not app.exception, app.exception
    return app


def words(app):
    """All text on the page that is read as markdown, and what stands in notices."""
    parts = (app.markdown, app.caption, app.info, app.success, app.warning, app.error)
    return "\n".join(element.value for part in parts for element in part)

"""The app over a given workspace, one page at a time."""

import re
import runpy
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ui.shared import page_frame

HANGS_AFTER = 600
"""Seconds, which no run takes on a busy machine."""
APP = str(Path(__file__).resolve().parents[2] / "app.py")
RUNNER = "streamlit.runtime.scriptrunner.script_runner._mpa_v1"
"""Runs a script that has a folder of pages beside it, as AppTest sees the app: a page alone."""


def run_whole_app(path):
    """Run the page in its frame, as a server does."""
    runpy.run_path(path, run_name="__main__")


def open_page(monkeypatch, work, page="catalog", **query):
    """The page as a visitor with this address sees it."""
    monkeypatch.setattr(page_frame, "workspace", lambda: work)
    return load(AppTest.from_file(APP, default_timeout=HANGS_AFTER), page, query)


def load(app, page, query):
    """The app once it has loaded the page of this address, in its frame; what is done on the page
    later runs the page alone.
    """
    if page != "catalog":  # where the app begins
        app.switch_page(f"pages/{page}.py")
    app.query_params.update(query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RUNNER, run_whole_app)
        return app.run()


def numbers(text):
    """The numbers in a text, in order."""
    matches = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text.replace("\\", ""))
    return [float(number.replace(",", "")) for number in matches]


def figures(text, word):
    """The numbers in the one line of the text that has the word."""
    (line,) = [line for line in text.splitlines() if word in line]
    return numbers(line)


def metrics(app):
    """The values of the metrics on the page, by label."""
    return {metric.label: metric.value for metric in app.metric}


def words(app):
    """All text on the page that is read as markdown, and what stands in notices."""
    parts = (app.markdown, app.caption, app.info, app.success, app.warning, app.error)
    return "\n".join(element.value for part in parts for element in part)

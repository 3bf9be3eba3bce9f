"""The app in a small workspace: its pages run through app.py, on a workspace with a fake embedder."""

from streamlit.testing.v1 import AppTest

from tests.pages.screen import APP, pass_through
from tests.ui.services.small_workspace import open_workspace


class AppTab:
    """One browser tab on the app; ``work`` is another person on the same store."""

    def __init__(self, *tools):
        self.work, self.catalog_id = open_workspace(*tools)
        self.at = AppTest.from_file(APP, default_timeout=30)
        self.is_open = False

    @property
    def review(self):
        return self.work.review

    def open(self, page, **query):
        if self.is_open:
            self.at.query_params.update(query)
            self.at.run()
        else:
            pass_through(self.at, query)
        self.is_open = True
        self.at.query_params.update(query)
        self.at.switch_page(f"pages/{page}.py").run()
        return self

    def press(self, start):
        """Press the one button whose key begins so."""
        self.button(start).click().run()
        return self

    def button(self, start):
        (found,) = [b for b in self.at.button if (b.key or "").startswith(start)]
        return found

    def widget(self, kind, start):
        (found,) = [w for w in getattr(self.at, kind) if (w.key or "").startswith(start)]
        return found

    @property
    def text(self):
        kinds = ("title", "subheader", "markdown", "caption", "error", "info", "success", "warning")
        return "\n".join(e.value for kind in kinds for e in getattr(self.at, kind))

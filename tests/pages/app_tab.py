"""The app in a small workspace: its pages run through app.py, on a workspace with a fake embedder."""

from contextlib import suppress

from streamlit.testing.v1 import AppTest

from tests.pages.screen import APP, HANGS_AFTER, figures, load
from tests.ui.services.small_workspace import open_workspace
from toolscope_core.model.errors import ToolScopeError


class AppTab:
    """One browser tab on the app; ``work`` is another person on the same store."""

    def __init__(self, *tools):
        self.work, self.catalog_id = open_workspace(*tools)
        self.at = AppTest.from_file(APP, default_timeout=HANGS_AFTER)
        self.is_open = False

    @property
    def now(self):
        """What another person sees now."""
        return self.work.snapshot(self.catalog_id)

    def open(self, page, **query):
        if self.is_open:
            self.at.query_params.update(query)
            self.at.switch_page(f"pages/{page}.py").run()
        else:
            load(self.at, page, self.at.query_params | query)
        self.is_open = True
        return self

    def tick_servers(self, *names):
        """Tick the boxes of the servers with these names."""
        for name in names:
            (box,) = [box for box in self.at.checkbox if f"**{name}**" in box.label]
            box.check().run()
        return self

    def press(self, start):
        """Press the one button whose key begins so."""
        self.button(start).click().run()
        return self

    def expand(self, key):
        """Open what is drawn once somebody opens it."""
        self.at.session_state[key] = True
        self.at.run()
        return self

    def after(self, job):
        """What is shown when a job has ended, be it in a failure."""
        with suppress(ToolScopeError):
            self.work.analyses.wait(job.id)
        self.at.run()
        return self

    def widgets(self, kind, start):
        return [w for w in getattr(self.at, kind) if (w.key or "").startswith(start)]

    def widget(self, kind, start):
        (found,) = self.widgets(kind, start)
        return found

    def button(self, start):
        return self.widget("button", start)

    def tick(self, start, *rows):
        """Tick these rows alone of the table whose key begins so."""
        key = self.widget("dataframe", start).key
        self.at.session_state[key] = {"selection": {"rows": list(rows)}}
        self.at.run()

    def tables(self, *columns):
        return [t.value for t in self.at.dataframe if set(columns) <= set(t.value.columns)]

    def figures(self, word):
        """The numbers in the one line on the page that has the word."""
        return figures(self.text, word)

    @property
    def text(self):
        kinds = ("title", "subheader", "markdown", "caption", "error", "info", "success", "warning")
        return "\n".join(e.value for kind in kinds for e in getattr(self.at, kind))

"""Start the app.

The app's modules are imported and the first catalog is opened before the server starts, so that no
visitor waits for them.

    python -m ui [--server.port 8501 …]

The options are those of ``streamlit run``.
"""

import contextlib
import gc
import sys
from importlib import import_module
from pathlib import Path

import click
from streamlit.web import cli

from toolscope_core.model.errors import ToolScopeError
from ui.shared import page_frame

APP = Path(__file__).parents[1] / "app.py"
NEEDED_BY_STREAMLIT = ("streamlit.emojis", "PIL.Image")
"""Modules that Streamlit imports only when a page is requested. Every page needs them."""


@click.command()
@cli.configurator_options
def main(**options: object) -> None:
    """Serve the app."""
    gc.disable()
    for path in sorted(APP.parent.glob("ui/*/**/*.py")):
        import_module(".".join(path.relative_to(APP.parent).with_suffix("").parts))
    for name in NEEDED_BY_STREAMLIT:
        import_module(name)
    with contextlib.suppress(ToolScopeError):  # the page reports the error
        page_frame.open_first_catalog()
    gc.freeze()  # all this is kept to the end; to search it stops a page for a third of a second
    gc.enable()
    sys.argv = [str(APP)]  # Streamlit looks for its configuration beside this file
    settings = {
        name.replace("_", ".", 1): value
        for name, value in options.items()
        if value not in (None, ())
    }
    import_module(APP.stem).app.run(config=settings)


if __name__ == "__main__":
    main()

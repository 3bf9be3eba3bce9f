"""Start the app with all that it imports and its first catalog open, so that nobody's first visit
waits for them.

    python -m ui [--server.port 8501 …]

The options are those of ``streamlit run``.
"""

import contextlib
import sys
from importlib import import_module
from pathlib import Path

from streamlit.web import cli

from toolscope_core.errors import ToolScopeError
from ui.frame import page_frame

ROOT = Path(__file__).parents[1]
NEEDED_BY_STREAMLIT = ("streamlit.emojis",)
"""What Streamlit imports only when a page asks for it, and every page does."""


def main() -> None:
    for path in sorted(Path(__file__).parent.glob("*/*.py")):
        import_module(f"ui.{path.parent.name}.{path.stem}")
    for name in NEEDED_BY_STREAMLIT:
        import_module(name)
    with contextlib.suppress(ToolScopeError):  # the page will say it
        page_frame.open_first_catalog()
    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *sys.argv[1:]]
    cli.main()


if __name__ == "__main__":
    main()

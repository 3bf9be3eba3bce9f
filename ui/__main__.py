"""Start the app with all that it imports, so that nobody's first visit waits for it.

    python -m ui [--server.port 8501 …]

The options are those of ``streamlit run``.
"""

import sys
from importlib import import_module
from pathlib import Path

from streamlit.web import cli

ROOT = Path(__file__).parents[1]


def main() -> None:
    for path in sorted(Path(__file__).parent.glob("*/*.py")):
        import_module(f"ui.{path.parent.name}.{path.stem}")
    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *sys.argv[1:]]
    cli.main()


if __name__ == "__main__":
    main()

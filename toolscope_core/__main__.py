"""``python -m toolscope_core`` is the command line, and so is the command ``toolscope``."""

import gc

from toolscope_core.cli import app


def main() -> None:
    """Run the command line."""
    gc.disable()  # one short run whose objects live to its end; collecting costs an eighth of it
    try:
        app(prog_name="toolscope")
    finally:
        gc.freeze()  # the end of the process takes it all back at once


if __name__ == "__main__":
    main()

"""The command line, as ``python -m toolscope_core`` or the command ``toolscope``."""

import gc
import sys


def main() -> None:
    """Run the command line."""
    gc.disable()  # one short run whose objects live to its end; collecting costs an eighth of it
    try:
        from toolscope_core.cli import app

        app(prog_name="toolscope")
    except KeyboardInterrupt:  # while modules load: from there on the app says it
        sys.exit("Aborted!")
    finally:
        gc.freeze()  # the end of the process takes it all back at once


if __name__ == "__main__":
    main()

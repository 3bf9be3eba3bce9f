"""``python -m toolscope_core`` is the command line."""

import gc

from toolscope_core.cli import app

gc.disable()  # one short run whose objects live to its end; collecting them costs an eighth of it
app(prog_name="toolscope")

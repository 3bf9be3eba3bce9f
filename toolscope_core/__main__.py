"""``python -m toolscope_core`` is the command line."""

from toolscope_core.cli import app

app(prog_name="toolscope")

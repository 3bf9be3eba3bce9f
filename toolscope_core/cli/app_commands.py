"""The commands around the app: its store made ready, and the app opened."""

import gc
import runpy
import sys
from importlib import import_module
from typing import Annotated

import typer

from toolscope_core.cli.terminal import command, progress, say
from toolscope_core.files.app_folder import app_folder
from toolscope_core.model.environment import read_environment


@command()
def prepare() -> None:
    """Put the bundled example into the app's store, analysed."""
    sys.path.insert(0, str(app_folder()))
    work = import_module("ui.shared.services.workspace").Workspace(read_environment())
    try:
        record = work.prepare(progress())
    finally:
        work.close()
    say(f"{record.name}: {record.tools} tools, analysed; store: {work.store.place}")


@command("app")
def open_app(
    port: Annotated[int, typer.Option(help="The port that the app listens on.")] = 8501,
) -> None:
    """Prepare the store and open the app, as `make app` does; end it with Ctrl-C."""
    prepare()
    gc.enable()  # the app runs on
    sys.argv[1:] = ["--server.port", str(port)]
    runpy.run_module("ui", run_name="__main__", alter_sys=True)

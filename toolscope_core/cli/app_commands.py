"""The small commands: prepare, copy or upgrade the store, open the app, and excerpt a bundle."""

import gc
import json
import runpy
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.cli.terminal import command, progress, say
from toolscope_core.export.excerpt import excerpt as excerpt_of
from toolscope_core.files.folders import app_folder
from toolscope_core.files.json_lines import write_whole
from toolscope_core.model.environment import read_environment
from toolscope_core.model.numbers import quantity
from toolscope_core.store.copying import copy_store
from toolscope_core.store.engine import Store, existing_store


@command
def prepare() -> None:
    """Put the bundled example into the app's store, analysed.

    Example: toolscope prepare
    """
    sys.path.insert(0, str(app_folder()))
    work = import_module("ui.shared.services.workspace").Workspace(read_environment())
    try:
        record = work.prepare(progress())
    finally:
        work.close()
    say(f"{record.name}: {record.tools} tools, analysed; store: {work.store.place}")


@command
def open_app(
    port: Annotated[int, typer.Option(help="The port that the app listens on.")] = 8501,
) -> None:
    """Prepare the store and open the app, as `make app` does; end it with Ctrl-C.

    Example: toolscope app --port 9000
    """
    prepare()
    gc.enable()  # the app keeps running
    sys.argv[1:] = ["--server.port", str(port)]
    runpy.run_module("ui", run_name="__main__", alter_sys=True)


@command
def excerpt(
    bundle: Annotated[Path, typer.Argument(help="The folder that merge wrote.")],
    out: Annotated[Path, typer.Option(help="JSON file with the tools, to open in the app.")],
    most: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of proposals to include, starting with those that save the most tokens.",
        ),
    ] = 1000,
    server: Annotated[
        list[str] | None, typer.Option(help="Also include every tool of this server; repeatable.")
    ] = None,
) -> None:
    """Write the tools of the proposals that save most, for a review in the app. Afterwards, merge
    --decisions applies the decisions to the whole catalog.

    Example: toolscope excerpt bundle --out excerpt.json
    """
    extract = excerpt_of(bundle, most, server or ())
    write_whole(out, json.dumps(extract.toolset, ensure_ascii=True).encode(), "--out")
    proposals = quantity(extract.all_proposals, "proposal")
    say(f"{quantity(extract.tools, 'tool')}, {extract.proposals:,} of {proposals}; written: {out}")


PASSWORDS = "You can leave the password out of the URL and set it in PGPASSWORD or a password file."


@command
def copy_whole_store(
    source: Annotated[str, typer.Argument(help=f"URL of the store to copy. {PASSWORDS}")],
    target: Annotated[
        str, typer.Argument(help="URL of the new store: a file or a database server.")
    ],
) -> None:
    """Copy a whole store into a new one, also to another kind of database, and check it.

    Example: toolscope copy-store sqlite:///store.db sqlite:///copy.db
    """
    with closing(existing_store(source)) as old, closing(Store(target)) as new:
        tables = copy_store(old, new, progress())
        places = f"{old.place} to {new.place}"
    for table in tables:
        say(f"{table.name:12} {quantity(table.rows, 'row'):>14}  sha256 {table.digest[:16]}")
    say(f"copied {places}; every table was read back and matches")


@command
def upgrade_store() -> None:
    """Migrate the store of an earlier ToolScope, once you have a backup of it.

    Example: toolscope upgrade-store
    """
    with closing(Store(read_environment().store_url, backed_up=True)) as store:
        place = store.place
    say(f"{place} is already up to date")

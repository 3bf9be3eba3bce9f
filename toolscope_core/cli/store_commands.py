"""The commands for the store itself: to another database, and up to date."""

from contextlib import closing
from typing import Annotated

import typer

from toolscope_core.cli.terminal import command, progress, say
from toolscope_core.model.environment import read_environment
from toolscope_core.model.numbers import quantity

PASSWORDS = "A password may be left out: PGPASSWORD or a password file gives it."


@command("copy-store")
def copy_whole_store(
    source: Annotated[str, typer.Argument(help=f"URL of the store to copy. {PASSWORDS}")],
    target: Annotated[str, typer.Argument(help="URL of the new store: a file or a server.")],
) -> None:
    """Copy a whole store into a new one, of the same or of the other database, and check it."""
    from toolscope_core.store.copying import copy_store
    from toolscope_core.store.engine import Store, existing_store

    with closing(existing_store(source)) as old, closing(Store(target)) as new:
        tables = copy_store(old, new, progress())
        places = f"{old.place} to {new.place}"
    for table in tables:
        say(f"{table.name:12} {quantity(table.rows, 'row'):>14}  sha256 {table.digest[:16]}")
    say(f"copied {places}; every table was read again and is the same")


@command("upgrade-store")
def upgrade_store() -> None:
    """Bring the store of an earlier ToolScope up to date, once you have a backup of it."""
    from toolscope_core.store.engine import Store

    with closing(Store(read_environment().store_url, backed_up=True)) as store:
        place = store.place
    say(f"{place} is up to date")

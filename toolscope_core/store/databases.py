"""The differences between the databases that can contain a store."""

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from toolscope_core.model.errors import StoreError
from toolscope_core.store.postgres_server import SCHEMES, PostgresServer
from toolscope_core.store.sqlite_file import SqliteFile

_EXAMPLES = (
    "set TOOLSCOPE_STORE_URL to one like sqlite:///store.db or postgresql://user@host/database"
)


Database = SqliteFile | PostgresServer
"""A database that can contain a store. Both have the same attributes and methods, which
``SqliteFile`` describes.
"""


def database_of(url: str, wait: float, *, backed_up: bool = False) -> Database:
    """The database for a store's URL.

    The database waits up to ``wait`` seconds for another writer. ``backed_up`` says that a person
    has made a backup. Raises ``StoreError`` if the URL names no database.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        begin = url.partition(":")[0]  # the rest may contain a password
        raise StoreError(f"store URL {begin!r}… cannot be read; {_EXAMPLES}") from error
    if parsed.drivername in SCHEMES:
        return PostgresServer(parsed, wait, backed_up=backed_up)
    if parsed.drivername == "sqlite":
        return SqliteFile(parsed, wait)
    raise StoreError(f"store URL {parsed.drivername}://… names no file or server; {_EXAMPLES}")

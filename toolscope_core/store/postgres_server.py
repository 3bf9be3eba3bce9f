"""A store in a schema of a PostgreSQL server."""

import re
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from toolscope_core.model.errors import StoreError

SCHEMES = ("postgresql", "postgresql+psycopg", "postgres")

MOST_CONNECTIONS = 20
"""The largest number of connections of one program; by default, a server allows 100 for all
programs.
"""

_WAYS = {
    "connect_timeout": 10,
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 20,
    "application_name": "toolscope",
    "client_encoding": "utf8",
}
"""Connection parameters for use where the URL gives none, so that an absent server is noticed."""

_LOST = (
    "the connection to the server was lost; the last change may not be saved, so reload and "
    "check before you repeat it"
)
_REMEDIES = {
    "28": "the server rejects the user or the password; check both in TOOLSCOPE_STORE_URL",
    "3D000": "the server has no such database; create it, or correct TOOLSCOPE_STORE_URL",
    "3F000": "the schema in the search path does not exist; create it, or correct search_path",
    "42501": (
        "the user lacks a permission ({reason}); grant it usage of the schema and its tables, "
        "and for a new store also the right to create tables"
    ),
    "25006": (
        "the server is read-only, for example a standby; use the address of one that accepts writes"
    ),
    "53100": "the server's disk is full and nothing was changed; free some space and try again",
    "53300": (
        "the server has no free connections; close a program that uses it, or raise its "
        "max_connections"
    ),
    "54000": "a name is too long for the server ({reason}); choose a shorter one",
    "55P03": "another program has locked it; close that program, or try again",
    "22021": "a string contains a NUL character, which PostgreSQL cannot store; remove it",
    "57P": _LOST,
    "08": _LOST,
    "XX": "the server's data is damaged ({reason}); restore a backup",
}
"""Remedies by SQLSTATE, or by the beginning of one."""

_SIGNS = {
    "password authentication failed": "28",
    "no password supplied": "28",
    'role ".*" does not exist': "28",
    "no pg_hba.conf entry": "28",
    'database ".*" does not exist': "3D000",
    "permission denied": "42501",
    "too many clients|too many connections|connection slots": "53300",
    "cannot contain NUL": "22021",
}
"""Patterns of reasons that come without an SQLSTATE, each with its key in ``_REMEDIES``."""


class PostgresServer:
    """Tables in the first schema of the search path.

    An advisory lock on this schema lets only one program write at a time. The methods do what those
    of ``SqliteFile`` do.
    """

    repair = "restore a backup, or delete the row with psql"
    failures: tuple[type[Exception], ...] = (DBAPIError, PoolTimeoutError)

    def __init__(self, url: sa.URL, wait: float, *, backed_up: bool = False) -> None:
        _check(url)
        self._url = url.set(drivername="postgresql+psycopg")
        self._wait = wait
        self._backed_up = backed_up
        self.place = _shown(url)

    def look(self) -> sa.Engine:
        return self._engine(poolclass=sa.NullPool)

    def engine(self) -> sa.Engine:
        """Connections that the server has closed are replaced before a transaction begins."""
        engine = self._engine(
            pool_size=5,
            max_overflow=MOST_CONNECTIONS - 5,
            pool_timeout=self._wait,
            pool_pre_ping=True,
        )
        sa.event.listen(engine, "connect", _prepare)
        sa.event.listen(engine, "begin", self._begin)
        return engine

    def back_up(self, step: str) -> None:
        """Raises ``StoreError`` with instructions, unless a person has confirmed a backup."""
        if not self._backed_up:
            raise StoreError(
                f"the store {self.place} was written by an older ToolScope and was left unchanged; "
                "make a "
                f'backup (pg_dump "{self.place}" > before-{step}.sql), then run: '
                "toolscope upgrade-store"
            )

    def clock(self, connection: sa.Connection) -> datetime:
        """The time of the server, because the machines of its clients may disagree."""
        moment: datetime = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
        return moment

    def count_on(self, connection: sa.Connection, column: sa.Column[int]) -> None:
        sequence = sa.func.pg_get_serial_sequence(column.table.name, column.name)
        greatest = sa.select(sa.func.coalesce(sa.func.max(column) + 1, 1)).scalar_subquery()
        connection.execute(sa.select(sa.func.setval(sequence, greatest, sa.literal(value=False))))

    def remedy(self, error: Exception) -> str:
        if isinstance(error, PoolTimeoutError):
            return f"all its {MOST_CONNECTIONS} connections are in use; try again in a moment"
        if getattr(error, "connection_invalidated", False):
            return _LOST
        cause = getattr(error, "orig", error)
        reason = self._without_password(" ".join(str(cause).split()))
        state = getattr(cause, "sqlstate", None)
        if state is None:
            state = next((code for sign, code in _SIGNS.items() if re.search(sign, reason)), None)
        if state is None and isinstance(error, OperationalError):
            return f"no connection ({reason}); check the address, and that the server is running"
        state = state or ""
        remedy = next((text for code, text in _REMEDIES.items() if state.startswith(code)), reason)
        return remedy.replace("{reason}", reason)

    def _without_password(self, text: str) -> str:
        for secret in (self._url.password, self._url.query.get("password")):
            text = text.replace(str(secret), "…") if secret else text
        return text

    def _engine(self, **options: Any) -> sa.Engine:
        """No prepared statements are kept, because another program may change the
        tables meanwhile.
        """
        ways = {name: value for name, value in _WAYS.items() if name not in self._url.query}
        return sa.create_engine(
            self._url, connect_args={**ways, "prepare_threshold": None}, **options
        )

    def _begin(self, connection: sa.Connection) -> None:
        """A writer waits for the other writers before it reads anything; a reader
        sees one state.
        """
        if connection.get_execution_options()["writes"]:
            connection.exec_driver_sql(
                f"SET LOCAL lock_timeout = {round(self._wait * 1000)}; "
                "SELECT pg_advisory_xact_lock(hashtext('toolscope'), hashtext(current_schema()))"
            )
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def _prepare(connection: Any, record: Any) -> None:
    """Make sure that each commit reaches the disk before it is acknowledged."""
    with connection.cursor() as cursor:
        (setting,) = cursor.execute("SHOW synchronous_commit").fetchone()
        if setting == "off":
            cursor.execute("SET synchronous_commit = on")
    connection.commit()


def _check(url: sa.URL) -> None:
    if "@" in (url.host or ""):
        raise StoreError(
            "the password in the store URL contains an @; write it as %40 in TOOLSCOPE_STORE_URL"
        )
    if not url.database:
        raise StoreError(
            f"the store URL {_shown(url)} names no database; use one like "
            "postgresql://user@host/database in TOOLSCOPE_STORE_URL"
        )


def _shown(url: sa.URL) -> str:
    """The URL without its password, and only with the parameters that locate the store."""
    where = {name: url.query[name] for name in ("host", "port", "options") if name in url.query}
    bare = sa.URL.create("postgresql", url.username, None, url.host, url.port, url.database, where)
    return bare.render_as_string(hide_password=False)

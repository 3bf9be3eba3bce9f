"""The row classes. They have their own registry, so importing them twice works."""

import json
from types import NoneType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import registry
from sqlalchemy.types import TypeDecorator
from sqlmodel import AutoString, Field, SQLModel

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
"""Text in one order on every database."""
_INTEGER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""Up to 64 bits, as SQLite has them."""


class CellError(Exception):
    """A cell does not contain the JSON of its column."""

    def __init__(self, column: sa.Column[Any], text: object) -> None:
        super().__init__(f"{column} contains {str(text)[:60]!r}")
        self.column, self.text = column, text


class Json(TypeDecorator[Any]):
    """JSON of some ``kinds`` as ASCII text, safe for any foreign text and lone surrogates.

    It is an object unless other kinds are given; ``of_texts`` requires its items to be texts.
    Reading raises ``CellError`` for invalid JSON or another kind.
    """

    impl = _TEXT
    cache_ok = True
    column: sa.Column[Any]

    def __init__(self, *kinds: type, of_texts: bool = False) -> None:
        super().__init__()
        self.kinds, self.of_texts = kinds or (dict,), of_texts

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str:
        return json.dumps(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        try:
            parsed = json.loads(value, parse_constant=_no_nan)
        except (ValueError, TypeError, RecursionError) as error:
            raise CellError(self.column, value) from error
        items = parsed.values() if isinstance(parsed, dict) else parsed
        fits = isinstance(parsed, self.kinds)
        if not fits or (self.of_texts and not all(isinstance(item, str) for item in items)):
            raise CellError(self.column, value)
        return parsed


def _json(*kinds: type, of_texts: bool = False, **options: Any) -> Any:
    """A column of ``Json``."""
    return Field(sa_type=Json(*kinds, of_texts=of_texts), **options)


def _no_nan(constant: str) -> float:
    if constant == "NaN":
        raise ValueError("NaN equals nothing")
    return float(constant)


class StoredRow(SQLModel, registry=registry()):
    """Base of all row classes."""


class CatalogRow(StoredRow, table=True):
    """One version of a named catalog.

    ``body`` has its servers, problems and findings; ``renamed`` has the new ids of renamed tools by
    their ids in the version before.
    """

    __tablename__ = "catalog"
    __table_args__ = (sa.UniqueConstraint("name", "number"),)

    id: int | None = Field(default=None, primary_key=True)
    name: str = _json(str)
    number: int
    version: str
    content: str
    at: str
    format: str = _json(str)
    tools: int
    servers: int
    body: dict[str, Any] = _json()
    renamed: dict[str, str] = _json(of_texts=True, default_factory=dict)


class CatalogToolRow(StoredRow, table=True):
    """One tool of a catalog, at its position in ``Catalog.tools``."""

    __tablename__ = "tool"

    catalog_id: int = Field(primary_key=True, sa_column_args=[sa.ForeignKey("catalog.id")])
    position: int = Field(primary_key=True)
    body: dict[str, Any] = _json()


class DecisionRow(StoredRow, table=True):
    """One line of the decision log of the catalogs named ``name``."""

    __tablename__ = "decision"

    name: str = _json(str, primary_key=True)
    seq: int = Field(primary_key=True)
    at: str
    action: str
    reviewer: str = _json(str)
    fingerprints: list[str] = _json(list, of_texts=True, sa_column_kwargs={"name": "members"})
    ids: list[str] = _json(list, of_texts=True)
    detail: dict[str, Any] = _json()


class JobRow(StoredRow, table=True):
    """One background job; ``number`` counts them in order of start."""

    __tablename__ = "job"
    __table_args__ = (
        sa.Index(
            "one_live_job",
            *("catalog_id", "kind"),
            unique=True,
            sqlite_where=sa.text("state = 'running'"),
            postgresql_where=sa.text("state = 'running'"),
        ),
    )

    number: int | None = Field(default=None, primary_key=True)
    id: str = Field(unique=True)
    catalog_id: int = Field(sa_column_args=[sa.ForeignKey("catalog.id")])
    kind: str
    state: str = "running"
    stage: str = ""
    done: int = 0
    total: int = 0
    message: str = _json(str, default="")
    cancel: bool = False
    started_at: str
    updated_at: str
    lease_until: str


class SelectionRow(StoredRow, table=True):
    """Tools selected in one view; ``number`` grows with each stored selection."""

    __tablename__ = "selection"
    __table_args__ = (sa.UniqueConstraint("catalog_id", "key"),)

    number: int | None = Field(default=None, primary_key=True)
    catalog_id: int = Field(sa_column_args=[sa.ForeignKey("catalog.id")])
    key: str
    source: str = _json(str)
    ids: list[str] = _json(list, of_texts=True)


class QueryFileRow(StoredRow, table=True):
    """One query set of the catalogs named ``name``: a file as uploaded."""

    __tablename__ = "query_file"

    name: str = _json(str, primary_key=True)
    file: str = _json(str, primary_key=True)
    at: str
    content: bytes


class VariantRow(StoredRow, table=True):
    """A document variant proposed for tools of this fingerprint in the catalogs named ``name``."""

    __tablename__ = "variant"

    name: str = _json(str, primary_key=True)
    fingerprint: str = Field(primary_key=True)
    source: str = _json(str)
    expanded: str = _json(str)
    questions: list[str] = _json(list, of_texts=True)


class GeneratedRow(StoredRow, table=True):
    """A query that a model wrote for the catalogs named ``name``.

    ``key`` identifies its question; ``number`` counts them in order of arrival.
    """

    __tablename__ = "generated_query"

    name: str = _json(str, primary_key=True)
    key: str = Field(primary_key=True)
    number: int
    source: str = _json(str)
    tools: list[str] = _json(list, of_texts=True)
    draft: str = _json(str)
    text: str = _json(str)
    reason: str = _json(str)
    state: str = "waiting"
    at: str


class ExperimentRow(StoredRow, table=True):
    """One experiment on a version of a catalog; ``key`` hashes its kind and configuration."""

    __tablename__ = "experiment"

    number: int | None = Field(default=None, primary_key=True)
    catalog_id: int = Field(sa_column_args=[sa.ForeignKey("catalog.id")])
    key: str
    kind: str
    configuration: dict[str, Any] = _json()
    result: dict[str, Any] = _json()
    is_done: bool = False
    seconds: float = 0.0
    at: str


class AnswerRow(StoredRow, table=True):
    """One answer of a model, by ledger key; ``value`` is null if it is unusable."""

    __tablename__ = "answer"

    key: str = Field(primary_key=True)
    task: str
    version: str
    subjects: list[str] = _json(list, of_texts=True)
    model: str = _json(str)
    origin: str
    value: dict[str, Any] | None = _json(dict, NoneType)
    reason: str = _json(str)
    at: str


class CallRow(StoredRow, table=True):
    """One call of a model; ``number`` counts them in order of completion."""

    __tablename__ = "call"

    number: int | None = Field(default=None, primary_key=True)
    run: str = Field(index=True)
    task: str
    model: str = _json(str)
    origin: str
    questions: int
    tokens_in: int
    tokens_out: int
    counted: bool
    cost: float | None
    seconds: float
    finish: str = _json(str)
    error: str = _json(str)
    at: str


class RunRow(StoredRow, table=True):
    """One run of a model over a catalog; ``key`` is the hash of its kind and configuration."""

    __tablename__ = "run"

    number: int | None = Field(default=None, primary_key=True)
    id: str = Field(unique=True)
    catalog_id: int = Field(sa_column_args=[sa.ForeignKey("catalog.id")])
    kind: str
    key: str
    configuration: dict[str, Any] = _json()
    state: str = "running"
    message: str = _json(str, default="")
    started_at: str
    ended_at: str = ""


class ServerSourceRow(StoredRow, table=True):
    """The servers from which the catalogs named ``name`` were last read, without secret values."""

    __tablename__ = "server_source"

    name: str = _json(str, primary_key=True)
    at: str
    value: dict[str, Any] = _json()


class UsageLogRow(StoredRow, table=True):
    """Figures on tools of the catalogs named ``name`` from one log or trace.

    They are counts and times; arguments and texts of requests are not stored. ``key`` is the hash
    of its content.
    """

    __tablename__ = "usage_log"

    name: str = _json(str, primary_key=True)
    key: str = Field(primary_key=True)
    label: str = _json(str)
    at: str
    value: dict[str, Any] = _json()


class SettingRow(StoredRow, table=True):
    """One setting of this store, by name."""

    __tablename__ = "setting"

    name: str = Field(primary_key=True)
    value: dict[str, Any] = _json()


OF_A_NAME = (DecisionRow, QueryFileRow, VariantRow, GeneratedRow, ServerSourceRow, UsageLogRow)
"""Tables that belong to all catalogs of a name."""
OF_A_VERSION = (CatalogToolRow, ExperimentRow, JobRow, RunRow, SelectionRow)
"""Tables that belong to one version of a catalog."""

for _table in StoredRow.metadata.tables.values():
    for _column in _table.columns:
        if isinstance(_column.type, Json):
            _column.type.column = _column
        elif isinstance(_column.type, sa.Integer):
            _column.type = _INTEGER
        elif isinstance(_column.type, AutoString):
            _column.type = _TEXT

"""The row classes. They have a registry of their own, so that importing them twice works."""

import json
from types import NoneType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import registry
from sqlalchemy.types import TypeDecorator
from sqlmodel import AutoString, Field, SQLModel

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
"""Text that sorts in the same order on every database."""
_INTEGER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""Integers of up to 64 bits, as in SQLite."""


class CellError(Exception):
    """A cell does not contain the JSON that its column needs."""

    def __init__(self, column: sa.Column[Any], text: object) -> None:
        super().__init__(f"{column} contains {str(text)[:60]!r}")
        self.column, self.text = column, text


class Json(TypeDecorator[Any]):
    """JSON of some ``kinds`` as ASCII text, which is safe for any foreign text and for lone
    surrogates.

    The JSON is an object unless other kinds are given; ``of_texts`` requires that its items are
    texts. Reading raises ``CellError`` if the JSON is invalid or of another kind.
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
    """A column of type ``Json``."""
    return Field(sa_type=Json(*kinds, of_texts=of_texts), **options)


def _no_nan(constant: str) -> float:
    if constant == "NaN":
        raise ValueError("NaN equals nothing")
    return float(constant)


class StoredRow(SQLModel, registry=registry()):
    """The base of all row classes."""


class CatalogRow(StoredRow, table=True):
    """One version of a named catalog.

    ``body`` has the catalog's servers, problems and findings. ``renamed`` gives the new ids of
    renamed tools by their ids in the version before.
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
    """One line in the decision log of the catalogs called ``name``."""

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
    """One background job; ``number`` counts the jobs in the order in which they started."""

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
    """Tools selected in one view; ``number`` grows with each selection that is stored."""

    __tablename__ = "selection"
    __table_args__ = (sa.UniqueConstraint("catalog_id", "key"),)

    number: int | None = Field(default=None, primary_key=True)
    catalog_id: int = Field(sa_column_args=[sa.ForeignKey("catalog.id")])
    key: str
    source: str = _json(str)
    ids: list[str] = _json(list, of_texts=True)


class QueryFileRow(StoredRow, table=True):
    """One query set of the catalogs called ``name``: a file as it was uploaded."""

    __tablename__ = "query_file"

    name: str = _json(str, primary_key=True)
    file: str = _json(str, primary_key=True)
    at: str
    content: bytes


class VariantRow(StoredRow, table=True):
    """A document variant proposed for the tools with this fingerprint in the catalogs called
    ``name``.
    """

    __tablename__ = "variant"

    name: str = _json(str, primary_key=True)
    fingerprint: str = Field(primary_key=True)
    source: str = _json(str)
    expanded: str = _json(str)
    questions: list[str] = _json(list, of_texts=True)


class GeneratedRow(StoredRow, table=True):
    """A query that a model wrote for the catalogs called ``name``.

    ``key`` identifies its question; ``number`` counts the queries in the order in which they
    arrived.
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
    """One experiment on a version of a catalog; ``key`` is the hash of its kind
    and configuration.
    """

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
    """One answer of a model, by ledger key; ``value`` is null if the answer is unusable."""

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
    """One call of a model; ``number`` counts the calls in the order in which they
    were completed.
    """

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
    """The servers from which the catalogs called ``name`` were last read, without secret values."""

    __tablename__ = "server_source"

    name: str = _json(str, primary_key=True)
    at: str
    value: dict[str, Any] = _json()


class UsageLogRow(StoredRow, table=True):
    """Figures on the tools of the catalogs called ``name`` from one log or trace.

    The figures are counts and times; arguments and the texts of requests are not stored. ``key`` is
    the hash of the content of the log or trace.
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
"""Tables whose rows belong to all catalogs that share a name."""
OF_A_VERSION = (CatalogToolRow, ExperimentRow, JobRow, RunRow, SelectionRow)
"""Tables whose rows belong to one version of a catalog."""

for _table in StoredRow.metadata.tables.values():
    for _column in _table.columns:
        if isinstance(_column.type, Json):
            _column.type.column = _column
        elif isinstance(_column.type, sa.Integer):
            _column.type = _INTEGER
        elif isinstance(_column.type, AutoString):
            _column.type = _TEXT

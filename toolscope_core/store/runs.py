"""Runs of a model over a catalog: their configuration, end, cost, and answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from sqlalchemy import Integer, Row, func, insert
from sqlalchemy import cast as as_type
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, select

from toolscope_core.model.protocols import Answer, Call
from toolscope_core.model.tool import JsonObject, digest
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, damaged_row, found_row, of_row
from toolscope_core.store.tables import AnswerRow, CallRow, RunRow

RunState = Literal["running", "done", "paused", "stopped", "cancelled", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class ModelRun:
    """A stored run; ``message`` says why it ended early.

    ``configuration`` decides its questions; it contains no key. ``calls`` to ``cost`` are sums over
    the run's log of calls, and ``questions`` includes repeats and repairs. ``cost`` is ``None`` if
    a call had no price. ``counted`` is false if an endpoint did not report tokens.
    """

    id: str
    catalog_id: int
    kind: str
    configuration: JsonObject
    state: RunState
    message: str
    started_at: str
    ended_at: str
    calls: int = 0
    questions: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    cost: float | None = 0.0


def open_run(
    store: Store, run_id: str, catalog_id: int, kind: str, configuration: JsonObject
) -> ModelRun:
    """Continue the newest unfinished run, or record a new one under ``run_id``.

    A run is continued only if it has this catalog, this kind and exactly this configuration;
    another prompt, model or threshold makes another run.
    """
    key = digest(kind, configuration)
    unfinished = (
        select(RunRow)
        .where(RunRow.catalog_id == catalog_id, RunRow.key == key, RunRow.state != "done")
        .order_by(-col(RunRow.number))
    )
    with store.write() as session:
        catalog_row(session, store, catalog_id)
        row = session.exec(unfinished).first()
        if row is None:
            row = RunRow(
                id=run_id,
                catalog_id=catalog_id,
                kind=kind,
                key=key,
                configuration=dict(configuration),
                started_at=store.time(session),
            )
        row.state, row.message, row.ended_at = "running", "", ""
        session.add(row)
        session.flush()
        return _run(session, store, row)


def end_run(store: Store, run_id: str, state: RunState, message: str = "") -> ModelRun:
    """Record the end of the run, temporary or final, and return the run."""
    with store.write() as session:
        row = _row(session, store, run_id)
        row.state, row.message, row.ended_at = state, message, store.time(session)
        return _run(session, store, row)


def get_run(store: Store, run_id: str) -> ModelRun:
    """The run with this id. Raises ``StoreError`` if the id is not in the store."""
    with store.read() as session:
        return _run(session, store, _row(session, store, run_id))


def list_runs(store: Store, catalog_id: int | None = None) -> tuple[ModelRun, ...]:
    """All runs, or all runs on one catalog, newest first."""
    rows = select(RunRow).order_by(-col(RunRow.number))
    if catalog_id is not None:
        rows = rows.where(RunRow.catalog_id == catalog_id)
    with store.read() as session:
        return tuple(_run(session, store, row) for row in session.exec(rows))


def _row(session: Session, store: Store, run_id: str) -> RunRow:
    row = session.exec(select(RunRow).where(RunRow.id == run_id)).first()
    return found_row(store, row, f"run {run_id!r}; choose one from the history")


def _run(session: Session, store: Store, row: RunRow) -> ModelRun:
    if digest(row.kind, row.configuration) != row.key:
        reason = "its configuration differs from the one it started with"
        raise damaged_row(store, f"run row (id {row.id})", reason)
    sums = select(
        func.count(col(CallRow.number)),
        func.sum(col(CallRow.questions)),
        func.sum(col(CallRow.tokens_in)),
        func.sum(col(CallRow.tokens_out)),
        func.min(as_type(col(CallRow.counted), Integer)),
        func.sum(col(CallRow.cost)),
        func.count(col(CallRow.cost)),
    ).where(CallRow.run == row.id)  # type: ignore[call-overload]
    calls, questions, tokens_in, tokens_out, counted, cost, priced = session.exec(sums).one()
    return of_row(
        ModelRun,
        row,
        calls=calls,
        questions=int(questions or 0),
        tokens_in=int(tokens_in or 0),
        tokens_out=int(tokens_out or 0),
        counted=counted is None or bool(counted),
        cost=(cost or 0.0) if priced == calls else None,
    )


_AT_ONCE = 500
"""The number of keys in one query."""
_COLUMNS = tuple(getattr(AnswerRow, item.name) for item in fields(Answer))


class StoredLedger:
    """The ledger of a store; safe to share between threads.

    Answers do not belong to a run or a catalog: the same question is never asked twice.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def answers(self, keys: Sequence[str]) -> Mapping[str, Answer]:
        """The committed answers for these keys, in the order of the keys."""
        with self._store.read() as session:
            answers = {row.key: of_row(Answer, row) for row in _rows(session, keys, *_COLUMNS)}
        return {key: answers[key] for key in keys if key in answers}

    def commit(self, call: Call, answers: Sequence[Answer]) -> None:
        """Store a call and its answers, all or none; answers that already exist are kept."""
        with self._store.write() as session:
            # The time is read in this writer's turn, so nothing stored before the end of a run is
            # dated after it.
            at = self._store.time(session)
            keys = [answer.key for answer in answers]
            known_keys = {row.key for row in _rows(session, keys, AnswerRow.key)}
            rows = {
                answer.key: {**asdict(answer), "at": answer.at or at}
                for answer in reversed(answers)
                if answer.key not in known_keys
            }
            connection = session.connection()
            connection.execute(insert(CallRow), [{**asdict(call), "at": call.at or at}])
            if rows:
                connection.execute(insert(AnswerRow), list(rows.values()))


def _rows(session: Session, keys: Sequence[str], *columns: Any) -> Iterator[Row[Any]]:
    """The cells of these columns. Building row objects would take most of the time."""
    for start in range(0, len(keys), _AT_ONCE):
        some = col(AnswerRow.key).in_(keys[start : start + _AT_ONCE])
        yield from session.connection().execute(select_columns(*columns).where(some))

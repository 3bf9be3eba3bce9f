"""The ledger: answers that were paid for, and the log of the calls that they came with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields

from sqlalchemy import insert
from sqlalchemy import select as core_select
from sqlmodel import Session, col, select

from toolscope_core.model.protocols import Answer, Call
from toolscope_core.store.engine import Store
from toolscope_core.store.tables import AnswerRow, CallRow

AT_ONCE = 500
"""Keys of one query."""
_COLUMNS = tuple(getattr(AnswerRow, item.name) for item in fields(Answer))


class StoredLedger:
    """The ledger of a store; safe to share between threads.

    An answer belongs to no run and no catalog: the same question is never asked twice.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def answers(self, keys: Sequence[str]) -> Mapping[str, Answer]:
        """The committed ones among ``keys``, in their order."""
        with self._store.read() as session:
            answers = {answer.key: answer for answer in _answers(session, keys)}
        return {key: answers[key] for key in keys if key in answers}

    def commit(self, call: Call, answers: Sequence[Answer]) -> None:
        """Keep a call and its answers, all or nothing; a key that has an answer stays as it is."""
        with self._store.write() as session:
            # The time of this writer's turn: nothing of before comes after the end of a run.
            at = self._store.time(session)
            kept = _kept(session, [answer.key for answer in answers])
            rows = {
                answer.key: {**asdict(answer), "at": answer.at or at}
                for answer in reversed(answers)
                if answer.key not in kept
            }
            connection = session.connection()
            connection.execute(insert(CallRow), [{**asdict(call), "at": call.at or at}])
            if rows:
                connection.execute(insert(AnswerRow), list(rows.values()))


def read_calls(store: Store, run: str) -> tuple[Call, ...]:
    """The log of a run, in the order of its calls."""
    lines = select(CallRow).where(CallRow.run == run).order_by(col(CallRow.number))
    with store.read() as session:
        return tuple(_call(row) for row in session.exec(lines))


def _answers(session: Session, keys: Sequence[str]) -> Iterator[Answer]:
    """Column by column: building row objects would take most of the time."""
    for start in range(0, len(keys), AT_ONCE):
        some = col(AnswerRow.key).in_(keys[start : start + AT_ONCE])
        for row in session.connection().execute(core_select(*_COLUMNS).where(some)):
            yield Answer(**{**row._mapping, "subjects": tuple(row.subjects)})


def _kept(session: Session, keys: Sequence[str]) -> set[str]:
    """Those of the keys that have an answer."""
    kept: set[str] = set()
    for start in range(0, len(keys), AT_ONCE):
        some = col(AnswerRow.key).in_(keys[start : start + AT_ONCE])
        kept.update(session.exec(select(AnswerRow.key).where(some)))
    return kept


def _call(row: CallRow) -> Call:
    return Call(**row.model_dump(exclude={"number"}))

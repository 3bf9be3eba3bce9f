"""The ledger: answers that were paid for, and the log of the calls that they came with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Row, insert, select
from sqlmodel import Session, col

from toolscope_core.model.protocols import Answer, Call
from toolscope_core.store.engine import Store
from toolscope_core.store.rebuilding import of_row
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
            answers = {row.key: of_row(Answer, row) for row in _rows(session, keys, *_COLUMNS)}
        return {key: answers[key] for key in keys if key in answers}

    def commit(self, call: Call, answers: Sequence[Answer]) -> None:
        """Keep a call and its answers, all or nothing; a key that has an answer stays as it is."""
        with self._store.write() as session:
            # The time of this writer's turn: nothing of before comes after the end of a run.
            at = self._store.time(session)
            keys = [answer.key for answer in answers]
            kept = {row.key for row in _rows(session, keys, AnswerRow.key)}
            rows = {
                answer.key: {**asdict(answer), "at": answer.at or at}
                for answer in reversed(answers)
                if answer.key not in kept
            }
            connection = session.connection()
            connection.execute(insert(CallRow), [{**asdict(call), "at": call.at or at}])
            if rows:
                connection.execute(insert(AnswerRow), list(rows.values()))


def _rows(session: Session, keys: Sequence[str], *columns: Any) -> Iterator[Row[Any]]:
    """Column by column: building row objects would take most of the time."""
    for start in range(0, len(keys), AT_ONCE):
        some = col(AnswerRow.key).in_(keys[start : start + AT_ONCE])
        yield from session.connection().execute(select(*columns).where(some))

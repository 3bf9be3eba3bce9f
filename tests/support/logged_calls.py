"""The log of calls, one by one; the product reads their sums alone."""

from sqlmodel import col, select

from toolscope_core.model.protocols import Call
from toolscope_core.store.engine import Store, of_row
from toolscope_core.store.tables import CallRow


def read_calls(store: Store, run: str) -> tuple[Call, ...]:
    """The log of a run, in the order of its calls."""
    lines = select(CallRow).where(CallRow.run == run).order_by(col(CallRow.number))
    with store.read() as session:
        return tuple(of_row(Call, row) for row in session.exec(lines))

"""The append-only log of decisions. It belongs to a catalog's name and outlives the versions of the
catalog.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlmodel import Session, col, func, select

from toolscope_core.decisions.decision_lines import under_new_ids
from toolscope_core.decisions.forms import check_form
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, damaged_row, now, of_row
from toolscope_core.store.tables import CatalogRow, DecisionRow

Log = tuple[Decision, ...]


def append_decision(store: Store, catalog_id: int, decide: Callable[[Log], Decision]) -> Decision:
    """Append the decision that ``decide`` makes from the log; nothing else is written meanwhile.

    ``decide`` refuses by raising an error, and then nothing is written. If it returns an existing
    row (a repeat), that row is the result, and nothing is written. The log assigns ``seq`` (1, 2, …
    without gaps, unless rows were deleted), and ``at`` if the decision has no time.
    """
    (decision,) = append_decisions(store, catalog_id, [decide])
    return decision


def append_decisions(
    store: Store, catalog_id: int, steps: Iterable[Callable[[Log], Decision]]
) -> tuple[Decision, ...]:
    """Like ``append_decision``, but for several steps, all or none; each step sees the steps before
    it.
    """
    results = []
    with store.write() as session:
        catalog = catalog_row(session, store, catalog_id)
        log = log_in(session, store, catalog)
        for decide in steps:
            decision = decide(log)
            if not any(one.seq == decision.seq and one == decision for one in log):
                decision = _append(session, catalog.name, log, decision)
                log = (*log, decision)
            results.append(decision)
    return tuple(results)


def _append(session: Session, name: str, log: Log, decision: Decision) -> Decision:
    row = DecisionRow(
        name=name,
        seq=log[-1].seq + 1 if log else 1,
        at=decision.at or now(),
        action=decision.action,
        reviewer=decision.reviewer,
        fingerprints=list(decision.fingerprints),
        ids=list(decision.ids),
        detail=dict(decision.detail),
    )
    session.add(row)
    session.flush()
    session.refresh(row)
    return of_row(Decision, row)


def read_log(store: Store, catalog_id: int) -> Log:
    """All decisions on the catalogs with this name, in order of ``seq``.

    The ids are those of this version: tools that were renamed after a decision have their new ids.
    """
    with store.read() as session:
        return log_in(session, store, catalog_row(session, store, catalog_id))


def log_in(session: Session, store: Store, catalog: CatalogRow) -> Log:
    """Like ``read_log``, but inside a larger transaction."""
    log = _rows(session, store, catalog.name)
    renamings = session.exec(
        select(CatalogRow.at, CatalogRow.renamed)
        .where(CatalogRow.name == catalog.name, CatalogRow.number <= catalog.number)
        .where(CatalogRow.renamed != {})
        .order_by(col(CatalogRow.number))
    ).all()
    return tuple(_as_of_today(one, renamings) for one in log) if renamings else log


def _rows(session: Session, store: Store, name: str) -> Log:
    """The log with its original ids.

    Rows are only ever appended, so rows that were read before are not read again, unless a row is
    missing or the last one differs.
    """
    own = col(DecisionRow.name) == name
    cached = store.logs_read.get(name, ())
    last = cached[-1].seq if cached else 0
    count = select(func.count()).where(own, col(DecisionRow.seq) < last)
    if cached and session.exec(count).one() != len(cached) - 1:
        cached, last = (), 0
    rows = select(DecisionRow).where(own, col(DecisionRow.seq) >= last)
    new = [of_row(Decision, row) for row in session.exec(rows.order_by(col(DecisionRow.seq)))]
    if cached and new[:1] != [cached[-1]]:
        store.logs_read.pop(name, None)
        return _rows(session, store, name)
    if cached and len(new) == 1:
        return cached
    for decision in new:
        try:
            check_form(decision)
        except DecisionError as error:
            row = f"decision row (name {name!r}, seq {decision.seq})"
            raise damaged_row(store, row, str(error)) from error
    log = (*cached[:-1], *new)
    store.logs_read[name] = log
    return log


def _as_of_today(
    decision: Decision, renamings: Sequence[tuple[str, Mapping[str, str]]]
) -> Decision:
    """The decision, with its ids replaced by those of the versions that were added after it."""
    for at, new_ids in renamings:
        if decision.at <= at:
            decision = under_new_ids(decision, new_ids)
    return decision

"""How long a decision and its undo take in a log of 20,000 rows, beside reading all of it anew.

python -m benchmarks.log_speed
"""

import tempfile

from sqlalchemy import insert

from benchmarks.measuring import clocked, parser_of, print_machine, print_reference, print_row
from toolscope_core.decisions.log import admit
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.store.catalog_rows import save_catalog
from toolscope_core.store.decision_rows import append_decision, read_log
from toolscope_core.store.engine import Store
from toolscope_core.store.tables import DecisionRow

ROWS = 20_000
LIMIT = 0.2


def main() -> None:
    parser_of(__doc__).parse_args()
    print_machine(f"n = {ROWS:,} rows")
    print_reference()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/store.db")
        save_catalog(store, "one", Catalog(()))
        _fill(store)
        print_row("first read of the log", clocked(lambda: read_log(store, 1)))
        print_row("read again", clocked(lambda: read_log(store, 1)))
        decision = Decision("reject", ("tool 1", "tool 9"), ("tool 1", "tool 9"), "bob")
        undo = Decision("undo", (), (), "bob", detail={"retracts": ROWS + 1})
        for what, made in (("a decision", decision), ("its undo", undo)):
            seconds = clocked(
                lambda made=made: append_decision(store, 1, lambda log: admit(log, made))
            )
            print_row(what, seconds, LIMIT)
        store.close()


def _fill(store: Store) -> None:
    cells = {"name": "one", "at": "2026-01-01", "reviewer": "ann", "detail": {}, "action": "reject"}
    pairs = [[f"tool {seq}", f"tool {seq + 1}"] for seq in range(1, ROWS + 1)]
    rows = [{**cells, "seq": seq, "members": two, "ids": two} for seq, two in enumerate(pairs, 1)]
    with store.write() as session:
        session.connection().execute(insert(DecisionRow), rows)


if __name__ == "__main__":
    main()

"""The tables and figures of the papers that can be made here, with the papers' figures and ours.

 python -m benchmarks.papers [TABLE …] [--sets NAME …] [--json]
 python -m benchmarks.papers --list

``--list`` names every table with its data and its duration in minutes. README.md also lists the
tables that are not reproduced, with the reasons, and the commands for those that need a language
model. All tables differ from those of the papers in three ways: the judge of merges is offline
where the papers ask GPT-4o, the encoder is MiniLM where they use gte, and the queries are the
development part of each benchmark.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache

from benchmarks.measuring import parser_of, print_machine
from benchmarks.papers import agent_tables, rps_tables, tool2vec_tables, toolscope_tables
from benchmarks.papers.paper_sets import PaperSet, PaperTable
from toolscope_core.model.tool import JsonObject

TABLES: Mapping[str, PaperTable] = {
    **toolscope_tables.TABLES,
    **rps_tables.TABLES,
    **tool2vec_tables.TABLES,
    **agent_tables.TABLES,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of(__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    if unknown := set(options.tables) - TABLES.keys():
        parser.error(f"there is no table {min(unknown)!r}; give some of {', '.join(TABLES)}")
    if options.list:
        for name, table in TABLES.items():
            print(f"{name:13} {table.what}: {table.minutes} min, {', '.join(table.sets)}")
        return
    if not options.json:
        print_machine()
    for name in options.tables or TABLES:
        print_table(name, options.sets, as_json=options.json)


def print_table(name: str, sets: Sequence[str], *, as_json: bool) -> None:
    table = TABLES[name]
    for own in [one for one in table.sets if not sets or one in sets]:
        start = time.perf_counter()
        if not as_json:
            print(f"\n{name}, {table.what}: {own}", flush=True)
        for row in table.rows(_paper_set(own)):
            print_row({"table": name, "set": own, **row}, as_json=as_json)
        if not as_json:
            print(f"  [{time.perf_counter() - start:.0f} s]", flush=True)


@cache
def _paper_set(name: str) -> PaperSet:
    """A set. It is loaded and trained on only once."""
    return PaperSet.read(name)


def print_row(row: JsonObject, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(row), flush=True)
        return
    values = {key: value for key, value in row.items() if value is not None}
    cells = (f"{key} {value}" for key, value in values.items() if key not in ("table", "set"))
    print("  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

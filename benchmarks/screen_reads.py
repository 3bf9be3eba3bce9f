"""How a page uses the store: read transactions, processor time, and a server against a file.

 python -m benchmarks.screen_reads [--catalogs eight example livemcpbench] [--accepts 12]
 [--beside CHECKOUT] [--postgres URL]

Pages run as Streamlit runs them, but without a browser. A *redraw* is the run of Review after one
*Accept*. A *first visit* is the run of a page that a new session opens. ``--beside`` also measures
the pages of another checkout, in turn with these. ``--postgres`` also measures a database on that
server.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from streamlit.testing.v1 import AppTest

from benchmarks.measuring import parser_of, print_machine, read_named
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import read_environment
from toolscope_core.store.engine import Store
from ui.shared import page_frame
from ui.shared.services.workspace import Workspace

APP = Path(page_frame.__file__).resolve().parents[2] / "app.py"
PAGES = sorted(path.stem for path in (APP.parent / "pages").glob("*.py"))
FIRST = "catalog"
PATIENCE = 600
ROUNDS = 3
"""How often two checkouts, or two stores, take turns."""
EIGHT = 8


@contextmanager
def counted_reads() -> Iterator[Counter[str]]:
    """Count the reads of the store while this is open."""
    reads, read_rows = Counter[str](), Store.read

    def counting(store: Store) -> Any:
        reads["all"] += 1
        return read_rows(store)

    Store.read = counting
    yield reads
    Store.read = read_rows


def catalog_of(name: str) -> Catalog:
    """A catalog in the benchmark data, the example, or *eight* overlapping tools
    from the example.
    """
    if name != "eight":
        return read_named(name)
    example = read_named("example")
    names = Counter(tool.name for tool in example.tools)
    by_copies = sorted(example.tools, key=lambda tool: (-names[tool.name], tool.name, tool.id))
    eight = sorted(by_copies[:EIGHT], key=lambda tool: tool.id)
    servers = {tool.server for tool in eight}
    return Catalog(tuple(eight), tuple(s for s in example.servers if s.name in servers), "mcp")


def open_page(page: str, catalog: str) -> AppTest:
    """Open a page of a catalog in a new session."""
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE)
    app.query_params["catalog"] = catalog
    app.run()
    return app if page == FIRST else app.switch_page(f"pages/{page}.py").run()


def redraws(accepts: int, catalog: str) -> Iterator[tuple[int, float, float]]:
    """The reads, processor seconds and seconds that Review takes after each of ``accepts``
    decisions.
    """
    app = open_page("review", catalog)
    for _ in range(accepts):
        buttons = [one for one in app.button if (one.key or "").startswith("accept_")]
        buttons = [one for one in buttons if one.key != "accept_safe" and not one.disabled]
        if not buttons:
            return
        with counted_reads() as reads:
            worked, start = time.process_time(), time.perf_counter()
            buttons[0].click().run()
            yield reads["all"], time.process_time() - worked, time.perf_counter() - start
        if app.exception:
            raise SystemExit(app.exception[0].value)


def measure_catalog(name: str, url: str, accepts: int) -> dict[str, Any]:
    """The figures for one catalog in an empty store at ``url``."""
    with tempfile.TemporaryDirectory() as folder:
        url = url or f"sqlite:///{folder}/store.db"
        work = Workspace(replace(read_environment(), store_url=url, cache_dir=Path(folder)))
        page_frame.workspace = lambda: work
        catalog = f"Measured {uuid.uuid4().hex}"
        record = work.catalogs.add(catalog, catalog_of(name))
        work.analyses.wait(work.analyses.start(record.id))
        visits = {}
        for page in PAGES:
            open_page(page, catalog)  # for modules, and values that are computed only once
            with counted_reads() as reads:
                open_page(page, catalog)
            visits[page] = reads["all"]
        figures = list(redraws(accepts + 1, catalog))[1:]
        work.close()
    return {
        "reads": max(reads for reads, _, _ in figures),
        "worked": median(worked for _, worked, _ in figures),
        "seconds": median(seconds for _, _, seconds in figures),
        "redraws": len(figures),
        "visits": visits,
    }


def in_process(checkout: Path, name: str, accepts: int, url: str = "") -> dict[str, Any]:
    """The figures for a checkout, measured in a process of its own."""
    options = ["--catalogs", name, "--accepts", str(accepts), "--json", "--store", url]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, __file__, *options]
    run = subprocess.run(
        command, check=True, cwd=checkout, env=environment, capture_output=True, text=True
    )
    row: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return row


def tell(name: str, label: str, row: dict[str, Any]) -> None:
    visits = ", ".join(f"{page} {reads}" for page, reads in row["visits"].items())
    times = [f"{row[one] * 1000:.0f} ms" for one in ("worked", "seconds")]
    print(f"{name:14} {label:10} a redraw: {row['reads']} reads, {times[0]} of a core, {times[1]}")
    print(f"{'':25} first visits: {visits}", flush=True)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--catalogs", nargs="*", default=["eight", "example", "livemcpbench"])
    parser.add_argument("--accepts", type=int, default=12)
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT")
    parser.add_argument("--postgres", default="", metavar="URL")
    parser.add_argument("--json", action="store_true", help="one row, for a checkout beside")
    parser.add_argument("--store", default="", metavar="URL")
    options = parser.parse_args()
    if options.json:
        print(json.dumps(measure_catalog(options.catalogs[0], options.store, options.accepts)))
        return
    here = APP.parent
    print_machine(f"{options.accepts} decisions", f"{ROUNDS} rounds in turn")
    checkouts = {"here": (here, "")}
    checkouts |= {"beside": (options.beside.resolve(), "")} if options.beside else {}
    checkouts |= {"postgres": (here, options.postgres)} if options.postgres else {}
    for name in options.catalogs:
        rows: dict[str, list[dict[str, Any]]] = {label: [] for label in checkouts}
        for _ in range(ROUNDS):
            for label, (checkout, url) in checkouts.items():
                rows[label].append(in_process(checkout, name, options.accepts, url))
        middle = {
            label: {one: median(row[one] for row in own) for one in ("worked", "seconds")}
            for label, own in rows.items()
        }
        for label, own in rows.items():
            tell(name, label, {**own[0], **middle[label]})
        for label in list(checkouts)[1:]:
            ratios = (
                f"{middle['here'][one] / middle[label][one]:.2f}" for one in ("worked", "seconds")
            )
            print(f"{'':25} here / {label}: {' of a core, '.join(ratios)} of the time", flush=True)


if __name__ == "__main__":
    main()

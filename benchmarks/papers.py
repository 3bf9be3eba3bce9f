"""What the papers report and can be measured without a model, beside ours.

    python -m benchmarks.papers [bfcl ultratool seal-tools]

ToolScope, tables 3, 6 and 9: how much smaller the toolset gets, gold calls that still run (TCCR,
UCC), and Correct Selection Rate with the reranker, the merger and its correction on and off.
Retrieval–Plan–Select, table 7: recall among the closest distractors. What differs: the paper's
merger and correction ask GPT-4o and merge by gte-large at θ .82, its selector is GPT-4o that sees k
tools; here the judge is offline, the encoder MiniLM, and the selector takes the best tool of each
sub-query. Its queries are the whole benchmarks, ours their development part. TCCR here sends each
call through its argument map and validates it; *by name* is the paper's definition.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from benchmarks.measuring import analysis_of, catalog_file, data_folder, print_machine
from benchmarks.searching import interval_text, retriever_of
from toolscope_core.evaluation.call_coverage import GoldCall, gold_calls, mapped
from toolscope_core.evaluation.laboratory import ExperimentOptions, Laboratory
from toolscope_core.evaluation.measured_toolsets import Toolset, as_it_is
from toolscope_core.evaluation.stress import LEVELS, stress_test
from toolscope_core.evaluation.sweeps import AblationRow, Standing, ablation_rows
from toolscope_core.model.configuration import RetrievalConfig
from toolscope_core.model.environment import read_environment

SETS = ("bfcl", "ultratool", "seal-tools")
SMALLER = {"bfcl": 0.140, "ultratool": 0.253, "seal-tools": 0.021}
CALLS = {"bfcl": (0.82, 0.83), "ultratool": (0.91, 0.80), "seal-tools": (0.95, 0.96)}
CSR_AT = {"bfcl": 5, "ultratool": 30, "seal-tools": 30}
CSR = {
    "bfcl": (0.888, 0.938, 0.888, 0.938),
    "ultratool": (0.673, 0.743, 0.622, 0.752),
    "seal-tools": (0.694, 0.918, 0.912, 0.931),
}
"""The papers' figures; CSR with nothing on, with the corrected merger, with the reranker, with
both.
"""


def by_name(calls: Sequence[GoldCall], toolset: Toolset) -> float | None:
    """TCCR as the paper has it: some tool declares all arguments of the call, by name, after α."""
    if not calls:
        return None
    declared = [{one.name for one in tool.parameters} for tool in toolset.tools]
    kept = 0
    for call in calls:
        arguments, _ = mapped(call, toolset.arguments.get(call.tool))
        kept += any(set(arguments) <= names for names in declared)
    return kept / len(calls)


def report(name: str) -> None:
    start = time.perf_counter()
    options = ExperimentOptions(data_folder(name) / "queries.dev.jsonl")
    laboratory = Laboratory([catalog_file(name)], options, read_environment())
    trial = laboratory.trial((5, 10, 30))
    analysis = analysis_of(laboratory.catalog)
    print(f"\n{name}: {len(laboratory.catalog.tools):,} tools, {len(trial.queries):,} queries")
    print("  reranker merger correction   tools  smaller   CSR                   paper  TCCR   UCC")
    calls = gold_calls(trial.queries, trial.catalog)
    standing = Standing(trial, (), laboratory.tokens)
    for row in ablation_rows(analysis, standing, laboratory.ranker):
        print(line(name, row, len(laboratory.catalog.tools)), flush=True)
        last = row
    names = by_name(calls, last.measured.toolset)
    tccr, ucc = CALLS[name]
    shown = "no gold calls here" if names is None else f"ours by name {names:.3f}"
    print(f"  paper: smaller by {SMALLER[name]:.1%}, TCCR {tccr}, UCC {ucc}; {shown}")
    config = RetrievalConfig(rerank="none")
    for toolset in (as_it_is(laboratory.catalog), last.measured.toolset):
        test = stress_test(toolset, retriever_of(toolset.tools, config), trial)
        points = [one for one in test if one.noise == "closest"]
        figures = "  ".join(f"{one.recall.mean:.3f}" for one in points)
        print(f"  recall among {LEVELS} closest, {toolset.name}: {figures}")
    print(f"  {time.perf_counter() - start:.0f} s")


def line(name: str, row: AblationRow, tools: int) -> str:
    rows = {one.name: one.interval for one in row.measured.rows}
    csr = rows[f"csr@{CSR_AT[name]}"]
    is_compared = row.merger == "none" or (row.merger == "gateway" and row.correction)
    paper = f"{CSR[name][2 * row.reranker + row.correction]:.3f}" if is_compared else "-"
    flags = f"{'on' if row.reranker else '-':>10}{row.merger:>10}"
    size, kept = len(row.measured.toolset.tools), row.measured.coverage
    counted = "  -" if kept.tccr is None else f"  {kept.tccr:.3f}  {kept.ucc:.3f}"
    return (
        f"{flags}{'on' if row.correction else '-':>10}  {size:6,}  {1 - size / tools:6.1%}   "
        f"{interval_text(csr)}  {paper:>5}{counted}"
    )


def main() -> None:
    print_machine()
    for name in sys.argv[1:] or SETS:
        report(name)


if __name__ == "__main__":
    main()

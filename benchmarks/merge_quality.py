"""What a merge does to each catalog: tools and tokens saved, labels and gold calls kept, time.

 python -m benchmarks.merge_quality [--catalogs bfcl seal-tools github.com] [--drop-ins]

*pairs*: how many labelled pairs are in one cluster, how many of these are labelled *merge*, and
which share of all pairs labelled *merge* that is. *calls*: gold calls to merged tools that α maps
without loss and back, to calls that are as valid as before. For *all* without gateway tools, only
what is exported counts. Labelled catalogs are judged with weights that never saw their labels (the
thresholds did), the others by the shipped judge.

``--drop-ins`` lists every drop-in that is accepted without a person or waits for one, with both
tools. A drop-in is right if the kept tool, with its words and schema unchanged, serves every caller
of the other (``serves`` in the labels). Drop-ins without a label are for a person to judge.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import measuring
from benchmarks.held_out import judged_unseen, merge_counts
from benchmarks.train_judge import APPS, LabelledCatalog, load
from benchmarks.train_judge import CATALOGS as LABELLED
from toolscope_core.catalog.calls import map_call, takes, unmap_call, validator_of
from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import Costs, tokenizer
from toolscope_core.evaluation.comparison import GoldCall, gold_calls
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool

WAYS = {
    "auto": PlanConfig("auto"),
    "all": PlanConfig("all"),
    "all, gateway tools": PlanConfig("all", gateway=True),
}
RELATIONS = Path(__file__).with_name("data") / "relations"
MARKS = {True: "right", False: "WRONG", None: "?"}

Labels = Mapping[frozenset[str], str]
"""For two ids, the id of the tool that serves the other's callers, or *both* or *none*."""


def main() -> None:
    parser = measuring.parser_of(__doc__)
    measuring.add_catalogs(parser, measuring.CATALOGS, (*APPS, *measuring.APIS))
    parser.add_argument("--drop-ins", action="store_true", help="list them, with both tools")
    options = parser.parse_args()
    labelled = {name: load(name) for name in LABELLED}
    measuring.print_machine(f"tokens: {tokenizer().label}")
    print("seconds: the analysis with vectors known, then each way")
    for name in options.catalogs:
        plans = report(name, labelled)
        if options.drop_ins:
            print_drop_ins(plans["auto"], read_labels(name))


def report(name: str, labelled: Mapping[str, LabelledCatalog]) -> dict[str, MergePlan]:
    """Print the figures for a catalog. Returns its plan for each way of merging."""
    start = time.perf_counter()
    analysis = judged_unseen(
        measuring.analysis_of(measuring.read_named(name)), name, list(labelled.values())
    )
    seconds = time.perf_counter() - start
    file = measuring.data_folder(name) / "queries.dev.jsonl"
    calls = gold_calls(read_queries(file), analysis.catalog) if file.exists() else ()
    judge = "unseen judge" if name in labelled else "shipped judge"
    print(f"\n{name}: {len(analysis.catalog.tools)} tools, {judge}, analysed in {seconds:.1f} s")
    print(
        f"  {'way':<14}{'clusters':>9}{'replaced':>8}{'routed':>8}{'tokens':>9}   "
        f"{'pairs right/together':<22}{'merges found':<15}{'calls kept':<17}seconds"
    )
    costs, plans = Costs(), {}
    before = sum(costs.of(tool, PROMPT_FORMATS[0]) for tool in analysis.catalog.tools)
    for way, config in WAYS.items():
        fresh = analysis.without_cache()  # otherwise, the first way would pay for all of them
        start = time.perf_counter()
        plan = plans[way] = plan_merge(fresh, (), config)
        seconds = time.perf_counter() - start
        after = sum(costs.of(item.tool, PROMPT_FORMATS[0]) for item in plan.tools)
        savings = 1.0 - after / before
        print(f"  {way:<14}{cells(plan, savings, labelled.get(name), calls)}{seconds:.2f}")
    return plans


def cells(
    plan: MergePlan, savings: float, labelled: LabelledCatalog | None, calls: Sequence[GoldCall]
) -> str:
    clusters = [cluster.members for cluster in plan.applied]
    replaced, routed = (
        sum(len(one.members) - 1 for one in plan.applied if one.kind == kind)
        for kind in ("drop_in", "gateway")
    )
    precision, recall = "-", "-"
    if labelled:
        precision, recall = str(merge_counts(labelled, plan.catalog, clusters)).split(", found ")
    after = {item.tool.id: item.tool for item in plan.tools}
    maps = {alpha.tool_id: alpha for alpha in plan.arguments}
    are_kept = calls_kept(calls, plan.catalog.by_id, after, maps)
    valid_calls = f"{sum(are_kept)}/{len(are_kept)} of {len(calls)}" if calls else "-"
    counts = f"{len(clusters):>9}{replaced:>8}{routed:>8}{savings:>9.1%}"
    return f"{counts}   {precision:<22}{recall:<15}{valid_calls:<17}"


def calls_kept(
    calls: Sequence[GoldCall],
    before: Mapping[str, Tool],
    after: Mapping[str, Tool],
    maps: Mapping[str, ArgumentMap],
) -> list[bool]:
    """For each gold call to a merged tool, whether the call is kept.

    A call is kept if it is mapped without loss, is as valid as before, and is mapped back
    unchanged. ``before`` and ``after`` are the tools, by id.
    """
    return [
        _is_kept(call, before[call.tool], after[maps[call.tool].to], maps[call.tool])
        for call in calls
        if call.tool in maps
    ]


def _is_kept(call: GoldCall, old: Tool, new: Tool, alpha: ArgumentMap) -> bool:
    mapped = map_call(alpha, call.arguments)
    was_valid = takes(validator_of(old.schema), call.arguments)
    if mapped.losses or (was_valid and not takes(validator_of(new.schema), mapped.arguments)):
        return False
    types = {parameter.name: parameter.type for parameter in old.parameters}
    return unmap_call(alpha, mapped.arguments, types).arguments == call.arguments


def read_labels(name: str) -> Labels:
    """For the labelled pairs of a catalog, which tool serves which."""
    files = [folder / f"{name}.jsonl" for folder in (measuring.data_folder("relations"), RELATIONS)]
    rows = [row for file in (*files, measuring.APP_FOLDER / f"{name}.labels.jsonl") if file.exists()
            for row in measuring.json_rows(file)]  # fmt: skip
    return {
        frozenset((row["left"], row["right"])): row.get(row["serves"], row["serves"])
        for row in rows
    }


def print_drop_ins(plan: MergePlan, labels: Labels) -> None:
    tools = plan.catalog.by_id
    for state in ("accepted", "proposed"):
        rights = []
        for cluster in plan.clusters:
            if (cluster.kind, cluster.state) != ("drop_in", state):
                continue
            stays = tools[cluster.canonical]
            for goes in (tools[one] for one in cluster.members if one != stays.id):
                rights.append(is_right(goes, stays, labels))
                print(f"  {MARKS[rights[-1]]:5} {cluster.weakest_edge:.2f}")
                print(f"    goes   {measuring.tool_line(goes)}")
                print(f"    stays  {measuring.tool_line(stays)}")
                if cluster.reasons:
                    print(f"    waits  {'; '.join(cluster.reasons[:3])}")
        labelled = [one for one in rights if one is not None]
        rate = rate_text(sum(labelled), len(labelled))
        print(f"{state}: {len(rights)} drop-ins; of the labelled right: {rate}")


def is_right(goes: Tool, stays: Tool, labels: Labels) -> bool | None:
    """Whether the drop-in is right; ``None`` if nobody has labelled it."""
    if goes.content_hash == stays.content_hash:
        return True
    serves = labels.get(frozenset((goes.id, stays.id)))
    return None if serves is None else serves in ("both", stays.id)


if __name__ == "__main__":
    main()

"""What a merge gives on each catalog: tools and tokens saved, labels and gold calls kept, time.

    python -m benchmarks.merge_quality [--catalogs bfcl seal-tools]

*pairs*: labelled pairs that end in one cluster, how many of them are labelled *merge*, and how many
of the labelled merges that is. *calls*: gold calls to merged tools that α maps without loss to
calls as valid as before, and back. Of *all* without routers only what is exported counts.
"""

import time
from collections.abc import Mapping, Sequence

from benchmarks.held_out import analysed, kept, unseen_weights
from benchmarks.measuring import add_catalogs, data_folder, parser_of, print_machine
from benchmarks.train_judge import CATALOGS as LABELLED
from benchmarks.train_judge import Labelled, load
from toolscope_core.catalog.calls import map_call, takes, unmap_call, validator_of
from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import Costs, tokenizer
from toolscope_core.evaluation.comparison import GoldCall, gold_calls
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool

_WAYS = (
    ("auto", PlanConfig("auto")),
    ("all", PlanConfig("all")),
    ("all, routers", PlanConfig("all", routers=True)),
)


def main() -> None:
    parser = parser_of(__doc__)
    add_catalogs(parser)
    names = parser.parse_args().catalogs
    labelled = {name: load(name) for name in LABELLED}
    print_machine(f"tokens: {tokenizer().label}")
    print(
        "Labelled catalogs are judged by weights that never saw their labels (thresholds did), the "
        "others by the shipped judge.\nseconds: the analysis with vectors known, then each way"
    )
    for name in names:
        report(name, labelled)


def report(name: str, labelled: Mapping[str, Labelled]) -> None:
    unseen = unseen_weights(list(labelled.values()), name) if name in labelled else None
    start = time.perf_counter()
    analysis = analysed(name, unseen)
    seconds = time.perf_counter() - start
    file = data_folder(name) / "queries.dev.jsonl"
    calls = gold_calls(read_queries(file), analysis.catalog) if file.exists() else ()
    judged = "unseen judge" if unseen else "shipped judge"
    print(f"\n{name}: {len(analysis.catalog.tools)} tools, {judged}, analysed in {seconds:.1f} s")
    print(
        f"  {'way':<14}{'clusters':>9}{'pruned':>8}{'routed':>8}{'tokens':>9}   "
        f"{'pairs right/together':<22}{'merges found':<15}{'calls kept':<17}seconds"
    )
    costs = Costs()
    before = sum(costs.of(tool, PROMPT_SHAPES[0]) for tool in analysis.catalog.tools)
    for way, config in _WAYS:
        fresh = analysis.without_cache()  # or the first way would pay for all
        start = time.perf_counter()
        plan = plan_merge(fresh, (), config)
        seconds = time.perf_counter() - start
        after = sum(costs.of(item.tool, PROMPT_SHAPES[0]) for item in plan.tools)
        saved = 1.0 - after / before
        print(f"  {way:<14}{cells(plan, saved, labelled.get(name), calls)}{seconds:.2f}")


def cells(
    plan: MergePlan, saved: float, labelled: Labelled | None, calls: Sequence[GoldCall]
) -> str:
    clusters = [cluster.members for cluster in plan.applied]
    pruned, routed = (
        sum(len(one.members) - 1 for one in plan.applied if one.kind == kind)
        for kind in ("prune", "router")
    )
    precision, recall = "-", "-"
    if labelled:
        precision, recall = str(kept(labelled, plan.catalog, clusters)).split(", found ")
    after = {item.tool.id: item.tool for item in plan.tools}
    maps = {alpha.tool_id: alpha for alpha in plan.arguments}
    kept_calls = calls_kept(calls, plan.catalog.by_id, after, maps)
    moved = f"{sum(kept_calls)}/{len(kept_calls)} of {len(calls)}" if calls else "-"
    counts = f"{len(clusters):>9}{pruned:>8}{routed:>8}{saved:>9.1%}"
    return f"{counts}   {precision:<22}{recall:<15}{moved:<17}"


def calls_kept(
    calls: Sequence[GoldCall],
    before: Mapping[str, Tool],
    after: Mapping[str, Tool],
    maps: Mapping[str, ArgumentMap],
) -> list[bool]:
    """Of each gold call to a merged tool: whether it is mapped without loss, is as valid as before
    and maps back to what it was. ``before`` and ``after`` are tools by id.
    """
    return [
        _is_kept(call, before[call.tool], after[maps[call.tool].to], maps[call.tool])
        for call in calls
        if call.tool in maps
    ]


def _is_kept(call: GoldCall, old: Tool, new: Tool, alpha: ArgumentMap) -> bool:
    mapped = map_call(alpha, call.arguments)
    was_valid = takes(validator_of(old.schema), call.arguments)
    if mapped.lost or (was_valid and not takes(validator_of(new.schema), mapped.arguments)):
        return False
    types = {parameter.name: parameter.type for parameter in old.parameters}
    return unmap_call(alpha, mapped.arguments, types).arguments == call.arguments


if __name__ == "__main__":
    main()

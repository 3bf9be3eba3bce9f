"""What a merge gives on each catalog: tools and tokens saved, labels and gold calls kept, time.

    python -m benchmarks.merge_quality [--catalogs bfcl seal-tools]

*pairs*: labelled pairs that end in one cluster, how many of them are labelled *merge*, and how many
of the labelled merges that is. *calls*: gold calls to merged tools that α maps without loss to
calls as valid as before, and back. Of *all* without routers only what is exported counts.

In the same run: tools joined wherever the cosine reaches θ, the paper's first stage without a judge
(one tool of each component is kept, calls go to it unchanged).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import networkx as nx

from benchmarks.held_out import analysed, kept, unseen_weights
from benchmarks.measuring import (
    add_catalogs,
    data_folder,
    parser_of,
    print_machine,
)
from benchmarks.train_judge import CATALOGS as LABELLED
from benchmarks.train_judge import Labelled, load
from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import Costs, tokenizer
from toolscope_core.embedding.candidate_pairs import nearest
from toolscope_core.evaluation.coverage import GoldCall, gold_calls
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.merging.call_validity import takes, validator_of
from toolscope_core.merging.calls import map_call, unmap_call
from toolscope_core.merging.pipeline import Analysis, plan_merge
from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool

_THETAS = (0.6, 0.82)
_WAYS = (
    ("auto", PlanConfig("auto")),
    ("all", PlanConfig("all")),
    ("all, routers", PlanConfig("all", routers=True)),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one way of merging did: its clusters, who went, what is left, how calls move."""

    way: str
    clusters: tuple[tuple[str, ...], ...]
    pruned: int
    routed: int
    after: tuple[Tool, ...]
    maps: Mapping[str, ArgumentMap]
    seconds: float


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
    for outcome in (*ours(analysis), *plain(analysis)):
        print(line(outcome, analysis, labelled.get(name), calls, costs))


def ours(analysis: Analysis) -> Iterator[Outcome]:
    for way, config in _WAYS:
        fresh = analysis.without_cache()  # or the first way would pay for all
        start = time.perf_counter()
        plan = plan_merge(fresh, (), config)
        yield of_plan(way, plan, time.perf_counter() - start)


def of_plan(way: str, plan: MergePlan, seconds: float) -> Outcome:
    gone = {
        kind: sum(len(c.members) - 1 for c in plan.applied if c.kind == kind)
        for kind in ("prune", "router")
    }
    return Outcome(
        way=way,
        clusters=tuple(cluster.members for cluster in plan.applied),
        pruned=gone["prune"],
        routed=gone["router"],
        after=tuple(item.tool for item in plan.tools),
        maps={alpha.tool_id: alpha for alpha in plan.arguments},
        seconds=seconds,
    )


def plain(analysis: Analysis) -> Iterator[Outcome]:
    """Connected components of the pairs at θ or closer."""
    tools = analysis.catalog.tools
    for theta in _THETAS:
        start = time.perf_counter()
        near = nearest(analysis.vectors, analysis.config.neighbours, theta)
        pairs = zip(near.left.tolist(), near.right.tolist(), strict=True)
        clusters = components((tools[a].id, tools[b].id) for a, b in pairs)
        yield without_maps(f"θ {theta}", analysis, clusters, time.perf_counter() - start)


def components(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted(tuple(sorted(part)) for part in nx.connected_components(nx.Graph(pairs))))


def without_maps(
    way: str, analysis: Analysis, clusters: tuple[tuple[str, ...], ...], seconds: float
) -> Outcome:
    """Of each cluster the tool with the shortest name stays; calls go to it as they are."""
    tools = analysis.catalog.by_id
    chosen = [min(ids, key=lambda one: (len(tools[one].name), one)) for ids in clusters]
    into = {one: to for ids, to in zip(clusters, chosen, strict=True) for one in ids}
    return Outcome(
        way=way,
        clusters=clusters,
        pruned=len(into) - len(clusters),
        routed=0,
        after=tuple(tool for tool in tools.values() if into.get(tool.id, tool.id) == tool.id),
        maps={one: ArgumentMap(one, to) for one, to in into.items()},
        seconds=seconds,
    )


def line(
    outcome: Outcome,
    analysis: Analysis,
    labelled: Labelled | None,
    calls: Sequence[GoldCall],
    costs: Costs,
) -> str:
    tokens = partial(costs.of, shape=PROMPT_SHAPES[0])
    saved = 1.0 - sum(map(tokens, outcome.after)) / sum(map(tokens, analysis.catalog.tools))
    pairs, found = "-", "-"
    if labelled:
        of_labels = kept(labelled, analysis.catalog, outcome.clusters)
        pairs, found = str(of_labels).split(", found ")
    after = {tool.id: tool for tool in outcome.after}
    kept_calls = calls_kept(calls, analysis.catalog.by_id, after, outcome.maps)
    moved = f"{sum(kept_calls)}/{len(kept_calls)} of {len(calls)}" if calls else "-"
    return (
        f"  {outcome.way:<14}{len(outcome.clusters):>9}{outcome.pruned:>8}{outcome.routed:>8}"
        f"{saved:>9.1%}   {pairs:<22}{found:<15}{moved:<17}{outcome.seconds:.2f}"
    )


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

"""The merge end to end: a catalog is analysed once, then planned again after every decision.

``analyse`` does what takes time and depends on no decision: embed, find near pairs, judge
them, align and synthesise what would be merged. ``plan_merge`` does the rest in a fraction of a
second: graph, correction, φ and α under the decisions, and again what they changed.
"""

from toolscope_core.merging.analysing import analyse, judge_at_lowest_thresholds
from toolscope_core.merging.analysis import (
    Analysis,
    bars_of,
    own_thresholds,
    thresholds_of,
    with_owners,
    with_verdicts,
)
from toolscope_core.merging.grouping import correct_pairs, groups_at, with_families
from toolscope_core.merging.pair_graph import (
    edges_at,
    family_edges,
    joined_pairs,
    judged_edges,
    merge_edges,
    merges_at,
    row_graph,
    unsure_pairs,
)
from toolscope_core.merging.plan_making import (
    Proposed,
    alone,
    plan_merge,
    plan_of,
    proposed,
    supposed,
)

__all__ = [
    "Analysis",
    "Proposed",
    "alone",
    "analyse",
    "bars_of",
    "correct_pairs",
    "edges_at",
    "family_edges",
    "groups_at",
    "joined_pairs",
    "judge_at_lowest_thresholds",
    "judged_edges",
    "merge_edges",
    "merges_at",
    "own_thresholds",
    "plan_merge",
    "plan_of",
    "proposed",
    "row_graph",
    "supposed",
    "thresholds_of",
    "unsure_pairs",
    "with_families",
    "with_owners",
    "with_verdicts",
]

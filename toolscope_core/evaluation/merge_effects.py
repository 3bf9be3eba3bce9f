"""What each merge does to the queries it touches: the toolset with it and without."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolscope_core.evaluation.comparison import Measured, Trial
from toolscope_core.evaluation.measured_toolsets import Ranker, Toolset
from toolscope_core.evaluation.metrics import ndcg
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.files.json_lines import read_rows
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.protocols import Progress, Step, silent


@dataclass(frozen=True, slots=True)
class QueryEffect:
    """nDCG of the query at this place of its set, without a merge and with it."""

    query: int
    without: float
    with_it: float


@dataclass(frozen=True, slots=True)
class MergeEffect:
    """What one merge does: ``members`` are the ids of the tools that became ``tool``, ``queries``
    those it touches. A query is touched where it needs a member, or where the members or the merged
    tool are among the places that count; the others are not searched again. ``joins`` are the
    queries that need two members or more, which an agent told apart before.
    """

    tool: str
    members: tuple[str, ...]
    queries: tuple[QueryEffect, ...]
    joins: tuple[int, ...] = ()

    @property
    def change(self) -> float:
        """The sum over its queries of what nDCG gains by it; below 0 the merge harms."""
        return sum(one.with_it - one.without for one in self.queries)

    @property
    def helped(self) -> int:
        return sum(one.with_it > one.without for one in self.queries)

    @property
    def hurt(self) -> int:
        return sum(one.with_it < one.without for one in self.queries)


def merge_effects(
    plan: MergePlan,
    trial: Trial,
    before: Measured,
    after: Measured,
    ranker: Ranker,
    progress: Progress = silent,
) -> tuple[MergeEffect, ...]:
    """Every merge of a plan that touches a query, that which harms most first.

    ``before`` measured the catalog of the plan, ``after`` what the plan exports. A merge is left
    out by putting its members back in place of the merged tool; everything else stays, names too.

    Reports ``Step("merges", …)`` in merges.
    """
    merges = [item for item in plan.tools if len(item.members) > 1]
    effects = []
    for number, merge in enumerate(merges):
        progress(Step("merges", number, len(merges)))
        touched = _touched(merge, trial, before, after)
        if touched:
            effects.append(_effect(before.toolset, merge, touched, trial, after, ranker))
    progress(Step("merges", len(merges), len(merges)))
    return tuple(sorted(effects, key=lambda one: (one.change, one.tool)))


def without_merge(toolset: Toolset, came: Toolset, merge: MergedTool) -> Toolset:
    """The toolset with the members of one merge, as they are in ``came``, in place of the merged
    tool.
    """
    members, old = set(merge.members), came.by_id
    return replace(
        toolset,
        tools=(
            *(tool for tool in toolset.tools if tool.id != merge.tool.id),
            *(old[one] for one in merge.members),
        ),
        phi={one: new for one, new in toolset.phi.items() if one not in members},
        arguments={one: a for one, a in toolset.arguments.items() if one not in members},
    )


def _touched(merge: MergedTool, trial: Trial, before: Measured, after: Measured) -> list[int]:
    members = set(merge.members)
    return [
        place
        for place, query in enumerate(trial.queries)
        if any(not members.isdisjoint(need) for need in query.gold)
        or not members.isdisjoint(before.rankings[place])
        or merge.tool.id in after.rankings[place]
    ]


def _effect(
    came: Toolset,
    merge: MergedTool,
    touched: Sequence[int],
    trial: Trial,
    after: Measured,
    ranker: Ranker,
) -> MergeEffect:
    toolset, k = without_merge(after.toolset, came, merge), max(trial.cutoffs)
    rankings = ranker.rankings(toolset.tools, [trial.requests[place] for place in touched], k)
    golds = [one.gold for one in relabelled([trial.queries[at] for at in touched], toolset.phi)]
    members = set(merge.members)
    joins = [
        place
        for place in touched
        if sum(not members.isdisjoint(need) for need in trial.queries[place].gold) > 1
    ]
    return MergeEffect(
        tool=merge.tool.id,
        members=merge.members,
        queries=tuple(
            QueryEffect(
                place, ndcg(ranking, gold, k), ndcg(after.rankings[place], after.golds[place], k)
            )
            for place, ranking, gold in zip(touched, rankings, golds, strict=True)
        ),
        joins=tuple(joins),
    )


LABELS = ("merge", "keep")


def joined_queries(queries: Sequence[Query], toolset: Toolset) -> tuple[int, ...]:
    """The places of the queries that need two tools which are one now: somebody told them apart."""
    return tuple(
        place
        for place, query in enumerate(queries)
        if len({_after(need, toolset) for need in query.gold}) < len(set(query.gold))
    )


def forbidden_merges(toolset: Toolset, never: Iterable[Pair]) -> tuple[Pair, ...]:
    """The pairs of ``never`` that are one tool now, in their order."""
    ranked = sorted(never, key=lambda one: (one.left, one.right))
    return tuple(pair for pair in ranked if _is_one(pair, toolset))


@dataclass(frozen=True, slots=True)
class LabelledMerges:
    """Of pairs that people labelled: merges that are ``right`` and ``wrong``, and those ``missed``,
    which were left apart.
    """

    right: int
    wrong: tuple[Pair, ...]
    missed: int


def labelled_merges(toolset: Toolset, labels: Mapping[Pair, bool]) -> LabelledMerges:
    """``labels`` say of a pair whether it may be merged."""
    merged = [pair for pair in labels if _is_one(pair, toolset)]
    right = sum(labels[pair] for pair in merged)
    return LabelledMerges(
        right=right,
        wrong=forbidden_merges(toolset, [pair for pair in merged if not labels[pair]]),
        missed=sum(labels.values()) - right,
    )


def read_labels(path: Path) -> dict[Pair, bool]:
    """Labelled pairs of a JSONL file with ``left``, ``right`` (tool ids) and ``label`` (*merge* or
    *keep*). Raises ``ConfigError`` for a file that cannot be read, or a row of another form.
    """
    labels: dict[Pair, bool] = {}
    for number, row in read_rows(path):
        left, right, label = row.get("left"), row.get("right"), row.get("label")
        if not isinstance(left, str) or not isinstance(right, str) or label not in LABELS:
            raise ConfigError(
                f"{path}, line {number}: give `left` and `right` as tool ids, and `label` as "
                f"{' or '.join(LABELS)}"
            )
        labels[Pair.of(left, right)] = label == LABELS[0]
    return labels


def _is_one(pair: Pair, toolset: Toolset) -> bool:
    left = toolset.phi.get(pair.left, pair.left)
    return left is not None and left == toolset.phi.get(pair.right, pair.right)


def _after(need: frozenset[str], toolset: Toolset) -> frozenset[str | None]:
    return frozenset(toolset.phi.get(one, one) for one in need)

"""Finds the tools that an analysis puts together: groups that do one job, and families among the
other tools.

A family is one operation for several providers or fixed values, told apart by a single selector. No
member of a family could serve the callers of another, because no argument covers the difference. A
gateway with a selector could stand for them all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import PairRows
from toolscope_core.judging.judge import OF_ONE_GENERAL
from toolscope_core.judging.selector import DistinctWords
from toolscope_core.judging.weights import EVEN
from toolscope_core.merging.analysis import Analysis, bars_of
from toolscope_core.merging.contracted_graph import RowGraph, RowJudge, weakest_of_rows
from toolscope_core.merging.correction import Judge, correct, suspended, weakest_of, with_requested
from toolscope_core.merging.model_verdicts import ModelVerdicts
from toolscope_core.merging.pair_graph import edges_at, family_edges, merges_at, row_graph, staying
from toolscope_core.model.cluster import Group
from toolscope_core.model.configuration import MergeThresholds
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import ToolReading, read_tool
from toolscope_core.wording.words import words_of

Clean = Callable[[tuple[str, ...]], bool]
"""Whether these tools (ids, sorted) could be merged without a person if their probability allowed
it.
"""

Weakest = Callable[[tuple[str, ...]], float]
"""The lowest probability, over all pairs of these tools, that the two do the same job."""

_FEWEST_ALIKE, _MOST_ALIKE = 3, 40
"""The smallest and the largest number of similarly named tools that are tested as one family."""
_NEARLY = 0.75
"""Similar tools that differ in a value are a family if their mean probability is at least this
share of the threshold.
"""
_LARGEST = 12
"""Groups larger than this are left to people, because they have many pairs."""


def with_safe_subsets(
    groups: Sequence[Group], is_clean: Clean, weakest: Weakest, auto_at: float
) -> tuple[Group, ...]:
    """The groups, sorted, where each unclean one is divided into its safe subsets and the rest.

    Groups that people decided on or put forward are not divided, nor is a group without a safe
    subset. A single leftover tool is in no group.
    """
    parts = [part for group in groups for part in _divided(group, is_clean, weakest, auto_at)]
    return tuple(sorted(parts, key=lambda group: group.members))


def _divided(group: Group, is_clean: Clean, weakest: Weakest, auto_at: float) -> list[Group]:
    ids = group.members
    if group.decided or group.put_forward or not 2 < len(ids) <= _LARGEST or is_clean(ids):
        return [group]
    clean = {pair for pair in combinations(ids, 2) if is_clean(pair) and weakest(pair) >= auto_at}
    subsets: list[list[str]] = []
    for tool in ids:
        home = next(
            (subset for subset in subsets if all((one, tool) in clean for one in subset)), None
        )
        if home is None:
            subsets.append([tool])
        else:
            home.append(tool)
    parts = [tuple(subset) for subset in subsets if len(subset) > 1]
    if not parts:
        return [group]
    in_parts = {tool for part in parts for tool in part}
    rest = tuple(tool for tool in ids if tool not in in_parts)
    parts += [rest] if len(rest) > 1 else []
    return [
        replace(group, members=part, weakest_edge=weakest(part), split=True, intransitive=False)
        for part in parts
    ]


def groups_at(
    analysis: Analysis, links: Constraints, thresholds: MergeThresholds, *, divide: bool = True
) -> tuple[Group, ...]:
    """The groups that would be merged at these thresholds.

    They are the corrected groups, the groups from people's decisions on tools that have changed
    since, and the groups that people put forward. ``divide`` is as in ``correct``. A model's
    verdicts take priority over the offline judge's, and each group then lists where they disagree.
    """
    if analysis.model_verdicts is not None:
        return _groups_with_verdicts(analysis, links, thresholds, analysis.model_verdicts, divide)
    row_judge = _with_actions(analysis)

    def judge(pairs: Sequence[Pair]) -> NDArray[np.float64]:
        return row_judge(*analysis.ends(pairs))

    scores, is_merge = analysis.scores, merges_at(analysis, thresholds)
    graph = row_graph(analysis, links, scores.left[is_merge], scores.right[is_merge])
    groups = correct(graph, row_judge, thresholds.same_job, links, divide=divide)
    groups = _divided_further(analysis, groups, judge) if divide else groups
    return with_requested(groups + suspended(groups, links, judge), links, judge)


def _with_actions(analysis: Analysis) -> RowJudge:
    """The judge of the same job, for rows.

    Two actions of the same general tool are at least as close to each other as each is to that
    tool.
    """
    tools_by_general: dict[int, list[int]] = {}
    for row, general in zip(*map(np.ndarray.tolist, analysis.judge.facts.actions), strict=True):
        tools_by_general.setdefault(general, []).append(row)
    pairs = [pair for rows in tools_by_general.values() for pair in combinations(rows, 2)]
    one, other = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    size = len(analysis.rows)
    codes = one.astype(np.int64) * size + other

    def probabilities(left: PairRows, right: PairRows) -> NDArray[np.float64]:
        own = analysis.row_probabilities(left, right)
        beside = np.isin(left.astype(np.int64) * size + right, codes)
        return np.where(beside, np.maximum(own, OF_ONE_GENERAL), own)

    return probabilities if len(codes) else analysis.row_probabilities


def _groups_with_verdicts(
    analysis: Analysis,
    links: Constraints,
    thresholds: MergeThresholds,
    model_verdicts: ModelVerdicts,
    divide: bool,
) -> tuple[Group, ...]:
    bars, judge = bars_of(analysis), job_judge(analysis)
    edges = edges_at(analysis, thresholds)
    groups = correct_pairs(analysis, edges, links, judge, at=thresholds.same_job, divide=divide)
    groups = _divided_further(analysis, groups, judge) if divide else groups
    groups = with_requested(groups + suspended(groups, links, judge), links, judge)
    doubts = partial(model_verdicts.doubts, offline=analysis.probabilities, bars=bars)
    return tuple(
        replace(group, doubts=doubts(group.members), unfit=analysis.unfit(group.members))
        for group in groups
    )


def with_families(
    analysis: Analysis, links: Constraints, groups: Sequence[Group]
) -> tuple[Group, ...]:
    """The groups that do one job, and the families among the remaining tools, in member order.

    A group that people put together as a family stays a family. A tool with unmappable calls or a
    blocking finding is in no family.
    """
    judge = family_judge(analysis)
    family_at = bars_of(analysis).family_at
    marked = tuple(
        replace(group, family=True, weakest_edge=weakest_of(group.members, judge))
        if links.is_family(group.members)
        or (group.put_forward and weakest_of(group.members, judge) >= family_at)
        else group
        for group in groups
    )
    in_jobs = {tool for group in marked if not group.family for tool in group.members}
    alike = named_alike(analysis, links, free_rows(analysis, links, marked, in_jobs))
    verdicts, tools = analysis.model_verdicts, analysis.catalog.by_id
    stands = verdicts.is_family if verdicts else lambda pair: False
    row_judge = _by_ids(analysis, judge) if verdicts else analysis.candidate_family_probabilities

    def families_in(part: RowGraph) -> Iterator[Group]:
        for one in family_groups(part, row_judge, family_at, links, tools, stands):
            yield _joinable(analysis, one, judge)

    graph = family_graph(analysis, links, (*groups, *alike))
    families = analysis.families.of(graph, families_in, links.cannot)
    whole = (one for one in alike if in_jobs.isdisjoint(one.members))
    return tuple(sorted((*marked, *whole, *families), key=lambda group: group.members))


def named_alike(
    analysis: Analysis, links: Constraints, free: NDArray[np.bool_]
) -> tuple[Group, ...]:
    """Families of three or more ``free`` tools (by row) on one server with equal arguments, whose
    names differ in one word.

    In each family, at least half of the pairs are judged a family, whether or not they are
    candidates. The largest families come first. If one of the tools also does the same job as
    others, the whole family is left to ``card_families``, and no part of it becomes a family here.
    """
    free, family_at = free.copy(), bars_of(analysis).family_at
    judge = _by_ids(analysis, family_judge(analysis))
    alike, ids = [], tuple(analysis.rows)
    for template, every in analysis.judge.facts.by_template.items():
        rows = [row for row in every if free[row]]
        if _FEWEST_ALIKE <= len(rows) <= _MOST_ALIKE:
            left, right = np.array(list(combinations(rows, 2)), dtype=np.int32).T
            near = analysis.candidate_family_probabilities(left, right)
            if near.max() < family_at and not template.is_of_values:
                continue
            family = judge(left, right)
            is_usual = near.max() >= family_at and (family >= family_at).mean() >= EVEN
            if is_usual or (template.is_of_values and family.mean() >= _NEARLY * family_at):
                alike.append((-len(rows), -float(family.mean()), rows, float(family.min())))
    families: list[Group] = []
    for _, _, rows, weakest in sorted(alike):
        members = tuple(ids[row] for row in rows)
        apart = any(Pair.of(*pair) in links.cannot for pair in combinations(members, 2))
        if free[rows].all() and not apart:
            free[rows] = False
            families.append(Group(members, weakest, family=True))
    return tuple(families)


def family_judge(analysis: Analysis) -> Judge:
    """The probabilities of a family: from the model if it was asked, or else from the offline
    judge.
    """
    verdicts, offline = analysis.model_verdicts, analysis.family_probabilities
    if verdicts is None:
        return offline
    return partial(verdicts.family_probabilities, offline=offline, bars=bars_of(analysis))


def job_judge(analysis: Analysis) -> Judge:
    """The probabilities of the same job: from the model if it was asked, or else from the offline
    judge.
    """
    verdicts, offline = analysis.model_verdicts, analysis.probabilities
    if verdicts is None:
        return offline
    return partial(verdicts.probabilities, offline=offline, bars=bars_of(analysis))


def family_groups(
    graph: RowGraph,
    judge: RowJudge,
    family_at: float,
    constraints: Constraints,
    tools: Mapping[str, Tool],
    stands: Callable[[Pair], bool] = lambda pair: False,
) -> tuple[Group, ...]:
    """Groups of two or more tools, sorted, in which any two are a family and one selector varies.

    ``judge`` gives the probability of a family, which must be at least ``family_at``. Tools are a
    family, whatever their names, if ``stands`` confirms each pair of them. Of the constraints, only
    *never merge* matters: nothing that people put together is in the graph.
    """
    cannot = Constraints(cannot=constraints.cannot)
    rows = {tool: row for row, tool in enumerate(graph.ids)}
    parts = [
        part
        for group in correct(graph, judge, family_at, cannot)
        for part in _by_selector([tools[member] for member in group.members], stands)
    ]
    weakest = weakest_of_rows([[rows[tool] for tool in part] for part in parts], judge)
    families = (Group(*own, family=True) for own in zip(parts, weakest, strict=True))
    return tuple(sorted(families, key=lambda group: group.members))


def _by_selector(members: Sequence[Tool], stands: Callable[[Pair], bool]) -> list[tuple[str, ...]]:
    """The ids that can stay together when each member needs its own words, or its own server.

    A tool that differs from the others in another selector begins a new group.
    """
    groups: list[DistinctWords] = []
    for tool in members:
        reading = read_tool(tool)
        for at, group in enumerate(groups):
            wider = group.with_tool(reading)
            pairs = combinations([one.tool.id for one in wider.readings], 2)
            if all(stands(Pair.of(a, b)) for a, b in pairs) or _have_values(wider):
                groups[at] = wider
                break
        else:
            groups.append(DistinctWords().with_tool(reading))
    several = (group.readings for group in groups if len(group.readings) > 1)
    return [tuple(one.tool.id for one in readings) for readings in several]


def _have_values(distinct: DistinctWords) -> bool:
    readings, words = distinct.readings, distinct.own_words()
    name_words = [
        [word for word in own if word in one.name_words]
        for own, one in zip(words, readings, strict=True)
    ]
    by_server = len({one.tool.server for one in readings}) == len(readings)
    if by_server and len({_without_server(one) for one in readings}) == 1:
        return True
    if all(name_words):
        return len(readings) < 3 or not _vary_otherwise(readings, words)
    if any(name_words) and len(readings) > 2:
        return False
    return all(words) or by_server


def _without_server(reading: ToolReading) -> frozenset[str]:
    """The words of a tool's name without those of its server: *who am I* for
    ``gmail/Gmail_WhoAmI``.
    """
    return frozenset(reading.name_words) - set(words_of(reading.tool.server))


def _vary_otherwise(readings: Sequence[ToolReading], words: Sequence[Sequence[str]]) -> bool:
    """Whether some of the tools, but not all, have a word of another selector in their name:
    *price* beside *stock*.
    """
    names = [frozenset(one.name_words) for one in readings]
    common = frozenset.intersection(*names)
    return any(name - common - set(own) for name, own in zip(names, words, strict=True))


def family_graph(analysis: Analysis, links: Constraints, groups: Sequence[Group]) -> RowGraph:
    """The pairs of a family, among the tools that the ``groups`` of one job leave free."""
    free = free_rows(analysis, links, groups)
    left, right, _, _ = staying(analysis, links, *family_rows(analysis))
    is_free = free[left] & free[right]
    return row_graph(analysis, replace(links, must=()), left[is_free], right[is_free])


def free_rows(
    analysis: Analysis, links: Constraints, groups: Iterable[Group], in_jobs: Set[str] = frozenset()
) -> NDArray[np.bool_]:
    """For each row, whether its tool may be in a family.

    The tool's calls must be mappable, and it must be in no group, unless it is among ``in_jobs``.
    """
    used = {tool for group in groups for tool in (*group.members, *group.newcomers)} - in_jobs
    used |= analysis.catalog.blocked | links.omitted
    free = np.array([tool not in used for tool in analysis.rows])
    return np.asarray(free & analysis.judge.facts.mappable)


def family_rows(analysis: Analysis) -> tuple[PairRows, PairRows]:
    """The candidate pairs that are a family, as rows."""
    if analysis.model_verdicts is None:
        is_family = analysis.scores.family >= analysis.judge.weights.family_at
        return analysis.scores.left[is_family], analysis.scores.right[is_family]
    own = family_edges(analysis)
    edges = analysis.model_verdicts.families(
        own, bars_of(analysis), analysis.threshold, analysis.far_candidates(analysis.threshold)
    )
    return analysis.ends(list(edges))


def _by_ids(analysis: Analysis, judge: Judge) -> RowJudge:
    """A judge of pairs of ids, turned into a judge of pairs of rows."""
    ids = tuple(analysis.rows)

    def row_judge(one: PairRows, other: PairRows) -> NDArray[np.float64]:
        return judge([Pair.of(ids[a], ids[b]) for a, b in zip(one, other, strict=True)])

    return row_judge


def _divided_further(
    analysis: Analysis, groups: Sequence[Group], judge: Judge
) -> tuple[Group, ...]:
    """The groups, with tools that cannot join removed, divided into their safe subsets.

    Groups across servers stay whole, because there a gateway can serve more than two tools.
    """
    tools = analysis.catalog.by_id
    groups = [_joinable(analysis, group, judge) for group in groups]
    whole = [group for group in groups if len({tools[id].server for id in group.members}) > 1]
    rest = [group for group in groups if len({tools[id].server for id in group.members}) == 1]
    weakest = partial(weakest_of, judge=judge)

    def is_clean(members: tuple[str, ...]) -> bool:
        return analysis.syntheses.is_clean(members, analysis.unfit(members))

    divided = with_safe_subsets(rest, is_clean, weakest, bars_of(analysis).auto_at)
    return tuple(sorted((*whole, *divided), key=lambda group: group.members))


def _joinable(analysis: Analysis, group: Group, judge: Judge) -> Group:
    """The group without the tools whose calls the merged tool could not take; those tools stay
    single.

    The group stays unchanged if people made it, or if fewer than two tools would be left.
    """
    if len(group.members) < 3 or group.decided or group.put_forward:
        return group
    ids = group.members
    while len(ids) > 1:
        unfit = frozenset[str]() if group.family else analysis.unfit(ids)
        own = analysis.syntheses.synthesis(ids, None, group.family, unfit=unfit)
        joinable_ids = tuple(one.tool_id for one in own.arguments if one.applicable)
        if joinable_ids == ids:
            is_whole = ids == group.members
            weakest = group.weakest_edge if is_whole else weakest_of(ids, judge)
            return replace(
                group, members=ids, weakest_edge=weakest, split=group.split or not is_whole
            )
        ids = joinable_ids
    return group


def correct_pairs(
    analysis: Analysis,
    edges: Iterable[Pair],
    links: Constraints,
    judge: Judge,
    *,
    at: float | None = None,
    divide: bool = True,
) -> tuple[Group, ...]:
    """Like ``correct``, but for edges and a judge given as pairs of ids.

    ``at`` defaults to the threshold of the judge itself.
    """
    graph = row_graph(analysis, links, *analysis.ends(list(edges)))
    merge_at = bars_of(analysis).merge_at if at is None else at
    return correct(graph, _by_ids(analysis, judge), merge_at, links, divide=divide)

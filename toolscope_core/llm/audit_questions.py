"""Finds the clusters and families that a model is shown as a whole, and the pairs
they still need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.judge_prompt import (
    AUDIT_TASK,
    FAMILY_AUDIT_TASK,
    ClusterTools,
    audit_groups,
)
from toolscope_core.merging.analysis import Analysis, bars_of, own_thresholds, with_verdicts
from toolscope_core.merging.contracted_graph import RowGraph
from toolscope_core.merging.grouping import correct_pairs, family_graph, groups_at, with_families
from toolscope_core.merging.model_verdicts import Audit, ModelVerdicts
from toolscope_core.merging.pair_graph import merge_edges
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.cluster import Group
from toolscope_core.model.configuration import QuestionConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Answer
from toolscope_core.model.tool import JsonObject, Tool

if TYPE_CHECKING:
    from toolscope_core.merging.graph import MergeGraph


@dataclass(frozen=True, slots=True)
class ToolSet:
    """The ids of tools (sorted) that the verdicts put together; a ``doubtful`` set is audited."""

    members: tuple[str, ...]
    doubtful: bool


def clusters_to_audit(
    analysis: Analysis, links: Constraints, model_verdicts: ModelVerdicts, config: QuestionConfig
) -> list[ToolSet]:
    """The clusters of one job that the verdicts form."""
    from toolscope_core.merging.graph import merge_graph  # loads networkx

    bars, tools = bars_of(analysis), analysis.catalog.by_id
    edges = model_verdicts.edges(
        merge_edges(analysis), bars, analysis.threshold, analysis.far_candidates(analysis.threshold)
    )
    graph = merge_graph(edges, links)
    weakest: dict[str, float] = {}
    for pair, p in graph.edges.items():
        # an edge from the model is raised to the bar for merges
        verdict = model_verdicts.verdicts.get(pair)
        sure = verdict.same_job if verdict else p
        for tool in (pair.left, pair.right):
            weakest[tool] = min(sure, weakest.get(tool, 1.0))
    clusters = []
    for component in graph.components:
        whole = config.paper or len(component) <= config.largest_cluster
        parts = [component] if whole else _parts(analysis, links, model_verdicts, graph, component)
        for ids in parts:
            contents = {tools[tool].content_hash for tool in ids}
            if len(contents) == 1 or frozenset(ids) in links.must:
                continue
            weak = min(weakest[tool] for tool in ids) < bars.auto_at
            clusters.append(ToolSet(ids, config.paper or len(contents) > 2 or weak))
    return clusters


def families_to_audit(
    analysis: Analysis, links: Constraints, model_verdicts: ModelVerdicts
) -> list[ToolSet]:
    """The families that the verdicts form, except those that people put together."""
    by_model = with_verdicts(analysis, model_verdicts)
    groups = groups_at(by_model, links, own_thresholds(by_model))
    sets = []
    for group in with_families(by_model, links, groups):
        if not group.family or group.decided:
            continue
        pairs = [Pair.of(a, b) for a, b in combinations(group.members, 2)]
        verdicts = [verdict for pair in pairs if (verdict := model_verdicts.verdicts.get(pair))]
        weak = min((one.family for one in verdicts), default=1.0) < bars_of(analysis).auto_at
        sets.append(ToolSet(group.members, len(group.members) > 2 or weak))
    return sets


def missing_pairs(
    analysis: Analysis, links: Constraints, model_verdicts: ModelVerdicts
) -> list[Pair]:
    """The unasked pairs that decide a merge or a family.

    First come the pairs of a tool that a drop-in would keep and another member. Then come two kinds
    of pairs, those most likely to be a family first (according to the offline judge): two tools
    that are a family with the same third tool, and a family's member with a tool that the family
    may lack.
    """
    by_model = with_verdicts(analysis, model_verdicts)
    groups = groups_at(by_model, links, own_thresholds(by_model))
    tools = analysis.catalog.by_id

    def is_open(pair: Pair) -> bool:
        alike = tools[pair.left].content_hash == tools[pair.right].content_hash
        return not (alike or pair in model_verdicts.verdicts or is_decided(pair, links))

    to_canonical = sorted(filter(is_open, _pairs_of_kept(by_model, groups)))
    graph = family_graph(by_model, links, groups)
    lacking = _pairs_of_lacking(by_model, with_families(by_model, links, groups))
    families = sorted(filter(is_open, _pairs_of_families(graph) | lacking))
    odds = dict(zip(families, analysis.family_probabilities(families).tolist(), strict=True))
    return [*to_canonical, *sorted(families, key=lambda pair: (-odds[pair], pair))]


def with_audits(
    analysis: Analysis,
    model_verdicts: ModelVerdicts,
    sets: Sequence[ToolSet],
    asker: Asker,
    family: bool = False,
) -> ModelVerdicts:
    """The verdicts with an audit of each doubtful set, either as a ``family`` or as one tool."""
    tools, task = analysis.catalog.by_id, FAMILY_AUDIT_TASK if family else AUDIT_TASK
    doubtful = [one.members for one in sets if one.doubtful]
    items = []
    for ids in doubtful:
        members = tuple(tools[member] for member in ids)
        items.append(ClusterTools(members, described_servers(analysis.catalog, members)))
    audits = list(model_verdicts.audits)
    for ids, item, answer in zip(doubtful, items, asker(task, items), strict=True):
        if value := value_of(answer):
            audits.append(Audit(ids, audit_groups(item, value), value["reason"], family))
        else:
            audits.append(Audit(ids, reason=why_open(answer, asker), family=family))
    return replace(model_verdicts, audits=tuple(audits))


def described_servers(catalog: Catalog, tools: Iterable[Tool]) -> tuple[Server, ...]:
    """The servers of these tools that have a description of their own."""
    names = {tool.server for tool in tools}
    about = (one for one in catalog.servers if one.description or one.title)
    return tuple(one for one in about if one.name in names)


def _pairs_of_kept(analysis: Analysis, groups: Iterable[Group]) -> Iterator[Pair]:
    """In each group that could be a drop-in, the pairs of the tool it would keep and another
    member.
    """
    for group in groups:
        synthesis = analysis.syntheses.synthesis(group.members, None, unfit=group.unfit)
        if synthesis.kind == "drop_in" and not group.decided:
            canonical = synthesis.canonical
            yield from (Pair.of(canonical, tool) for tool in group.members if tool != canonical)


def _pairs_of_families(graph: RowGraph) -> set[Pair]:
    """The pairs of two tools that are each a family with the same third tool."""
    related: dict[int, set[int]] = {}
    for a, b in zip(graph.left.tolist(), graph.right.tolist(), strict=True):
        related.setdefault(a, set()).add(b)
        related.setdefault(b, set()).add(a)
    return {
        Pair.of(graph.ids[a], graph.ids[b])
        for neighbours in related.values()
        for a, b in combinations(neighbours, 2)
    }


def _pairs_of_lacking(analysis: Analysis, groups: Sequence[Group]) -> set[Pair]:
    """Unasked pairs of a family's member and a tool that the family may lack.

    The tool is on one of the family's servers and in no group, and the offline judge considers it
    another case of the family. It is paired with the member that is most likely a family with it.
    """
    grouped = {tool for group in groups for tool in (*group.members, *group.newcomers)}
    free = [tool for tool in analysis.catalog.tools if tool.id not in grouped]
    verdicts = analysis.model_verdicts.verdicts if analysis.model_verdicts else {}
    pairs = set()
    for group in groups:
        servers = {analysis.catalog.by_id[member].server for member in group.members}
        for tool in free if group.family and not group.decided else ():
            own = [Pair.of(tool.id, member) for member in group.members]
            if tool.server in servers and verdicts.keys().isdisjoint(own):
                odds = analysis.family_probabilities(own)
                if odds.max() >= analysis.judge.weights.family_at:
                    pairs.add(own[int(odds.argmax())])
    return pairs


def _parts(
    analysis: Analysis,
    links: Constraints,
    model_verdicts: ModelVerdicts,
    graph: MergeGraph,
    component: tuple[str, ...],
) -> list[tuple[str, ...]]:
    """The parts into which correction divides a component that is too large for one question."""
    inside = set(component)
    own = [pair for pair in graph.edges if pair.left in inside]
    judge = partial(
        model_verdicts.probabilities, offline=analysis.probabilities, bars=bars_of(analysis)
    )
    groups = correct_pairs(analysis, own, links, judge)
    return [group.members for group in groups if not group.decided]


def is_decided(pair: Pair, links: Constraints) -> bool:
    together = any({pair.left, pair.right} <= group for group in links.must)
    return together or pair in links.cannot


def why_open(answer: Answer | None, asker: Asker) -> str:
    return answer.reason if answer else asker.message or "it has no usable answer yet"


def value_of(answer: Answer | None) -> JsonObject | None:
    return answer.value if answer else None

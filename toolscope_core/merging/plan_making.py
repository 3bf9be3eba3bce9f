"""The plan of an analysis under the decisions of people and an accept policy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolscope_core.catalog.document_variants import with_expanded
from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.decisions.constraints import constraints, edits, variants
from toolscope_core.decisions.log import versions_of
from toolscope_core.merging.analysis import Analysis, bars_of, thresholds_of
from toolscope_core.merging.auto_accept import accept
from toolscope_core.merging.clusters import Edits, apply_clusters, build_clusters
from toolscope_core.merging.correction import weakest_of
from toolscope_core.merging.grouping import groups_at, with_families
from toolscope_core.merging.merge_sizes import is_larger_router, merge_size
from toolscope_core.model.cluster import Cluster, Group
from toolscope_core.model.configuration import MergeThresholds, PlanConfig
from toolscope_core.model.decision import Constraints, Decision
from toolscope_core.model.plan import MergePlan


def plan_merge(
    analysis: Analysis, log: Sequence[Decision] = (), config: PlanConfig | None = None
) -> MergePlan:
    """The merge plan under the decisions of ``log`` and the accept policy of ``config``, by default
    *auto*: only what is safe unseen.

    A model's verdicts decide what is proposed; what may be accepted without a person they
    decide only together with the offline judge.
    """
    config = config or PlanConfig("auto")
    plan = plan_of(analysis, proposed(analysis, log, divide=config.correct), config)
    return with_expanded(plan, variants(analysis.catalog, log)) if config.expanded else plan


@dataclass(frozen=True, slots=True)
class Proposed:
    """The proposals under people's decisions, before any accept policy: ``clusters`` to be merged,
    tools ``edited`` on their own as clusters of one, the ids of those ``omitted``.
    """

    clusters: tuple[Cluster, ...]
    edited: tuple[Cluster, ...]
    omitted: frozenset[str]


def proposed(
    analysis: Analysis,
    log: Sequence[Decision],
    *,
    divide: bool = True,
    thresholds: MergeThresholds | None = None,
) -> Proposed:
    """The proposals under the decisions, at the thresholds that people applied last or at another.
    ``divide`` as in ``correct``.
    """
    catalog = analysis.catalog
    links = constraints(catalog, log)
    groups = groups_at(analysis, links, thresholds or thresholds_of(analysis, log), divide=divide)
    groups = with_families(analysis, links, groups)
    auto_at = bars_of(analysis).auto_at
    if analysis.model_verdicts is not None:
        auto_at = 0.0  # the doubts name each pair
    wishes = edits(catalog, log)
    groups += _edited_alone(wishes)
    built = build_clusters(catalog, groups, links, wishes, auto_at, analysis.syntheses)
    tools = catalog.by_id
    forms = [form for c in built for form in (c.members, (*c.members, *c.newcomers))]
    versions = versions_of(([tools[m].fingerprint for m in form] for form in forms), log)
    seen = zip(built, versions[::2], versions[1::2], strict=True)
    versioned = [replace(c, version=own, grown=grown) for c, own, grown in seen]
    clusters = tuple(c for c in versioned if len(c.members) > 1)
    return Proposed(clusters, tuple(c for c in versioned if len(c.members) == 1), links.omitted)


def plan_of(analysis: Analysis, proposals: Proposed, config: PlanConfig) -> MergePlan:
    """The plan of the proposals under an accept policy."""
    catalog, tools, costs = analysis.catalog, analysis.catalog.by_id, analysis.syntheses.costs
    clusters = accept(
        proposals.clusters,
        config,
        catalog.blocked,
        lambda one: is_larger_router(one, merge_size(one, tools, PROMPT_SHAPES[0], costs)),
    )
    plan = apply_clusters(catalog, clusters, config.routers, proposals.edited, proposals.omitted)
    return plan if config.eager is None else replace(plan, eager=frozenset(config.eager))


def alone(analysis: Analysis, log: Sequence[Decision], tool_id: str) -> Cluster:
    """One tool as a cluster of one, under the document that people gave it, if any."""
    links, wishes = constraints(analysis.catalog, log), edits(analysis.catalog, log)
    groups = _edited_alone(wishes, tool_id)
    built = build_clusters(analysis.catalog, groups, links, wishes, 0.0, analysis.syntheses)
    (own,) = (cluster for cluster in built if cluster.canonical == tool_id)
    version = versions_of([[analysis.catalog.by_id[tool_id].fingerprint]], log)[0]
    return replace(own, version=version, grown=version)


def supposed(analysis: Analysis, members: Sequence[str], family: bool) -> Cluster:
    """What these tools (ids, two or more) would be as one cluster, whatever people decided."""
    ids = tuple(sorted(members))
    judge = analysis.family_probabilities if family else analysis.probabilities
    group = Group(ids, weakest_of(ids, judge), family=family)
    auto_at = bars_of(analysis).auto_at
    (cluster,) = build_clusters(
        analysis.catalog, (group,), Constraints(), {}, auto_at, analysis.syntheses
    )
    return cluster


def _edited_alone(wishes: Edits, *also: str) -> tuple[Group, ...]:
    """The tools whose own document people edited, and ``also`` these, as groups of one."""
    edited = {ids for ids, edit in wishes.items() if len(ids) == 1 and edit.document}
    return tuple(Group((tool_id,), decided=True) for tool_id in sorted({*also}.union(*edited)))

"""Analyses a catalog (embedding, judging near pairs, making merged tools) and plans its merge.

The plan follows people's decisions and an accept policy.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from toolscope_core.catalog.document_variants import with_expanded
from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import Costs, SizeChange, tokenizer
from toolscope_core.decisions.constraints import ToolLocator, constraints, edits, variants
from toolscope_core.decisions.forms import id_list
from toolscope_core.decisions.log import active, versions_of
from toolscope_core.embedding.candidate_pairs import (
    PairRows,
    candidates,
    default_threshold,
    same_named,
)
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.judging.cached_judge import CachedJudge
from toolscope_core.judging.far_pairs import of_one_object
from toolscope_core.judging.implied_servers import with_implied_servers
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.merging.analysis import Analysis, bars_of, own_thresholds, thresholds_of
from toolscope_core.merging.auto_accept import accept
from toolscope_core.merging.card_families import card_families
from toolscope_core.merging.clusters import (
    NEEDS_GATEWAY,
    Edits,
    apply_clusters,
    build_clusters,
    documented,
)
from toolscope_core.merging.correction import weakest_of
from toolscope_core.merging.group_syntheses import GroupSyntheses
from toolscope_core.merging.grouping import groups_at, with_families
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import CardFamily, Cluster, Group
from toolscope_core.model.configuration import (
    LEAST_PROBABILITY,
    AnalysisConfig,
    MergeThresholds,
    PlanConfig,
)
from toolscope_core.model.decision import Constraints, Decision
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import CatalogError, ConfigError
from toolscope_core.model.numbers import enumerated, quantity
from toolscope_core.model.pair import PairScores
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import LOCAL, Embedder, Engine, Progress, Step, silent
from toolscope_core.model.tool import Tool, canonical_json
from toolscope_core.wording.boilerplate import compared_texts
from toolscope_core.wording.products import Products

_REPORTED = 64
"""The number of clusters made between two reports."""


def analyse(
    catalog: Catalog,
    config: AnalysisConfig | None = None,
    embedder: Embedder | None = None,
    cache: VectorCache | None = None,
    progress: Progress = silent,
    engine: Engine = LOCAL,
) -> Analysis:
    """The analysis of a catalog: embed, find near pairs, judge them, and make the merged tools.

    By default the bundled encoder embeds, and the user's cache stores the vectors. New texts are
    embedded, neighbours found and pairs judged on the workers of ``engine``. Tools without a server
    get the one that their names imply; the judge does not read it. Raises ``CatalogError`` for
    fewer than one tool, ``ModelError`` if the model is missing.

    Example: ``analysis = analyse(read_catalog(["examples/catalog.json"]))``
    """
    if not catalog.tools:
        raise CatalogError("the catalog has no tools; add a file with at least one")
    config, embedder = config or AnalysisConfig(), embedder or MiniLmEmbedder()
    cache = cache or VectorCache(read_environment().cache_dir)
    catalog = with_implied_servers(catalog, {})
    texts = compared_texts(catalog.tools)
    vectors = embed_cached(texts, embedder, cache, progress, keep_tokens=True, engine=engine)
    progress(Step("compare", 0, 0))
    threshold = config.threshold or default_threshold(embedder.name)
    rows = {tool.id: row for row, tool in enumerate(catalog.tools)}
    judge = OfflineJudge.of(catalog.tools, vectors, model=embedder.name)
    first = _first_copies(catalog, judge.signals.products)
    near = candidates(
        vectors, first, config.neighbours, threshold, _far_pairs(judge, config, threshold), engine
    )
    left, right, cosine = near.left, near.right, near.similarity
    cached_judge = CachedJudge.of(judge, cache.folder, engine)
    probabilities = cached_judge.pair_probabilities(left, right, progress)
    is_merge = probabilities.same_job >= judge.weights.merge_at
    keepers = replaceable_shares(catalog.tools, first, left[is_merge], right[is_merge])
    analysis = Analysis(
        catalog=catalog,
        config=config,
        model=embedder.name,
        threshold=threshold,
        vectors=vectors,
        scores=PairScores(left, right, cosine, probabilities.same_job, probabilities.family),
        cached_judge=cached_judge,
        copies={
            tool.id: catalog.tools[copy].id
            for tool, copy in zip(catalog.tools, first.tolist(), strict=True)
        },
        first=first,
        rows=rows,
        syntheses=GroupSyntheses(catalog, keepers, cache.folder),
    )
    analysis.remember(left, right, probabilities)
    _make(analysis, progress)
    _save(analysis)
    return analysis


def _save(analysis: Analysis) -> None:
    with suppress(ConfigError):  # they are made again then
        analysis.cached_judge.save()
        analysis.syntheses.save()


def _far_pairs(
    judge: OfflineJudge, config: AnalysisConfig, threshold: float
) -> tuple[PairRows, PairRows]:
    """The pairs that are candidates at any cosine."""
    signals = judge.signals
    tools, products, vectors = signals.tools, signals.products, signals.vectors
    kinds = (
        same_named(signals.plain, vectors, config.neighbours),
        of_one_object(tools, products, signals.reading, vectors, threshold),
        judge.facts.actions,
    )
    left, right = (np.concatenate(side) for side in zip(*kinds, strict=True))
    return left, right


def judge_at_lowest_thresholds(analysis: Analysis) -> None:
    """Fill the caches with what the lowest threshold on probability needs, for this run and the
    next.
    """
    groups_at(analysis, Constraints(), MergeThresholds(analysis.threshold, LEAST_PROBABILITY))
    _save(analysis)


def _make(analysis: Analysis, progress: Progress) -> None:
    """Fill the caches with everything that a plan without decisions needs."""
    groups = groups_at(analysis, Constraints(), own_thresholds(analysis))
    groups = with_families(analysis, Constraints(), groups)
    for done, group in enumerate(groups):
        if done % _REPORTED == 0:
            progress(Step("merge", done, len(groups)))
        synthesis = analysis.syntheses.synthesis(group.members, None, group.family)
        analysis.syntheses.differences(group.members, synthesis)
    progress(Step("merge", len(groups), len(groups)))


def replaceable_shares(
    tools: Sequence[Tool], first: PairRows, left: PairRows, right: PairRows
) -> Mapping[str, float]:
    """The share of each server's tools, 0 to 1, that some other server has too.

    A tool counts if it has an exact copy (``first`` gives, by row, the first tool with equal
    content), or if it is in a pair of rows that are merges. Merges between two servers keep the
    tools of the server with the lower share.
    """
    places: defaultdict[int, set[str]] = defaultdict(set)
    for tool, own in zip(tools, first.tolist(), strict=True):
        places[own].add(tool.server)
    near = {own: {own} for own in places}
    for a, b in zip(first[left].tolist(), first[right].tolist(), strict=True):
        near[a].add(b)
        near[b].add(a)
    elsewhere = Counter(
        tool.server
        for tool, own in zip(tools, first.tolist(), strict=True)
        if tool.server and any(places[other] - {tool.server, ""} for other in near[own])
    )
    sizes = Counter(tool.server for tool in tools if tool.server)
    return {server: elsewhere[server] / size for server, size in sizes.items()}


def _first_copies(catalog: Catalog, products: Sequence[Products]) -> PairRows:
    """For each row, the first tool with equal content that is made for the same accounts."""
    first: dict[tuple[str, frozenset[str]], int] = {}
    rows = [
        first.setdefault((tool.content_hash, made_for.accounts), row)
        for row, (tool, made_for) in enumerate(zip(catalog.tools, products, strict=True))
    ]
    return np.array(rows, dtype=np.int32)


_NAMED = 2
"""The number of growing parts that are named, starting with those that grow most."""


def merge_size(
    cluster: Cluster, tools: Mapping[str, Tool], format: str, costs: Costs
) -> SizeChange:
    """The size change from the members (in ``tools``, by id) to the one tool with the document."""
    members = [tools[member] for member in cluster.members]
    return costs.change(members, [documented(tools[cluster.canonical], cluster.document)], format)


def is_larger_gateway(cluster: Cluster, size: SizeChange) -> bool:
    """Whether a cluster needs a gateway, nobody accepted it, and agents would have more to read.

    A person must review such a proposal; no batch includes it.
    """
    return cluster.kind == "gateway" and cluster.state == "proposed" and size.grows


def size_reason(cluster: Cluster, tools: Mapping[str, Tool], size: SizeChange) -> str:
    """Why the change of size speaks against the merge; empty if it does not.

    Either the merged tool is *longer than what it replaces; largest additions: the enum of `action`
    (+11)*. The parts are counted separately, so their sum is only roughly the growth of the whole.
    Or at least a quarter of the saving is documentation that agents no longer get.
    """
    if size.grows:
        grown = _growing_parts(cluster, tools).most_common(_NAMED)
        parts = enumerated(f"{part} (+{tokens:,})" for part, tokens in grown)
        most = f"; largest additions: {parts}" if parts else ""
        return f"longer than what it replaces{most}"
    longest, lost = lost_text(cluster, tools)
    if not lost or 4 * lost < -size.added:
        return ""
    name = f"{longest.owner}/{longest.name}" if longest.owner else longest.name
    return (
        f"of the {quantity(-size.added, 'token')} saved, {lost:,} are documentation of {name} "
        "that agents no longer get"
    )


def lost_text(cluster: Cluster, tools: Mapping[str, Tool]) -> tuple[Tool, int]:
    """The member with the most text, and how many more tokens of text it has than the merged tool.

    The text consists of the descriptions of the tool and of its arguments. The number is at least
    0.
    """
    longest = max((tools[member] for member in cluster.members), key=_text_tokens)
    merged = documented(tools[cluster.canonical], cluster.document)
    return longest, max(0, _text_tokens(longest) - _text_tokens(merged))


def _text_tokens(tool: Tool) -> int:
    count = tokenizer().count
    return count(tool.description) + sum(count(one.description) for one in tool.parameters)


def _growing_parts(cluster: Cluster, tools: Mapping[str, Tool]) -> Counter[str]:
    """How many more tokens each part of the merged tool has than its members."""
    note = f"`{cluster.selector}` = " if cluster.selector else ""
    parts = _parts(documented(tools[cluster.canonical], cluster.document), note)
    for member, alpha in zip(cluster.members, cluster.arguments, strict=True):
        targets = {move.source: move.target for move in alpha.moves}
        parts.subtract(_parts(tools[member], note, targets))
    return +parts


def _parts(
    tool: Tool, note: str, targets: Mapping[str, str] = MappingProxyType({})
) -> Counter[str]:
    """The tokens of each text and schema of the tool; arguments are named as in ``targets``.

    A description's text about single tools begins with ``note`` and counts separately.
    """
    count = tokenizer().count
    texts = {"the description": tool.description}
    parts = Counter({"the name": count(tool.name)})
    for parameter in tool.parameters:
        name = targets.get(parameter.name, parameter.name)
        texts[f"the description of `{name}`"] = parameter.description
        values = canonical_json(parameter.enum) if parameter.enum else ""
        parts[f"the enum of `{name}`"] = count(values)
        other_keys = {k: v for k, v in parameter.schema.items() if k not in ("enum", "description")}
        parts[f"the type of `{name}`"] = count(canonical_json({parameter.name: other_keys}))
    for label, text in texts.items():
        general, mark, special = text.partition(note) if note else (text, "", "")
        parts[label] = count(general)
        parts[f"notes in {label} on single tools"] = count(mark + special)
    return parts


def plan_merge(
    analysis: Analysis, log: Sequence[Decision] = (), config: PlanConfig | None = None
) -> MergePlan:
    """The merge plan under the decisions of ``log`` and the accept policy of ``config``.

    The default *auto* accepts only what is safe without a person. A model's verdicts decide what is
    proposed; for accepting without a person, the offline judge must agree.

    Example: ``plan = plan_merge(analysis, config=PlanConfig(accept="auto"))``
    """
    config = config or PlanConfig("auto")
    plan = plan_of(analysis, proposed(analysis, log, divide=config.correct), config)
    return with_expanded(plan, variants(analysis.catalog, log)) if config.expanded else plan


@dataclass(frozen=True, slots=True)
class Proposals:
    """The proposals after people's decisions, before any accept policy.

    ``clusters`` are to be merged. ``edited`` are single tools with their own document, as clusters
    of one. ``omitted`` are the ids of tools left out. ``families`` are the families of the
    clusters.
    """

    clusters: tuple[Cluster, ...]
    edited: tuple[Cluster, ...]
    omitted: frozenset[str]
    families: tuple[CardFamily, ...]


def proposed(
    analysis: Analysis,
    log: Sequence[Decision],
    *,
    divide: bool = True,
    thresholds: MergeThresholds | None = None,
) -> Proposals:
    """The proposals after the decisions, at the thresholds that people set last or at others.

    ``divide`` is as in ``correct``.
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
    forms = dict.fromkeys(form for c in built for form in (c.members, (*c.members, *c.newcomers)))
    prints = ([tools[member].fingerprint for member in form] for form in forms)
    version = dict(zip(forms, versions_of(prints, log), strict=True))
    versioned = [
        replace(c, version=version[c.members], grown=version[*c.members, *c.newcomers])
        for c in built
    ]
    clusters = tuple(c for c in versioned if len(c.members) > 1)
    edited = tuple(c for c in versioned if len(c.members) == 1)
    return Proposals(clusters, edited, links.omitted, card_families(analysis, links, clusters))


def plan_of(analysis: Analysis, proposals: Proposals, config: PlanConfig) -> MergePlan:
    """The plan of the proposals under an accept policy."""
    catalog, tools, costs = analysis.catalog, analysis.catalog.by_id, analysis.syntheses.costs
    clusters = accept(
        proposals.clusters,
        config,
        catalog.blocked,
        lambda one: is_larger_gateway(one, merge_size(one, tools, PROMPT_FORMATS[0], costs)),
    )
    plan = apply_clusters(catalog, clusters, config.gateway, proposals.edited, proposals.omitted)
    plan = replace(plan, families=proposals.families)
    return plan if config.eager is None else replace(plan, eager=frozenset(config.eager))


def alone(analysis: Analysis, log: Sequence[Decision], tool_id: str) -> Cluster:
    """One tool as a cluster of one, with the document that people wrote for it, if any."""
    links, wishes = constraints(analysis.catalog, log), edits(analysis.catalog, log)
    groups = _edited_alone(wishes, tool_id)
    built = build_clusters(analysis.catalog, groups, links, wishes, 0.0, analysis.syntheses)
    (own,) = (cluster for cluster in built if cluster.canonical == tool_id)
    version = versions_of([[analysis.catalog.by_id[tool_id].fingerprint]], log)[0]
    return replace(own, version=version, grown=version)


def supposed(analysis: Analysis, members: Sequence[str], family: bool) -> Cluster:
    """The cluster that these tools (ids, two or more) would form, whatever people decided."""
    ids = tuple(sorted(members))
    judge = analysis.family_probabilities if family else analysis.probabilities
    group = Group(ids, weakest_of(ids, judge), family=family)
    auto_at = bars_of(analysis).auto_at
    (cluster,) = build_clusters(
        analysis.catalog, (group,), Constraints(), {}, auto_at, analysis.syntheses
    )
    return cluster


def _edited_alone(wishes: Edits, *also: str) -> tuple[Group, ...]:
    """The tools with a document edited by people, and the tools in ``also``, as groups of one."""
    edited = {ids for ids, edit in wishes.items() if len(ids) == 1 and edit.document}
    return tuple(Group((tool_id,), decided=True) for tool_id in sorted({*also}.union(*edited)))


def unapplied_edits(plan: MergePlan, log: Sequence[Decision]) -> dict[int, str]:
    """The reasons why active edits of the catalog's tools change nothing in ``plan``, keyed by
    ``seq``, in log order.

    Reasons in ``plan.unreadable`` are not repeated.
    """
    locate = ToolLocator(plan.catalog, log)
    edits = (item for item in active(log) if item.action == "edit")
    reasons = {item.seq: _why_unapplied(plan, locate, item) for item in edits}
    return {seq: why for seq, why in reasons.items() if why}


def _why_unapplied(plan: MergePlan, locate: ToolLocator, edit: Decision) -> str:
    present, changed = locate(edit)
    ids = tuple(sorted(present.values()))
    omitted_ids = locate.omitted.keys() & set(edit.ids)
    if changed:
        return f"{id_list(sorted(changed))} changed after the edit was made; edit again"
    if omitted_ids and not ids:
        return f"{id_list(sorted(omitted_ids))} is left out of the toolset"
    members_in_plan = {cluster.members for cluster in (*plan.applied, *plan.edited)}
    if not ids or ids in members_in_plan or ids in plan.unreadable:
        return ""
    held_back = plan.held_back.get(ids[0], "") if len(ids) == 1 else ""
    return held_back or _why_no_merge(plan, ids)


def _why_no_merge(plan: MergePlan, ids: tuple[str, ...]) -> str:
    """Why the tools are not the members of an exported merge."""
    larger_merge = next((one.members for one in plan.applied if {*ids} <= {*one.members}), ())
    if larger_merge:
        return (
            f"the exported tool is the merge of {id_list(larger_merge)}; edit all of them together"
        )
    cluster = next((one for one in plan.clusters if one.members == ids), None)
    if cluster is None:
        return f"{id_list(ids)} are not merged with each other; edit each, or accept their merge"
    if cluster.state == "accepted":
        return NEEDS_GATEWAY
    return f"the merge of {id_list(ids)} is {cluster.state}; accept it first"

"""What leaves: the bundle of a plan, its figures, and each policy beside a target's limit."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.formats.target_rules import RuleViolation
from toolscope_core.catalog.formats.target_table import MATRIX, target_named
from toolscope_core.catalog.scan.cleaning import hidden_in
from toolscope_core.catalog.scan.hidden import cleaned
from toolscope_core.catalog.splitting import servers_of
from toolscope_core.catalog.tokens import Costs, PlanTokens, plan_tokens, tokenizer
from toolscope_core.export.bundle import bundle_files, named_toolsets, zipped
from toolscope_core.export.checked_plan import (
    broken_rules,
    held_back,
    readable_plan,
    refusals,
    toolsets,
)
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import AcceptPolicy, PlanConfig
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import Dangling, MergePlan
from ui.shared.cards.queue import ClusterCounts, cluster_counts
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

POLICIES: tuple[AcceptPolicy, ...] = ("none", "auto", "all")
"""From the one that merges least."""


@dataclass(frozen=True, slots=True)
class MergeLine:
    """One merge of the outgoing toolset; ``gone`` are the ids that agents no longer see."""

    kept: str
    name: str
    gone: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class MatrixLine:
    """What one target, by title and by ``name``, says of the outgoing toolset: how many rules of
    each kind are broken, and how many of them have a fix on offer.
    """

    target: str
    verdict: str
    names: int
    descriptions: int
    schemas: int
    tools: int
    fixable: int
    name: str


@dataclass(frozen=True, slots=True)
class ToolsetLine:
    """A file of the toolset, or the set of tools that a client has on at a time, and its tokens
    in every prompt.
    """

    file: str
    tools: int
    tokens: int
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """How many tools an accept policy leaves, and in how many parts a target takes them."""

    accept: AcceptPolicy
    tools: int
    parts: int


@dataclass(frozen=True, slots=True)
class ExportFigures:
    """What a plan makes of the catalog; ``counted`` says whether tokens are estimates.

    ``clusters`` counts those of the plan, of which the waiting ones stay unmerged; ``withheld``
    are the accepted ones left out because they need a gateway. ``matrix`` has a line a target,
    ``violations`` are by target's name the rules that the tools break, ``refusals`` those of the
    chosen one's that stand against the download; ``tokens`` has a line for each shape in prompts.
    ``hostile`` are ids of tools that go out with the text for which the scan blocks them.
    ``edited`` counts single tools that go out under people's document, ``held_back`` are ids of
    those that do not, ``removed`` of those left out; ``unreadable`` says in sentences what is held
    back since no client of MCP could read it.
    ``toolsets`` are, by target's name, the parts that its limit on tools asks for, where there are
    several.
    """

    tools_before: int
    tools_after: int
    tokens_before: int
    tokens_after: int
    merges: tuple[MergeLine, ...]
    clusters: ClusterCounts
    withheld: int
    dangling: tuple[Dangling, ...]
    counted: str
    tokens: tuple[PlanTokens, ...]
    matrix: tuple[MatrixLine, ...]
    violations: Mapping[str, tuple[RuleViolation, ...]]
    toolsets: Mapping[str, tuple[ToolsetLine, ...]]
    refusals: tuple[RuleViolation, ...]
    hostile: tuple[str, ...]
    edited: int
    held_back: tuple[str, ...]
    removed: tuple[str, ...]
    unreadable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Download:
    """The files of a bundle and their zip; ``file_name`` changes only with the content."""

    files: Mapping[str, bytes]
    archive: bytes
    file_name: str


class Exports:
    """Bundles of analysed catalogs; changes nothing."""

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._review = work.review
        self._costs = Costs()
        self._figures: ResultCache[ExportFigures] = ResultCache()

    def figures(
        self, catalog_id: int, config: PlanConfig, shape: str | None = None, fix: bool = False
    ) -> ExportFigures:
        """What the bundle would hold, in figures; ``shape`` defaults to the input's."""
        plan = self._review.plan(catalog_id, config)
        return self._figures.get(
            (catalog_id, config, shape, fix),
            (plan,),
            lambda: figures_of(plan, shape, fix, self._costs),
        )

    def ways(self, catalog_id: int, routers: bool, target: str) -> tuple[Way, ...]:
        """What each accept policy means for the limit of ``target`` on tools."""
        configs = [PlanConfig(accept=accept, routers=routers) for accept in POLICIES]
        plans = [(c.accept, self._review.plan(catalog_id, c)) for c in configs]
        return tuple(
            Way(accept, len(plan.tools), len(toolsets(plan, target, fix=True)))
            for accept, plan in plans
        )

    def bundle(
        self, catalog_id: int, config: PlanConfig, shape: str | None = None, fix: bool = False
    ) -> dict[str, bytes]:
        """The files of the export bundle. Raises ``ExportError`` where the target refuses it."""
        analysis, plan = self._analyses.required(catalog_id), self._review.plan(catalog_id, config)
        return bundle_files(analysis, plan, self._review.log(catalog_id), config, shape, fix)

    def download(
        self,
        catalog_id: int,
        name: str,
        config: PlanConfig,
        shape: str | None = None,
        fix: bool = False,
    ) -> Download:
        """The bundle as one file, named after the catalog (``name``) and the hash of its bytes."""
        files = self.bundle(catalog_id, config, shape, fix)
        archive = zipped(files)
        plain = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:40] or "catalog"
        digest = hashlib.sha256(archive).hexdigest()[:8]
        return Download(files, archive, f"toolscope-{plain}-{digest}.zip")


def figures_of(plan: MergePlan, shape: str | None, fix: bool, costs: Costs) -> ExportFigures:
    """The figures of a plan written in ``shape``, ``None`` for the one it came in; ``fix`` applies
    the fixes offered for it. Raises ``ExportError`` for an unknown shape.
    """
    target = shape or plan.catalog.format
    plan = readable_plan(plan, shape, fix)
    names = {item.tool.id: item.tool.name for item in plan.tools}
    tokens = tuple(plan_tokens(plan, name, costs) for name in PROMPT_SHAPES)
    against = {name: broken_rules(plan, name, fix and name == target) for name in (*MATRIX, target)}
    applied = plan.applied
    taken = {cluster.id for cluster in applied}
    accepted = [cluster for cluster in plan.clusters if cluster.state == "accepted"]
    return ExportFigures(
        tools_before=len(plan.catalog.tools),
        tools_after=len(plan.tools),
        tokens_before=tokens[0].before,
        tokens_after=tokens[0].after,
        merges=tuple(_line(cluster, names[cluster.canonical]) for cluster in applied),
        clusters=cluster_counts(plan.clusters),
        withheld=sum(cluster.id not in taken for cluster in accepted),
        dangling=plan.dangling,
        counted=tokenizer().label,
        tokens=tokens,
        matrix=tuple(_matrix_line(name, against[name]) for name in MATRIX),
        violations=against,
        toolsets={name: lines for name in against if (lines := toolset_lines(plan, name, costs))},
        refusals=refusals(plan, shape, fix),
        hostile=_hostile(plan),
        edited=len(plan.edited),
        held_back=plan.held_back,
        removed=plan.removed,
        unreadable=held_back(plan),
    )


def toolset_lines(plan: MergePlan, target: str, costs: Costs) -> tuple[ToolsetLine, ...]:
    """The parts that the limit of ``target`` on tools asks for; empty where one is enough."""
    parts = toolsets(plan, target, fix=True)
    if len(parts) == 1:
        return ()
    shape = target if target in PROMPT_SHAPES else PROMPT_SHAPES[0]
    named = zip(named_toolsets(plan, target, fix=True), parts, strict=True)
    return tuple(
        ToolsetLine(
            file=name if target_named(target).writes else f"set {number}",
            tools=len(part),
            tokens=sum(costs.of(item.tool, shape) for item in part),
            servers=servers_of(part),
        )
        for number, (name, part) in enumerate(named, 1)
    )


def _hostile(plan: MergePlan) -> tuple[str, ...]:
    """Ids of outgoing tools of which what was blocked is still there."""
    came, exported = plan.catalog.by_id, [item.tool for item in plan.tools]
    hidden = {finding.tool_id for finding in hidden_in(exported) if finding.severity == "block"}
    worded = {
        finding.tool_id
        for finding in plan.catalog.findings
        if finding.severity == "block" and finding.code != "hidden-unicode"
    }
    same = (t.id for t in exported if cleaned(came[t.id].description) == cleaned(t.description))
    return tuple(tool_id for tool_id in same if tool_id in hidden | worded)


def _matrix_line(target: str, violations: Sequence[RuleViolation]) -> MatrixLine:
    rules = Counter(violation.rule for violation in violations)
    return MatrixLine(
        target=target_named(target).title,
        verdict=quantity(len(violations), "violation") if violations else "ok",
        names=rules["name"] + rules["unique"],
        descriptions=rules["description"],
        schemas=rules["schema"] + rules["parameter"],
        tools=rules["count"],
        fixable=sum(bool(violation.fix) for violation in violations),
        name=target,
    )


def _line(cluster: Cluster, name: str) -> MergeLine:
    gone = tuple(member for member in cluster.members if member != cluster.canonical)
    return MergeLine(cluster.canonical, name, gone, cluster.kind)

"""The merge of catalog files into a bundle folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core.catalog import load_paths, read_isolated
from toolscope_core.catalog.scan.cleaning import hidden_in
from toolscope_core.catalog.scan.scanner import scan_catalog
from toolscope_core.cli.commands.inspect_command import why_failing
from toolscope_core.cli.commands.model_options import AskRequest, spent_on, with_model_verdicts
from toolscope_core.decisions.constraints import owners
from toolscope_core.decisions.imported_decisions import count_of_others, read_decisions
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.export.bundle import bundle_files
from toolscope_core.export.checked_plan import readable_plan
from toolscope_core.files.folders import write_folder
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.merging.model_verdicts import Spent
from toolscope_core.merging.pipeline import analyse, plan_merge, with_owners
from toolscope_core.model.catalog import Finding, Severity
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, silent


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge did: the plan, the tokens before and after (``counted`` says whether they are
    estimates), where it was put, in how many files the toolset is, and what a model took; of the
    decisions given, how many are of this catalog and how many name tools that it does not have.
    ``hidden`` are the hidden characters in what was written; ``failing`` says why a check that was
    asked for fails, and is empty where none does.
    """

    plan: MergePlan
    tokens_before: int
    tokens_after: int
    counted: str
    out: Path
    toolsets: int = 1
    spent: Spent | None = None
    decisions: int = 0
    decisions_of_others: int = 0
    hidden: tuple[Finding, ...] = ()
    failing: str = ""


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """The options of one merge; ``ask`` where a model is the judge, ``fail_on`` the least severity
    of a finding in the outgoing tools that is told as failing.
    """

    out: Path
    analysis: AnalysisConfig = field(default_factory=AnalysisConfig)
    plan: PlanConfig = field(default_factory=lambda: PlanConfig(accept="auto"))
    shape: str | None = None
    fix: bool = False
    fail_on: Severity | None = None
    decisions: Path | None = None
    embedder: str | None = None
    embeddings_model: str | None = None
    base_url: str | None = None
    ask: AskRequest | None = None


def merge_files(
    paths: Sequence[Path], request: MergeRequest, settings: Settings, progress: Progress = silent
) -> MergeReport:
    """Merge the catalogs into one bundle folder; none is written while questions to a model are
    open. Raises ``ToolScopeError``s only: ``DecisionError`` where none of the decisions is of these
    catalogs.
    """
    catalog = read_isolated(load_paths(paths))
    log = read_decisions(catalog, request.decisions) if request.decisions else ()
    of_others = count_of_others(catalog, log)
    if of_others and of_others == sum(bool(one.members) for one in log):
        raise DecisionError(
            f"no decision in {request.decisions} names a tool of this catalog (read: {len(log)}); "
            "give the decisions.jsonl of the catalog that is merged"
        )
    remote = (request.embeddings_model, request.base_url)
    embedder = embedder_of(settings, request.embedder, *remote)
    analysis = analyse(
        catalog, request.analysis, embedder, VectorCache(settings.cache_dir), progress
    )
    analysis = with_owners(analysis, owners(catalog, log))
    if request.ask:
        analysis = with_model_verdicts(analysis, log, request.ask, settings, progress)
    plan = plan_merge(analysis, log, request.plan)
    files = bundle_files(analysis, plan, log, request.plan, request.shape, request.fix)
    write_folder(files, request.out)
    manifest = json.loads(files["manifest.json"])
    plan = readable_plan(plan, request.shape, request.fix)
    outgoing = [item.tool for item in plan.tools]
    findings = scan_catalog(outgoing) if request.fail_on else ()
    return MergeReport(
        plan=plan,
        tokens_before=manifest["tokens"]["before"],
        tokens_after=manifest["tokens"]["after"],
        counted=manifest["tokens"]["counted"],
        out=request.out,
        toolsets=len(manifest["toolsets"]),
        spent=spent_on(analysis.model_verdicts),
        decisions=len(log) - of_others,
        decisions_of_others=of_others,
        hidden=hidden_in(outgoing),
        failing=why_failing(findings, request.fail_on) if request.fail_on else "",
    )

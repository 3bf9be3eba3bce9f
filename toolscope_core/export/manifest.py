"""The manifest of a bundle: counts, configuration and sizes."""

from collections import Counter
from dataclasses import asdict, dataclass

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.sources import BUNDLE
from toolscope_core.catalog.splitting import servers_of
from toolscope_core.catalog.tokens import Costs, Size, SizeChange, plan_size, tokenizer
from toolscope_core.export.checked_plan import broken_rules, named_toolsets
from toolscope_core.export.eager_choice import loading_sizes
from toolscope_core.files.folders import PROGRAM
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import grouped
from toolscope_core.model.configuration import MergeThresholds, PlanConfig
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject


def manifest(
    analysis: Analysis,
    plan: MergePlan,
    config: PlanConfig,
    thresholds: MergeThresholds,
    output: JsonObject,
    siblings: int,
) -> JsonObject:
    """A bundle's description of itself, without sizes and hashes.

    ``output`` has the ``format``, and ``fix`` for whether fixes are applied. ``siblings`` is the
    number of judged pairs that are related and kept apart.
    """
    states = Counter(cluster.state for cluster in plan.clusters)
    relations = Counter(cluster.relation for cluster in plan.clusters)
    accepted_kinds = Counter(c.kind for c in plan.clusters if c.state == "accepted")
    applied_kinds = Counter(cluster.kind for cluster in plan.applied)
    return {
        "program": PROGRAM,
        "version": BUNDLE,
        "counts": {
            "tools_before": len(plan.catalog.tools),
            "tools_after": len(plan.tools),
            "tools_edited": len(plan.edited),
            "tools_removed": len(plan.removed),
            "servers": len(plan.catalog.servers),
            "clusters": len(plan.clusters),
            "clusters_by_state": dict(sorted(states.items())),
            "clusters_by_relation": dict(sorted(relations.items())),
            "drop_ins": sum(c.kind == "drop_in" for c in plan.clusters),
            "families": relations["family"],
            "siblings": siblings,
            "clusters_applied": dict(sorted(applied_kinds.items())),
            "gateways_withheld": accepted_kinds["gateway"] - applied_kinds["gateway"],
            "judged_pairs": len(analysis.scores),
            "expected_merges": analysis.scores.expected_merges,
            "problems": len(plan.catalog.problems),
            "findings": dict(sorted(Counter(f.severity for f in plan.catalog.findings).items())),
        },
        "configuration": {
            **output,
            "threshold": thresholds.similarity,
            "same_job": thresholds.same_job,
            "neighbours": analysis.config.neighbours,
            "accept": config.accept,
            "gateway": config.gateway,
            "correct": config.correct,
            **({"expanded": True} if config.expanded else {}),
            **({} if plan.eager is None else {"eager": sorted(plan.eager)}),
            "judge": dict(analysis.model_verdicts.configuration)
            if analysis.model_verdicts
            else "offline",
        },
        "versions": {"model": analysis.model, "judge": analysis.judge.name},
        "catalog": plan.catalog.version,
        **_implied(plan.catalog),
        **_file_versions(plan.catalog),
        **_unreadable(plan),
        **_documents(analysis),
        "toolsets": [
            {"file": name, "tools": len(part), "servers": servers_of(part)}
            for name, part in named_toolsets(plan, output["format"], output["fix"]).items()
        ],
        "violations": [
            asdict(violation) for violation in broken_rules(plan, output["format"], output["fix"])
        ],
    }


@dataclass(frozen=True, slots=True)
class ToolsetSizes:
    """The toolset's size before and after, first in the format used for totals, then in the
    exported format.

    The second is left out if it is the same, or is not used in prompts. ``loading`` is the size of
    what every prompt contains and of what a search returns; ``None`` if no tools are left to a
    search.
    """

    formats: tuple[SizeChange, ...]
    loading: tuple[Size, Size] | None = None

    @property
    def row(self) -> JsonObject:
        """The sizes as written in the manifest."""
        before, after = self.formats[0].before, self.formats[0].after
        sizes = {one.name: (one.before.tokens, one.after.tokens) for one in self.formats}
        row = {
            "estimate": not tokenizer().exact,
            "counted": tokenizer().label,
            "before": before.tokens,
            "after": after.tokens,
            "bytes": {"before": before.bytes, "after": after.bytes},
            "by_format": {
                name: {"before": old, "after": new} for name, (old, new) in sizes.items()
            },
        }
        if self.loading:
            eager, deferred = (size.tokens for size in self.loading)
            row["loading"] = {"format": self.formats[-1].name, "eager": eager, "deferred": deferred}
        return row


def toolset_sizes(plan: MergePlan, format: str, costs: Costs) -> ToolsetSizes:
    """The sizes of a plan's toolset, exported in ``format``."""
    total, *others = PROMPT_FORMATS
    changes = [plan_size(plan, name, costs) for name in (total, *({format} & set(others)))]
    loading = None if plan.eager is None else loading_sizes(plan, costs, changes[-1].name)
    return ToolsetSizes(tuple(changes), loading)


def _implied(catalog: Catalog) -> JsonObject:
    """The ids of the tools on each server that was implied by names, if there are any."""
    implied = (tool for tool in catalog.tools if tool.implied_server)
    by_server = sorted(grouped(implied, lambda tool: tool.implied_server).items())
    rows = {name: [tool.id for tool in tools] for name, tools in by_server}
    return {"implied_servers": rows} if rows else {}


def _file_versions(catalog: Catalog) -> JsonObject:
    """The versions that the catalog's files declare, if there are any."""
    versions = {file.label: file.version for file in catalog.files if file.version}
    return {"file_versions": dict(sorted(versions.items()))} if versions else {}


def _unreadable(plan: MergePlan) -> JsonObject:
    """The tools and merges that the target could not accept, with reasons, if there are any."""
    rows = [{"tools": ids, "why": why} for ids, why in sorted(plan.unreadable.items())]
    return {"unreadable": rows} if rows else {}


def _documents(analysis: Analysis) -> JsonObject:
    """The merges whose text a model wrote, and the merges whose text was refused, with reasons."""
    verdicts = analysis.model_verdicts
    if verdicts is None or not (verdicts.documents or verdicts.refused):
        return {}
    rows = [{"tools": ids, "why": why} for ids, why in sorted(verdicts.refused.items())]
    return {"documents": {"by_model": sorted(verdicts.documents), "refused": rows}}

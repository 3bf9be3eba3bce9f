"""The exported bundle: the merged toolset and everything needed to migrate to it.

Equal inputs and configurations give equal bytes: ids are sorted, and no clock is read.
"""

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from toolscope_core.catalog import sources
from toolscope_core.catalog.clients.client_table import client_files
from toolscope_core.catalog.document_variants import variant_rows, with_variants
from toolscope_core.catalog.formats.neutral import names_written
from toolscope_core.catalog.formats.spreadsheets import relabel_csv, tools_csv
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.relabelling import argument_row
from toolscope_core.catalog.splitting import ToolsetPart, split
from toolscope_core.catalog.tokens import Costs
from toolscope_core.decisions.constraints import (
    comparisons,
    constraints,
    namespace_descriptions,
    profiles,
    variants,
)
from toolscope_core.decisions.decision_lines import decision_lines
from toolscope_core.export.bundle_readme import readme_text
from toolscope_core.export.checked_plan import checked_plan, named_toolsets
from toolscope_core.export.manifest import ToolsetSizes, manifest, toolset_sizes
from toolscope_core.export.namespaces import described_servers, in_namespaces
from toolscope_core.files.folders import MANIFEST, write_folder
from toolscope_core.files.json_lines import lines_of
from toolscope_core.merging.analysis import Analysis, thresholds_of
from toolscope_core.merging.former_names import names_after, with_names_of
from toolscope_core.model.catalog import Catalog, FormerName
from toolscope_core.model.cluster import CardFamily
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.pair import Serves, Verdict
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.tool import JsonObject
from toolscope_core.profiles.profile_tools import ProfileTools, profile_plan, profile_tools

_VARIANTS = "variants.jsonl"
FAMILIES = "families.json"
CALLS = "calls.jsonl"
CLUSTER_PARTS = (
    *("canonical", "members", "relation", "kind", "selector", "state", "weakest_edge"),
    *("reasons", "newcomers"),
)
"""The parts of a cluster's row, except for its id."""
_TURNED: Mapping[Serves, Serves] = {"left": "right", "right": "left"}
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_ascii = json.JSONEncoder(allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class Bundle:
    """The bundle of a ``plan`` for export, with the toolset's sizes and the plan of each profile.

    ``sent_as`` is the requested format, ``None`` for the format of the input. If ``fix`` is true,
    the toolset is split into parts that the target accepts.
    """

    analysis: Analysis
    plan: MergePlan
    log: Sequence[Decision]
    config: PlanConfig
    sent_as: str | None
    fix: bool
    costs: Costs
    sizes: ToolsetSizes
    profiles: tuple[tuple[ProfileTools, MergePlan], ...]

    @property
    def format(self) -> str:
        """The format of the toolset."""
        return self.sent_as or self.plan.catalog.format

    @property
    def toolsets(self) -> dict[str, ToolsetPart]:
        """The tools in each file, by file name."""
        return named_toolsets(self.plan, self.format, self.fix)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The names and contents of the files, always in the same order, each file made on request.

        ``FAMILIES`` is included if clusters belong to families, ``CALLS`` if calls were compared,
        ``_VARIANTS`` if document variants were accepted, the ``CLIENT_FILES`` if tools of servers
        were replaced, and ``PROFILES`` with a folder per profile if there are profiles. The
        manifest comes last. If there are too many tools for the target, ``toolset-1.json`` and so
        on replace ``toolset.json``.
        """
        hashes, counts = dict[str, str](), Counter[str]()
        for name, content in self._contents(counts):
            hashes[name] = hashlib.sha256(content).hexdigest()
            yield name, content
        about = manifest(
            self.analysis,
            self.plan,
            self.config,
            thresholds_of(self.analysis, self.log),
            {"format": self.format, "fix": self.fix},
            counts["siblings"],
        )
        yield MANIFEST, _json({**about, "tokens": self.sizes.row, "sha256": hashes})

    def _absent(self) -> list[str]:
        """The optional files that the README must not list, because the bundle lacks them."""
        is_there = {
            FAMILIES: bool(self.plan.families),
            CALLS: bool(comparisons(self.plan.catalog, self.log)),
            "clients/": bool(client_files(self.plan)),
            sources.PROFILES: bool(self.profiles),
            sources.PROFILE_FOLDER: bool(self.profiles),
        }
        return [name for name, there in is_there.items() if not there]

    def _contents(self, counts: Counter[str]) -> Iterator[tuple[str, bytes]]:
        """All files except the manifest; the number of sibling pairs is added to ``counts``."""
        plan = self.plan
        yield from self._toolset_files(plan)
        rows = [asdict(row) for row in plan.relabels]
        yield "relabel.json", _json({"version": sources.BUNDLE, "entries": rows})
        maps = {alpha.tool_id: argument_row(alpha) for alpha in plan.arguments}
        gateway_ids = {item.tool.id for item in plan.behind_gateway}
        servers = {
            item.tool.id: None if item.tool.id in gateway_ids else item.tool.server
            for item in plan.tools
        }
        row = {"version": sources.BUNDLE, "servers": servers, "maps": maps}
        yield "arguments.json", _json(row)
        del rows, row, maps  # they take 1 kB per tool
        rows = [
            {"cluster_id": one.id, **{part: getattr(one, part) for part in CLUSTER_PARTS}}
            for one in plan.clusters
        ]
        yield "clusters.json", _json(rows)
        if plan.families:
            yield FAMILIES, _json(list(map(family_row, plan.families)))
        yield from self._pair_files(counts)
        yield "aliases.json", _json(_aliases(plan))
        cannot = sorted(constraints(self.analysis.catalog, self.log).cannot)
        yield "never_merge.json", _json([[pair.left, pair.right] for pair in cannot])
        yield "decisions.jsonl", decision_lines(self.log, plan.catalog)
        yield from self._call_file()
        yield "dangling.json", _json(list(map(asdict, plan.dangling)))
        yield "fingerprints.json", _json({one.id: one.fingerprint for one in plan.catalog.tools})
        yield "tools.csv", tools_csv(plan.tools, self.costs)
        yield "relabel.csv", relabel_csv(plan.relabels)
        yield from _neutral("neutral.json", plan.tools, plan.catalog, _compact, names_after(plan))
        originals = [MergedTool(tool, (tool.id,)) for tool in plan.catalog.tools]
        # hidden characters must be escaped here, so everything except ASCII is
        yield from _neutral("original.json", originals, plan.catalog, _ascii)
        text = readme_text(plan, self.analysis.model_verdicts, self._absent())
        yield "README.md", text.encode("utf-8", "backslashreplace")
        yield from self._variant_file()
        yield from client_files(plan).items()
        yield from self._profile_files()

    def _toolset_files(self, plan: MergePlan) -> Iterator[tuple[str, bytes]]:
        """The toolset files of the plan, or of a profile's plan.

        If tools are left to OpenAI's search, each server becomes a namespace.
        """
        for name, tools in named_toolsets(plan, self.format, self.fix).items():
            part, servers = tools, plan.catalog.servers
            if plan.profile:
                owners = {item.tool.server for item in tools}
                servers = tuple(one for one in servers if one.name in owners)
            if plan.eager is not None and self.format == "openai-responses":
                texts = namespace_descriptions(plan.catalog, self.log)
                described = described_servers(servers, (item.tool for item in tools), texts)
                part, servers = in_namespaces(tools, described)
            toolset = write_toolset(
                part, servers, self.format, self.sent_as is not None, plan.eager
            )
            yield name, _json(toolset, 3)

    def _pair_files(self, counts: Counter[str]) -> Iterator[tuple[str, bytes]]:
        """``pairs.jsonl``, or parts of it with at most ``PART_PAIRS`` pairs each."""

        def rows() -> Iterator[JsonObject]:
            for row in pair_rows(self.analysis):
                counts["siblings"] += row["relation"] == "related" and row["verdict"] == "keep"
                yield row

        pairs = rows()
        for name in sources.part_names(
            "pairs.jsonl", -(-len(self.analysis.scores) // sources.PART_PAIRS) or 1
        ):
            yield name, lines_of(islice(pairs, sources.PART_PAIRS))

    def _call_file(self) -> Iterator[tuple[str, bytes]]:
        """The results of the last comparison of calls for each pair, if any calls were compared."""
        by_pair = comparisons(self.plan.catalog, self.log)
        rows = [{**asdict(pair), "at": one.at, **one.detail} for pair, one in by_pair.items()]
        if rows:
            yield CALLS, lines_of(rows)

    def _variant_file(self) -> Iterator[tuple[str, bytes]]:
        """The accepted document variants of the exported tools, if there are any."""
        accepted = variants(self.plan.catalog, self.log).items()
        filled = {one: variant for one, variant in accepted if variant.is_there}
        own = (item.tool for item in self.plan.tools) if filled else ()
        tools = with_variants(own, filled, self.plan.phi)
        rows = variant_rows({tool.id: tool.augmentation for tool in tools if tool.augmentation})
        if rows:
            yield _VARIANTS, lines_of(rows)

    def _profile_files(self) -> Iterator[tuple[str, bytes]]:
        """The profiles in the form that ``serve`` reads, with each profile's toolset and client
        files.
        """
        rows = [
            {
                "name": choice.profile.name,
                "tools": [
                    {
                        "id": item.tool.id,
                        "name": item.tool.name,
                        "description": item.tool.description,
                        "fixed": choice.fixed.get(item.tool.id, {}),
                    }
                    for item in own.tools
                ],
                "notes": choice.notes,
                "resources": choice.profile.resources,
                "prompts": choice.profile.prompts,
            }
            for choice, own in self.profiles
        ]
        if rows:
            yield sources.PROFILES, _json({"version": sources.BUNDLE, "profiles": rows}, 4)
        for choice, own in self.profiles:
            for name, content in (*self._toolset_files(own), *client_files(own).items()):
                yield f"{sources.PROFILE_FOLDER}{choice.profile.name}/{name}", content


def bundle_of(
    analysis: Analysis,
    plan: MergePlan,
    log: Sequence[Decision],
    config: PlanConfig,
    format: str | None = None,
    fix: bool = False,
) -> Bundle:
    """The bundle of a plan that was made with ``log`` and ``config``.

    ``format`` defaults to the format of the input; ``fix`` applies the fixes proposed for that
    format. Raises ``ExportError`` if the target would refuse the toolset, or the toolset of a
    profile.
    """
    plan = checked_plan(plan, format, fix, config.leave_out_refused)
    own_plans = []
    for profile in profiles(plan.catalog, log).values():
        choice = profile_tools(plan, profile)
        own = checked_plan(profile_plan(plan, choice), format, fix, config.leave_out_refused)
        own_plans.append((choice, own))
    costs = Costs()
    sizes = toolset_sizes(plan, format or plan.catalog.format, costs)
    return Bundle(analysis, plan, log, config, format, fix, costs, sizes, tuple(own_plans))


def write_bundle(
    analysis: Analysis,
    plan: MergePlan,
    folder: Path | str,
    log: Sequence[Decision] = (),
    config: PlanConfig | None = None,
) -> Bundle:
    """Write the bundle of a plan to a folder, replacing an older bundle there.

    ``log`` and ``config`` are those with which the plan was made. Raises ``ExportError`` if the
    folder contains other files or the format would refuse the toolset.

    Example: ``write_bundle(analysis, plan, "bundle", config=config)``
    """
    plan = replace(plan, catalog=with_names_of(plan.catalog, Path(folder)))
    bundle = bundle_of(analysis, plan, log, config or PlanConfig("auto"))
    write_folder(bundle.files(), Path(folder))
    return bundle


def family_row(family: CardFamily) -> JsonObject:
    """A family of clusters and tools as a row of ``FAMILIES``, each member with all its tools."""
    rows = zip(family.members, family.tools, family.values, strict=True)
    return {
        "selector": family.selector,
        "weakest_edge": family.weakest_edge,
        "members": [
            {"canonical": head, "tools": list(tools), "value": value} for head, tools, value in rows
        ],
    }


def pair_rows(analysis: Analysis) -> Iterator[JsonObject]:
    """One row for each judged pair, sorted by left and right id.

    A clear *keep* has only the main evidence, or no evidence if there are very many pairs.
    """
    for verdict in analysis.cached_judge.brief_verdicts(analysis.scores):
        row = verdict_row(
            verdict.pair.left, verdict.pair.right, analysis.effective_verdict(verdict)
        )
        if not verdict.evidence:  # without evidence, the words were not compared
            del row["differs"]
        if not row["evidence"]:
            del row["evidence"]
        yield row


def verdict_row(left: str, right: str, verdict: Verdict) -> dict[str, Any]:
    """A verdict as ``pairs.jsonl`` and ``judge`` write it, with the ids in the requested order.

    The sides in ``serves`` and ``differs`` refer to this order.
    """
    serves, differs = verdict.serves, verdict.differs
    if left != verdict.pair.left:
        serves, differs = _TURNED.get(serves, serves), differs[::-1]
    return {
        "left": left,
        "right": right,
        "similarity": round(verdict.similarity, 6),
        "relation": verdict.relation,
        "same_job": verdict.same_job,
        "family": round(verdict.family, 6),
        "serves": serves,
        "differs": {"left": list(differs[0]), "right": list(differs[1])},
        "verdict": verdict.outcome,
        "judge": verdict.judge,
        "evidence": list(verdict.evidence),
    }


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip with the files, without timestamps, so that equal files give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()


def _aliases(plan: MergePlan) -> JsonObject:
    """New names by server and old name, for old names that are free now and belonged to one tool
    only.
    """
    still = {(item.tool.server, item.tool.name) for item in plan.tools}
    became: dict[tuple[str, str], set[str]] = {}
    for row in plan.relabels:
        if row.new_name is not None:
            became.setdefault((row.server, row.old_name), set()).add(row.new_name)
    aliases: dict[str, dict[str, str]] = {}
    for (server, old), new in became.items():
        if (server, old) not in still and len(new) == 1 and old not in new:
            aliases.setdefault(server, {})[old] = min(new)
    return aliases


def _neutral(
    name: str,
    tools: Sequence[MergedTool],
    catalog: Catalog,
    write: Callable[[object], str],
    names: Sequence[FormerName] = (),
) -> Iterator[tuple[str, bytes]]:
    """A file with tools in the neutral format, or parts of it with at most ``PART_TOOLS`` tools
    each.

    The first part also has the names under which agents called the tools.
    """
    parts = split(tools, sources.PART_TOOLS) if len(tools) > sources.PART_TOOLS else (tools,)
    for own, part in zip(sources.part_names(name, len(parts)), parts, strict=True):
        document = write_toolset(part, catalog.servers, "neutral")
        yield own, _json({**document, **names_written(names)}, 3, write)
        names = ()


def _json(value: object, levels: int = 2, write: Callable[[object], str] = _compact) -> bytes:
    return f"{_laid_out(value, levels, write)}\n".encode("utf-8", "backslashreplace")


def _laid_out(value: object, levels: int, write: Callable[[object], str]) -> str:
    """JSON with one entry per line in the outer ``levels``, easy to read and to compare."""
    if levels and isinstance(value, dict) and value:
        rows = (f"{write(k)}: {_laid_out(item, levels - 1, write)}" for k, item in value.items())
        return "\n".join(["{", ",\n".join(rows), "}"])
    if levels and isinstance(value, list) and value:
        rows = (_laid_out(item, levels - 1, write) for item in value)
        return "\n".join(["[", ",\n".join(rows), "]"])
    return write(value)

"""The export bundle: the merged toolset and everything needed to move over to it.

Equal input and configuration give equal bytes: ids are sorted, no clock is read.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

from toolscope_core.catalog.clients.client_table import client_files
from toolscope_core.catalog.document_variants import variant_rows, with_variants
from toolscope_core.catalog.formats.neutral import names_written
from toolscope_core.catalog.formats.spreadsheets import relabel_csv, tools_csv
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.sources import (
    BUNDLE,
    PART_PAIRS,
    PART_TOOLS,
    PROFILE_FOLDER,
    PROFILES,
    part_names,
)
from toolscope_core.catalog.splitting import ToolsetPart, split
from toolscope_core.catalog.tokens import Costs
from toolscope_core.decisions.constraints import (
    constraints,
    namespace_descriptions,
    profiles,
    variants,
)
from toolscope_core.decisions.imported_decisions import decision_lines
from toolscope_core.export.bundle_readme import readme_text
from toolscope_core.export.checked_plan import checked_plan, named_toolsets
from toolscope_core.export.manifest import manifest, token_rows
from toolscope_core.export.namespaces import described_servers, in_namespaces
from toolscope_core.files.folders import MANIFEST, write_folder
from toolscope_core.files.json_lines import lines_of
from toolscope_core.merging.analysing import Analysis, thresholds_of
from toolscope_core.merging.former_names import names_after, with_names_of
from toolscope_core.merging.relabelling import argument_row
from toolscope_core.model.catalog import Catalog, FormerName, Server
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.pair import Serves, Verdict
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.tool import JsonObject
from toolscope_core.profiles.profile_tools import profile_plan, profile_tools

VARIANTS = "variants.jsonl"
CLUSTER_PARTS = (
    *("canonical", "members", "relation", "kind", "selector", "state", "weakest_edge"),
    *("reasons", "newcomers"),
)
"""Of a cluster what its row has beside its id."""
_TURNED: Mapping[Serves, Serves] = {"left": "right", "right": "left"}
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_ascii = json.JSONEncoder(allow_nan=False).encode


def bundle_files(
    analysis: Analysis,
    plan: MergePlan,
    log: Sequence[Decision],
    config: PlanConfig,
    shape: str | None = None,
    fix: bool = False,
) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files, each made when it is asked for, always in the same order:
    before the manifest ``VARIANTS`` where document variants were accepted, the ``CLIENT_FILES``
    where tools of servers were pruned, and ``PROFILES`` with a folder for each profile where there
    are some.

    ``shape`` defaults to the input's; ``fix`` applies the fixes that are offered for it, and writes
    too many tools as ``toolset-1.json`` and so on in place of ``toolset.json``. Raises
    ``ExportError`` where the target would refuse the toolset.
    """
    plan = checked_plan(plan, shape, fix, config.leave_out_refused)
    is_sendable = shape is not None
    shape = shape or plan.catalog.format
    costs, siblings, hashes = Costs(), 0, dict[str, str]()

    def pairs() -> Iterator[JsonObject]:
        nonlocal siblings
        for row in pair_rows(analysis):
            siblings += row["relation"] == "related" and row["verdict"] == "keep"
            yield row

    def files() -> Iterator[tuple[str, bytes]]:
        for name, part in named_toolsets(plan, shape, fix).items():
            yield name, _json(_toolset(part, plan, shape, is_sendable, log), 3)
        rows = [asdict(row) for row in plan.relabels]
        yield "relabel.json", _json({"version": BUNDLE, "entries": rows})
        maps = {alpha.tool_id: argument_row(alpha) for alpha in plan.arguments}
        yield "arguments.json", _json({"version": BUNDLE, "maps": maps})
        del rows, maps  # 1 kB a tool
        yield "clusters.json", _json(list(map(_cluster_row, plan.clusters)))
        yield from _pair_files(pairs(), len(analysis.scores))
        yield "aliases.json", _json(_aliases(plan))
        apart = sorted(constraints(analysis.catalog, log).cannot)
        yield "never_merge.json", _json([[pair.left, pair.right] for pair in apart])
        yield "decisions.jsonl", decision_lines(log, plan.catalog)
        yield "dangling.json", _json(list(map(asdict, plan.dangling)))
        yield "fingerprints.json", _json({one.id: one.fingerprint for one in plan.catalog.tools})
        yield "tools.csv", tools_csv(plan.tools, costs)
        yield "relabel.csv", relabel_csv(plan.relabels)
        yield from _neutral("neutral.json", plan.tools, plan.catalog, _compact, names_after(plan))
        yield from _original(plan.catalog)
        text = readme_text(plan, analysis.model_verdicts)
        yield "README.md", text.encode("utf-8", "backslashreplace")
        yield from _variant_file(plan, log)
        yield from client_files(plan).items()
        sent_as = shape if is_sendable else None
        yield from _profile_files(plan, log, sent_as, fix, config.leave_out_refused).items()

    for name, content in files():
        hashes[name] = hashlib.sha256(content).hexdigest()
        yield name, content
    chosen, thresholds = {"shape": shape, "fix": fix}, thresholds_of(analysis, log)
    about = manifest(analysis, plan, config, thresholds, chosen, siblings)
    tokens = token_rows(plan, shape, costs)
    yield MANIFEST, _json({**about, "tokens": tokens, "sha256": hashes})


def write_bundle(
    analysis: Analysis,
    plan: MergePlan,
    folder: Path | str,
    log: Sequence[Decision] = (),
    config: PlanConfig | None = None,
) -> None:
    """Write the bundle of a plan into a folder, in place of an older bundle; ``log`` and ``config``
    are those that the plan was made with. Raises ``ExportError`` where the folder holds other files
    or the format would refuse the toolset.
    """
    plan = replace(plan, catalog=with_names_of(plan.catalog, Path(folder)))
    write_folder(bundle_files(analysis, plan, log, config or PlanConfig("auto")), Path(folder))


def pair_rows(analysis: Analysis) -> Iterator[JsonObject]:
    """One row a judged pair, by left and right id; of a clear *keep* only the main evidence, and
    none where there are very many pairs.
    """
    for verdict in analysis.cached_judge.brief_verdicts(analysis.scores):
        row = verdict_row(
            verdict.pair.left, verdict.pair.right, analysis.effective_verdict(verdict)
        )
        if not verdict.evidence:  # then nobody looked at their words
            del row["differs"]
        if not row["evidence"]:
            del row["evidence"]
        yield row


def verdict_row(left: str, right: str, verdict: Verdict) -> dict[str, Any]:
    """A verdict as ``pairs.jsonl`` and ``judge`` write it, the ids in the order asked: the sides
    in ``serves`` and ``differs`` are those of this row.
    """
    serves, differs = verdict.serves, verdict.differs
    if left != verdict.pair.left:
        serves, differs = _TURNED.get(serves, serves), differs[::-1]
    return {
        "left": left,
        "right": right,
        "similarity": round(verdict.similarity, 6),
        "relation": verdict.relation,
        "probability": verdict.probability,
        "family": round(verdict.family, 6),
        "serves": serves,
        "differs": {"left": list(differs[0]), "right": list(differs[1])},
        "verdict": verdict.outcome,
        "judge": verdict.judge,
        "evidence": list(verdict.evidence),
    }


def _toolset(
    part: ToolsetPart, plan: MergePlan, shape: str, sendable: bool, log: Sequence[Decision]
) -> Any:
    """A part of the toolset as its file holds it; where tools are left to OpenAI's search, each
    server is a namespace.
    """
    servers: Sequence[Server] = plan.catalog.servers
    if plan.profile:
        owners = {item.tool.server for item in part}
        servers = [one for one in servers if one.name in owners]
    if plan.eager is not None and shape == "openai-responses":
        written = namespace_descriptions(plan.catalog, log)
        described = described_servers(servers, (item.tool for item in part), written)
        part, servers = in_namespaces(part, described)
    return write_toolset(part, servers, shape, sendable, plan.eager)


def zipped(files: Mapping[str, bytes]) -> bytes:
    """One zip of the files, without clock times, so that equal files give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()


def _pair_files(rows: Iterator[JsonObject], pairs: int) -> Iterator[tuple[str, bytes]]:
    """``pairs.jsonl``, or its parts of ``PART_PAIRS`` at most."""
    for name in part_names("pairs.jsonl", -(-pairs // PART_PAIRS) or 1):
        yield name, lines_of(islice(rows, PART_PAIRS))


def _variant_file(plan: MergePlan, log: Sequence[Decision]) -> Iterator[tuple[str, bytes]]:
    """The accepted document variants of the exported tools, where there are any."""
    written = {one: it for one, it in variants(plan.catalog, log).items() if it.is_there}
    tools = with_variants((item.tool for item in plan.tools), written, plan.phi)
    rows = variant_rows({tool.id: tool.augmentation for tool in tools if tool.augmentation})
    if rows:
        yield VARIANTS, lines_of(rows)


def _profile_files(
    plan: MergePlan, log: Sequence[Decision], shape: str | None, fix: bool, leave_out: bool
) -> dict[str, bytes]:
    """What ``serve`` reads of the profiles, and of each the toolset and the files of clients, as
    the bundle has them of all tools. Raises ``ExportError`` as ``bundle_files`` does.
    """
    rows, files, form = [], dict[str, bytes](), shape or plan.catalog.format
    for name, profile in profiles(plan.catalog, log).items():
        chosen = profile_tools(plan, profile)
        own = checked_plan(profile_plan(plan, chosen), shape, fix, leave_out)
        tools = [
            {
                **{part: getattr(item.tool, part) for part in ("id", "name", "description")},
                "fixed": chosen.fixed.get(item.tool.id, {}),
            }
            for item in own.tools
        ]
        rows.append({"name": name, "tools": tools, "notes": chosen.notes})
        written = {
            file: _json(_toolset(part, own, form, shape is not None, log), 3)
            for file, part in named_toolsets(own, form, fix).items()
        }
        own_files = {**written, **client_files(own)}
        files |= {f"{PROFILE_FOLDER}{name}/{file}": own_files[file] for file in own_files}
    return {PROFILES: _json({"version": BUNDLE, "profiles": rows}, 4), **files} if rows else {}


def _cluster_row(cluster: Cluster) -> JsonObject:
    return {"cluster_id": cluster.id, **{part: getattr(cluster, part) for part in CLUSTER_PARTS}}


def _aliases(plan: MergePlan) -> JsonObject:
    """Old name → new name by server, of the names that are free and mean one tool only."""
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


def _original(catalog: Catalog) -> Iterator[tuple[str, bytes]]:
    """The tools as they came in, in the neutral shape: the same ids and fingerprints when read
    again. Hidden characters are in it, so that all but ASCII is escaped.
    """
    tools = [MergedTool(tool, (tool.id,)) for tool in catalog.tools]
    return _neutral("original.json", tools, catalog, _ascii)


def _neutral(
    name: str,
    tools: Sequence[MergedTool],
    catalog: Catalog,
    write: Callable[[object], str],
    names: Sequence[FormerName] = (),
) -> Iterator[tuple[str, bytes]]:
    """A file with tools in the neutral shape, or its parts, of ``PART_TOOLS`` at most; the first
    has the names that agents called tools by.
    """
    parts = split(tools, PART_TOOLS) if len(tools) > PART_TOOLS else (tools,)
    for own, part in zip(part_names(name, len(parts)), parts, strict=True):
        document = write_toolset(part, catalog.servers, "neutral")
        yield own, _json({**document, **names_written(names)}, 3, write)
        names = ()


def _json(value: object, levels: int = 2, write: Callable[[object], str] = _compact) -> bytes:
    return f"{_laid_out(value, levels, write)}\n".encode("utf-8", "backslashreplace")


def _laid_out(value: object, levels: int, write: Callable[[object], str]) -> str:
    """JSON with one entry a line for the outer ``levels``, easy to read and to compare."""
    if levels and isinstance(value, dict) and value:
        rows = (f"{write(k)}: {_laid_out(item, levels - 1, write)}" for k, item in value.items())
        return "\n".join(["{", ",\n".join(rows), "}"])
    if levels and isinstance(value, list) and value:
        rows = (_laid_out(item, levels - 1, write) for item in value)
        return "\n".join(["[", ",\n".join(rows), "]"])
    return write(value)

"""The state that was accepted before: a catalog, or a bundle with judgements and decisions."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import get_args

from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.shards import read_original
from toolscope_core.catalog.sources import BUNDLE, files_of, is_bundle, load_paths, why_unreadable
from toolscope_core.check.policy import Policy
from toolscope_core.check.version_changes import (
    CatalogDiff,
    Versions,
    diff,
    file_versions,
    unread_records,
    with_missing_bumps,
)
from toolscope_core.decisions.constraints import constraints
from toolscope_core.decisions.decision_lines import read_decisions
from toolscope_core.decisions.log import active
from toolscope_core.files.archives import bundle_folder
from toolscope_core.files.folders import DAMAGE, read_file
from toolscope_core.files.json_lines import read_rows
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AcceptPolicy, PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import ConfigError, ExportError
from toolscope_core.model.pair import Pair, PairOutcome
from toolscope_core.model.plan import Relabel, RelabelStatus

_OUTCOMES: Mapping[str, PairOutcome] = {one: one for one in get_args(PairOutcome)}
_ACCEPTS: Mapping[str, AcceptPolicy] = {one: one for one in get_args(AcceptPolicy)}
_STATUSES: Mapping[str, RelabelStatus] = {one: one for one in get_args(RelabelStatus)}


@dataclass(frozen=True, slots=True)
class Baseline:
    """An accepted state; all ids are those of its catalog.

    ``outcomes`` are the verdicts on the pairs, ``None`` if the pairs have not been judged yet.
    ``decided_pairs`` are pairs that people keep apart or put together. ``dangling`` are tools, each
    with the name of a removed tool that it cited. ``relabels`` is φ, empty for a catalog.
    ``least_similarity`` and ``least_probability`` come from people's threshold. ``threshold``,
    ``model`` and ``plan`` are those of a bundle. ``versions`` are declared by the catalog's files.
    """

    catalog: Catalog
    log: tuple[Decision, ...] = ()
    outcomes: Mapping[Pair, PairOutcome] | None = None
    decided_pairs: frozenset[Pair] = frozenset()
    dangling: frozenset[tuple[str, str]] = frozenset()
    relabels: tuple[Relabel, ...] = ()
    threshold: float | None = None
    model: str = ""
    least_similarity: float = 0.0
    least_probability: float | None = None
    plan: PlanConfig = field(default_factory=PlanConfig)
    versions: Versions = field(default_factory=dict)

    @property
    def replaced(self) -> dict[str, str]:
        """The tools that merges removed, each with the drop-in that takes its calls.

        Empty if the plan has gateway tools, because they pass calls on to the merged tools.
        """
        merged = (row for row in self.relabels if row.status == "merged" and not self.plan.gateway)
        return {row.old_id: row.new_id for row in merged if row.new_id is not None}


def read_baseline(path: Path) -> Baseline:
    """The baseline in a catalog file, a folder of such files, or the folder or zip of a bundle.

    Raises ``CatalogError`` if no catalog can be made, and for a bundle folder of another version.
    Raises ``ExportError`` for a damaged bundle, and for a zip of another version. Raises
    ``ConfigError`` for a damaged zip.
    """
    if is_bundle(path) or (path.is_file() and zipfile.is_zipfile(path)):
        with bundle_folder(path) as folder:
            return _of_bundle(folder)
    catalog = read_isolated(load_paths([path]))
    return Baseline(catalog, versions=file_versions(catalog))


def _of_bundle(folder: Path) -> Baseline:
    try:
        catalog = read_original(folder)
        log = read_decisions(catalog, folder / "decisions.jsonl")
        return _with_files(Baseline(catalog, log), folder)
    except (*DAMAGE, ConfigError) as error:
        raise ExportError(f"the bundle {folder} is damaged ({error}); export it again") from error


def _with_files(baseline: Baseline, folder: Path) -> Baseline:
    manifest = json.loads(read_file(folder / "manifest.json"))
    if refused := why_unreadable(f"{folder}/manifest.json", manifest, BUNDLE):
        raise ExportError(refused)
    relabel = json.loads(read_file(folder / "relabel.json"))
    dangling = json.loads(read_file(folder / "dangling.json"))
    kept_apart = json.loads(read_file(folder / "never_merge.json"))
    rows = (row for file in files_of(folder, "pairs.jsonl") for _, row in read_rows(file))
    thresholds = [one.detail for one in active(baseline.log) if one.action == "threshold"]
    threshold = thresholds[-1] if thresholds else {}
    return replace(
        baseline,
        outcomes={Pair.of(row["left"], row["right"]): _OUTCOMES[row["verdict"]] for row in rows},
        decided_pairs=_decided_pairs(baseline) | {Pair.of(*ids) for ids in kept_apart},
        dangling=frozenset((item["tool_id"], item["cites"]) for item in dangling),
        relabels=tuple(
            Relabel(**{**row, "status": _STATUSES[row["status"]]}) for row in relabel["entries"]
        ),
        threshold=float(manifest["configuration"]["threshold"]),
        plan=PlanConfig(
            accept=_ACCEPTS[manifest["configuration"]["accept"]],
            gateway=bool(manifest["configuration"]["gateway"]),
            correct=bool(manifest["configuration"]["correct"]),
        ),
        model=str(manifest["versions"]["model"]),
        versions=dict(manifest.get("file_versions", {})),
        least_similarity=float(threshold.get("similarity", 0.0)),
        least_probability=float(threshold["same_job"]) if threshold else None,
    )


def _decided_pairs(baseline: Baseline) -> frozenset[Pair]:
    links = constraints(baseline.catalog, baseline.log)
    together = (Pair.of(a, b) for group in links.must for a, b in combinations(group, 2))
    return links.cannot | frozenset(together)


@dataclass(frozen=True, slots=True)
class BaselineChanges:
    """The ``diff`` between an earlier catalog and a later one; changes only in raw records are left
    out.

    ``old_ids`` maps the new id of every tool that existed before to its old id.
    """

    diff: CatalogDiff
    old_ids: Mapping[str, str]

    @property
    def new_ids(self) -> frozenset[str]:
        """The ids of new and changed tools."""
        changed = {change.new.id for change in self.diff.changed}
        return frozenset(changed.union(tool.id for tool in self.diff.added))

    def earlier(self, pair: Pair) -> Pair | None:
        """The pair under its old ids; ``None`` if one of the tools is new."""
        left, right = self.old_ids.get(pair.left), self.old_ids.get(pair.right)
        return None if left is None or right is None else Pair.of(left, right)


def catalog_changes(
    baseline: Baseline, new: Catalog, policy: Policy | None = None
) -> BaselineChanges:
    """The changes from the baseline to ``new``, judged by the policy; the order of records is
    ignored.

    A tool that a merge removed is not reported as missing while the tool that takes its calls
    exists.
    """
    old, kept = baseline.catalog, {tool.id for tool in new.tools}
    replaced = (old_id for old_id, new_id in baseline.replaced.items() if new_id in kept)
    changes = replace(
        diff(_differing(old, new), _differing(new, old), policy or Policy()),
        replaced=frozenset(replaced),
        unread=unread_records(old, new),
    )
    changes = with_missing_bumps(changes, old, new, baseline.versions, file_versions(new))
    fresh = {tool.id for tool in changes.added}
    old_ids = {change.new.id: change.old.id for change in changes.changed}
    before = {tool.id: old_ids.get(tool.id, tool.id) for tool in new.tools if tool.id not in fresh}
    return BaselineChanges(changes, before)


def _differing(one: Catalog, other: Catalog) -> Catalog:
    """The tools of ``one`` that differ from those of ``other``, without their raw records."""
    prints = {tool.id: tool.fingerprint for tool in other.tools}
    differing = (tool for tool in one.tools if prints.get(tool.id) != tool.fingerprint)
    return Catalog(tuple(replace(tool, raw={}) for tool in differing))

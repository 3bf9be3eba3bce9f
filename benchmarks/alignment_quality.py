"""How well parameters are aligned on hand-made argument maps, compared with two simple methods.

 python -m benchmarks.alignment_quality

It prints precision, recall and F1 of the aligned parameter pairs, summed over the pairs of tools.
F1 has a 95 % interval over resampled pairs of tools. The hand-made maps come first, then the maps
that a language model made for near pairs in six catalogs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import ratio
from scipy.optimize import linear_sum_assignment

from benchmarks import measuring
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.model.tool import Tool

_DATA = measuring.ROOT / "tests" / "data"
GOLD = _DATA / "alignment.jsonl"
NEAR = _DATA / "alignment_near.jsonl"
CATALOGS = ("bfcl", "bfcl-live", "ultratool", "docker-mcp")
_LIKELY = 0.85
_ALIKE = 45.0
"""From this ratio on, the fuzzy method takes two names to be the same. It was the best value from
40 to 90 on the development halves.
"""

Aligned = frozenset[tuple[str, str]]
Aligner = Callable[[Tool, Tool], Aligned]


@dataclass(frozen=True, slots=True)
class GoldMap:
    """Two tools and their matching parameters, according to a person or a model.

    ``chance`` is the judge's probability that the tools are one. It is 1 if they are labelled as
    one.
    """

    catalog: str
    left: Tool
    right: Tool
    args: Aligned
    half: str
    round: int
    chance: float


def load_gold(path: Path = GOLD) -> tuple[GoldMap, ...]:
    """The maps in a file, with their tools from the benchmark data."""
    rows = measuring.json_rows(path)
    tools = {name: measuring.read_named(name).by_id for name in {row["catalog"] for row in rows}}
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


def own_alignment(left: Tool, right: Tool) -> Aligned:
    return frozenset((match.left, match.right) for match in match_parameters(left, right))


def equal_names(left: Tool, right: Tool) -> Aligned:
    names = {parameter.name for parameter in right.parameters}
    return frozenset((p.name, p.name) for p in left.parameters if p.name in names)


def fuzzy_names(left: Tool, right: Tool, alike: float = _ALIKE) -> Aligned:
    """The assignment of names with the highest sum of ratios. Ratios below
    ``alike`` are left out.
    """
    a, b = ([p.name for p in tool.parameters] for tool in (left, right))
    scores = np.array([[ratio(x.casefold(), y.casefold()) for y in b] for x in a])
    rows, columns = linear_sum_assignment(scores, maximize=True)
    return frozenset(
        (a[i], b[j]) for i, j in zip(rows, columns, strict=True) if scores[i, j] >= alike
    )


def counts(maps: Sequence[GoldMap], aligner: Aligner) -> NDArray[np.int64]:
    """For each map, the number of right, found and wanted pairs, as shape (n, 3)."""
    alignments = [aligner(one.left, one.right) for one in maps]
    rows = [(len(f & m.args), len(f), len(m.args)) for f, m in zip(alignments, maps, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def measures(rows: NDArray[np.int64]) -> tuple[float, float, float]:
    """Precision, recall and F1 over the sums of ``counts``. They are 0 without any pair."""
    right, called, expected = rows.sum(axis=0).tolist()
    return right / max(called, 1), right / max(expected, 1), 2 * right / max(called + expected, 1)


def report(name: str, maps: Sequence[GoldMap], aligners: Mapping[str, Aligner]) -> None:
    print(f"{name}: n = {len(maps)} maps, {sum(len(one.args) for one in maps)} aligned parameters")
    for label, aligner in aligners.items():
        rows = counts(maps, aligner)
        precision, recall, f1 = measures(rows)
        low, high = measuring.bootstrap_ends(lambda at, rows=rows: measures(rows[at])[2], len(rows))
        print(
            f"  {label:12}  precision {precision:.3f}  recall {recall:.3f}"
            f"  F1 {f1:.3f} [{low:.3f}, {high:.3f}]"
        )


def main() -> None:
    measuring.parser_of(__doc__).parse_args()
    maps, near = load_gold(), load_gold(NEAR)
    aligners = {"toolscope": own_alignment, "equal names": equal_names, "fuzzy names": fuzzy_names}
    for number in (2, 3, 4, 5):
        report(f"dev, round {number}", [one for one in maps if one.round == number], aligners)
    catalogs = {"": CATALOGS, "near ": (*CATALOGS, "livemcpbench", "seal-tools")}
    for (kind, names), kind_maps in zip(catalogs.items(), (maps, near), strict=True):
        for half in ("dev", "test"):
            half_maps = [one for one in kind_maps if one.half == half]
            for catalog in names:
                own = [one for one in half_maps if one.catalog == catalog]
                report(f"{kind}{half} {catalog}", own, aligners)
            if kind:
                likely = [one for one in half_maps if one.chance >= _LIKELY]
                report(f"{kind}{half}, chance >= {_LIKELY}", likely, aligners)
            report(f"{kind}{half} all", half_maps, aligners)


if __name__ == "__main__":
    main()

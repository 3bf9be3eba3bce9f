"""What shows that too much was merged: compression alone looks like success."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolscope_core.evaluation.measured_toolsets import Toolset
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.files.json_lines import read_rows
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.pair import Pair

LABELS = ("merge", "keep")


def joined_queries(queries: Sequence[Query], toolset: Toolset) -> tuple[int, ...]:
    """The places of the queries that need two tools which are one now: somebody told them apart."""
    return tuple(
        place
        for place, query in enumerate(queries)
        if len({_after(need, toolset) for need in query.gold}) < len(set(query.gold))
    )


def forbidden_merges(toolset: Toolset, never: Iterable[Pair]) -> tuple[Pair, ...]:
    """The pairs of ``never`` that are one tool now, in their order."""
    ranked = sorted(never, key=lambda one: (one.left, one.right))
    return tuple(pair for pair in ranked if _is_one(pair, toolset))


@dataclass(frozen=True, slots=True)
class LabelledMerges:
    """Of pairs that people labelled: merges that are ``right`` and ``wrong``, and those ``missed``,
    which were left apart.
    """

    right: int
    wrong: tuple[Pair, ...]
    missed: int


def labelled_merges(toolset: Toolset, labels: Mapping[Pair, bool]) -> LabelledMerges:
    """``labels`` say of a pair whether it may be merged."""
    merged = [pair for pair in labels if _is_one(pair, toolset)]
    right = sum(labels[pair] for pair in merged)
    return LabelledMerges(
        right=right,
        wrong=forbidden_merges(toolset, [pair for pair in merged if not labels[pair]]),
        missed=sum(labels.values()) - right,
    )


def read_labels(path: Path) -> dict[Pair, bool]:
    """Labelled pairs of a JSONL file with ``left``, ``right`` (tool ids) and ``label`` (*merge* or
    *keep*). Raises ``ConfigError`` for a file that cannot be read, or a row of another form.
    """
    labels: dict[Pair, bool] = {}
    for number, row in read_rows(path):
        left, right, label = row.get("left"), row.get("right"), row.get("label")
        if not isinstance(left, str) or not isinstance(right, str) or label not in LABELS:
            raise ConfigError(
                f"{path}, line {number}: give `left` and `right` as tool ids, and `label` as "
                f"{' or '.join(LABELS)}"
            )
        labels[Pair.of(left, right)] = label == LABELS[0]
    return labels


def _is_one(pair: Pair, toolset: Toolset) -> bool:
    left = toolset.phi.get(pair.left, pair.left)
    return left is not None and left == toolset.phi.get(pair.right, pair.right)


def _after(need: frozenset[str], toolset: Toolset) -> frozenset[str | None]:
    return frozenset(toolset.phi.get(one, one) for one in need)

"""What to do next with a catalog: the worst collisions nobody has settled, and the steps left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from toolscope_core.catalog.formats.format_table import ADVISED
from toolscope_core.catalog.formats.target import Rule
from toolscope_core.catalog.formats.target_rules import BrokenRules, violation_counts
from toolscope_core.catalog.formats.target_table import target_named
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.address_keys import pair_key
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergePlan
from ui.shared.cards.queue import Progressed

WORST = 5


_REFUSED: Mapping[Rule, str] = {
    "name": "name",
    "unique": "repeated name",
    "description": "description",
    "schema": "schema",
    "parameter": "parameter name",
}


@dataclass(frozen=True, slots=True)
class Collision:
    """Two tools that get in each other's way: one line on why, and the key of their pair.

    A tool without a server has its id for one, unless that is its name.
    """

    left: str
    left_server: str
    right: str
    right_server: str
    probability: float
    reason: str
    key: str


@dataclass(frozen=True, slots=True)
class NextStep:
    """Something that waits: said in words, done on ``page`` with ``query`` in its address."""

    text: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)


def worst_collisions(
    analysis: Analysis, plan: MergePlan, settled: frozenset[Pair], count: int = WORST
) -> tuple[Collision, ...]:
    """The most probable merges, then the closest, each tool in one of them at most.

    Left out is what people settled: pairs in ``settled``, and pairs inside an accepted cluster.
    """
    scores, tools = analysis.scores, analysis.catalog.tools
    home = {m: c.id for c in plan.clusters if c.state == "accepted" for m in c.members}
    likely = np.flatnonzero(scores.probability >= analysis.judge.weights.unsure_at)
    order = np.lexsort((likely, -scores.similarity[likely], -scores.probability[likely]))
    pairs: list[Pair] = []
    taken: set[str] = set()
    for row in likely[order].tolist():
        pair = Pair.of(tools[scores.left[row]].id, tools[scores.right[row]].id)
        merged = pair.left in home and home[pair.left] == home.get(pair.right)
        if merged or pair in settled or taken & {pair.left, pair.right}:
            continue
        pairs.append(pair)
        taken |= {pair.left, pair.right}
        if len(pairs) == count:
            break
    return tuple(_collision(analysis, pair) for pair in pairs)


def reading_steps(problems: int, blocked: int) -> Iterator[NextStep]:
    """What the reading of the files left to do."""
    if problems:
        text = f"{_count(problems, 'record')} could not be read: see why"
        yield NextStep(text, "catalog", {"part": "Not read"})
    if blocked:
        text = f"{_count(blocked, 'tool')} {_is(blocked)} blocked by the scan: see findings"
        yield NextStep(text, "catalog", {"part": "Findings"})


def review_steps(progress: Progressed, unsure: int) -> Iterator[NextStep]:
    """What waits for a person in review: duplicates, families; the export where no duplicate does,
    and the pairs that the judge is ``unsure`` of.
    """
    counts = progress.clusters
    safe, families, waiting = counts.safe, counts.families.waiting, counts.duplicates.waiting
    if waiting:
        text = f"Review {_count(waiting, 'duplicate')}"
        yield NextStep(text, "review", {"show": "Duplicates"})
    if families:
        text = f"Review {families:,} famil{'y' if families == 1 else 'ies'}"
        yield NextStep(text, "review", {"show": "Families"})
    if not waiting:
        done = "Everything is reviewed" if progress.decided else "Nothing is proposed"
        done = "No duplicate waits" if families else done
        yield NextStep(f"{done}: export", "export")
        if unsure:
            text = f"Decide on {_count(unsure, 'undecided pair')}"
            yield NextStep(text, "review", {"show": "Undecided"})
    if safe:
        wait = "waits" if safe == 1 else "wait"
        text = f"{_count(safe, 'safe merge')} {wait}: accept in one go"
        yield NextStep(text, "review", {"safe_merges": "open"})


def export_steps(
    plan: MergePlan, cache: BrokenRules, targets: Sequence[str] = ADVISED
) -> Iterator[NextStep]:
    """The APIs that would refuse the toolset as it would leave now, with what they refuse.
    ``cache`` as in ``violation_counts``.
    """
    for name in targets:
        target, rules = target_named(name), violation_counts(plan.tools, name, cache)
        refusals = [_count(rules[rule], word) for rule, word in _REFUSED.items() if rules[rule]]
        refusals += [f"more than {target.rules.most_tools} tools"] if rules["count"] else []
        if refusals:
            yield NextStep(f"{target.title} refuses it: {', '.join(refusals)}", "export")


def _collision(analysis: Analysis, pair: Pair) -> Collision:
    left, right = (analysis.catalog.tools[analysis.rows[side]] for side in (pair.left, pair.right))
    verdict = analysis.verdict(pair)
    lines = 1 if left.content_hash == right.content_hash else 2  # copies need no second reason
    return Collision(
        left=left.name,
        left_server=left.home,
        right=right.name,
        right_server=right.home,
        probability=verdict.probability,
        reason=" ".join(verdict.evidence[:lines]),
        key=pair_key(pair),
    )


def _count(number: int, what: str) -> str:
    plural = f"{what}s" if number != 1 else what
    return f"{number:,} {plural}"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"

"""What asking a model takes: questions and tokens, the paper's way against the default, at one θ.

    python -m benchmarks.llm_calls [--catalogs bfcl docker-mcp] [--sure 0.02 0.05 0.1]

No model is called. Its answers are the labels; what is not labelled the offline judge answers (the
*offline* column counts those questions), and clusters are audited by the same two. The judge never
saw the labels of the catalog. Tokens are estimated from the prompts and answers themselves, four
bytes each. F1 is that of the labelled pairs that end in one cluster; *agreement* the F1 between
all pairs in the clusters of a way and of the paper's. Δ F1: 95 % interval of the difference to the
paper's, over resampled labelled pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from benchmarks.held_out import analysed, put_together, unseen_weights
from benchmarks.measuring import (
    add_catalogs,
    bootstrap_ends,
    f1_of_masks,
    parser_of,
    print_machine,
)
from benchmarks.train_judge import CATALOGS, WHOLE, Labelled, load
from toolscope_core.llm.merge_questions import ask_for_verdicts
from toolscope_core.llm.tasks.audit import ClusterTools
from toolscope_core.llm.tasks.judge_prompt import ToolPair
from toolscope_core.merging.pipeline import Analysis, correct_pairs, plan_merge, with_verdicts
from toolscope_core.model.configuration import PlanConfig, QuestionConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Answer, question_key
from toolscope_core.model.tool import JsonObject, canonical_json

_RELATIONS = {"merge": "duplicate", "family": "parametric", "unsure": "unsure", "keep": "related"}


@dataclass(slots=True)
class Labels:
    """An asker that answers from labels, else with the offline judge; counts what it takes."""

    analysis: Analysis
    labels: Mapping[Pair, bool]
    name: str = "labels"
    origin: str = "none"
    message: str = ""
    parameters: JsonObject = field(default_factory=dict)
    spent: tuple[()] = ()
    asked: dict[str, set[str]] = field(default_factory=dict)
    offline: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __call__(self, task: object, items: Sequence[ToolPair | ClusterTools]) -> list[Answer]:
        known = self.asked.setdefault(task.name, set())
        keys = [question_key(task.name, task.version, task.subjects(i), self) for i in items]
        fresh = {k: item for k, item in zip(keys, items, strict=True) if k not in known}
        known.update(fresh)
        values = {
            key: self._verdict(item) if isinstance(item, ToolPair) else self._groups(item)
            for key, item in zip(keys, items, strict=True)
        }
        left = iter(fresh.items())
        while batch := dict(islice(left, task.batch)):
            self.calls += 1
            self.tokens_in += task.request(batch).tokens
            self.tokens_out += sum(len(canonical_json(values[key])) // 4 + 30 for key in batch)
        self.offline += sum(
            isinstance(i, ToolPair) and _pair(i) not in self.labels for i in fresh.values()
        )
        return [
            Answer(key, task.name, task.version, (), self.name, self.origin, values[key])
            for key in keys
        ]

    def _verdict(self, two: ToolPair) -> JsonObject:
        (p,) = self.probabilities([_pair(two)]).tolist()
        relation = _RELATIONS[self.analysis.judge.weights.outcome(p)]
        sureness = max(p, 1.0 - p)
        serves = "both" if relation == "duplicate" else "none"
        return {"relation": relation, "serves": serves, "confidence": sureness, "reason": ""}

    def _groups(self, cluster: ClusterTools) -> JsonObject:
        """What correction leaves together where the labels are the judge."""
        merge_at, ids = self.analysis.judge.weights.merge_at, [t.id for t in cluster.tools]
        pairs = [Pair.of(a, b) for a, b in combinations(sorted(ids), 2)]
        found = zip(pairs, self.probabilities(pairs).tolist(), strict=True)
        edges = [pair for pair, p in found if p >= merge_at]
        groups = correct_pairs(self.analysis, edges, Constraints(), self.probabilities)
        token = {tool.id: cluster.tokens[tool.content_hash] for tool in cluster.tools}
        together = [sorted({token[member] for member in group.members}) for group in groups]
        grouped = {one for group in together for one in group}
        alone = [[one] for one in cluster.tokens.values() if one not in grouped]
        return {"groups": together + alone, "reason": ""}

    def probabilities(self, pairs: Sequence[Pair]) -> NDArray[np.float64]:
        found = self.analysis.probabilities(pairs)
        said = [self.labels.get(pair) for pair in pairs]
        return np.array(
            [p if label is None else float(label) for p, label in zip(found, said, strict=True)]
        )


@dataclass(frozen=True, slots=True)
class Way:
    """One way of asking: what it took and where it put the tools."""

    name: str
    labels: Labels | None
    clusters: tuple[tuple[str, ...], ...]

    @property
    def pairs(self) -> set[Pair]:
        return {Pair.of(a, b) for ids in self.clusters for a, b in combinations(ids, 2)}

    def questions(self, task: str) -> int:
        return len(self.labels.asked.get(task, ())) if self.labels else 0


def main() -> None:
    parser = parser_of(__doc__)
    add_catalogs(parser, WHOLE)
    parser.add_argument("--sure", nargs="*", type=float, default=[QuestionConfig().sure_below])
    chosen = parser.parse_args()
    labelled = {name: load(name) for name in CATALOGS}
    print_machine("no model is called")
    for name in chosen.catalogs:
        weights = unseen_weights(list(labelled.values()), name)
        report(labelled[name], analysed(name, weights), chosen.sure)


def report(catalog: Labelled, analysis: Analysis, sure: Sequence[float]) -> None:
    ids = [tool.id for tool in analysis.catalog.tools]
    ends = zip(catalog.left.tolist(), catalog.right.tolist(), strict=True)
    labels = {
        Pair.of(ids[a], ids[b]): bool(merge)
        for (a, b), merge in zip(ends, catalog.merge.tolist(), strict=True)
    }
    paper = asked("paper", analysis, labels, QuestionConfig(paper=True))
    ways = [asked(f"below {at:g}", analysis, labels, QuestionConfig(sure_below=at)) for at in sure]
    offline = Way("offline", None, clusters_of(plan_merge(analysis, (), PlanConfig()).clusters))
    print(
        f"\n{catalog.name}: n {len(ids)} tools, {len(analysis.scores)} candidate pairs at θ "
        f"{analysis.threshold}, {len(labels)} labelled pairs\n"
        f"  {'way':<12}{'pairs':>7}{'audits':>8}{'offline':>9}{'of paper':>10}{'a tool':>8}"
        f"{'calls':>7}{'tokens':>10}{'a tool':>8}   {'P / R / F1':<22} Δ F1              agreement"
    )
    for way in (paper, *ways, offline):
        print(line(way, paper, catalog, analysis))


def asked(
    name: str, analysis: Analysis, labels: Mapping[Pair, bool], config: QuestionConfig
) -> Way:
    asker = Labels(analysis, labels)
    model_verdicts = ask_for_verdicts(analysis, Constraints(), asker, config)
    plan = plan_merge(with_verdicts(analysis, model_verdicts), (), PlanConfig())
    return Way(name, asker, clusters_of(plan.clusters))


def clusters_of(clusters: Iterable[object]) -> tuple[tuple[str, ...], ...]:
    return tuple(cluster.members for cluster in clusters)


def line(way: Way, paper: Way, catalog: Labelled, analysis: Analysis) -> str:
    together, base = (put_together(catalog, analysis.catalog, w.clusters) for w in (way, paper))
    precision, recall, f1 = f1_of_masks(together, catalog.merge)
    low, high = interval(together, base, catalog.merge)
    shared = len(way.pairs & paper.pairs)
    agreement = 2 * shared / max(len(way.pairs) + len(paper.pairs), 1)
    tools = len(analysis.catalog.tools)
    questions = way.questions("judge") + way.questions("audit")
    share = questions / (paper.questions("judge") + paper.questions("audit"))
    took = way.labels or Labels(analysis, {})
    tokens = took.tokens_in + took.tokens_out
    return (
        f"  {way.name:<12}{way.questions('judge'):>7}{way.questions('audit'):>8}{took.offline:>9}"
        f"{share:>10.1%}{questions / tools:>8.2f}{took.calls:>7}{tokens:>10,}{tokens / tools:>8.0f}"
        f"   {precision:.3f} / {recall:.3f} / {f1:.3f}  [{low:+.3f}, {high:+.3f}]  {agreement:.3f}"
    )


def interval(
    one: NDArray[np.bool_], other: NDArray[np.bool_], merge: NDArray[np.bool_]
) -> tuple[float, float]:
    """95 % interval of F1 of ``one`` minus F1 of ``other``."""
    low, high = bootstrap_ends(
        lambda at: f1_of_masks(one[at], merge[at])[2] - f1_of_masks(other[at], merge[at])[2],
        len(merge),
    )
    return float(low), float(high)


def _pair(two: ToolPair) -> Pair:
    return Pair.of(two.left.id, two.right.id)


if __name__ == "__main__":
    main()

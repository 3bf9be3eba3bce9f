"""Train the offline judge on the labelled pairs and write its weights as readable JSON.

    python -m benchmarks.train_judge

Each catalog counts the same, and in it merges as much as keeps; labels their annotators were
less sure of count less. The thresholds come from predictions on catalogs left out of training.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from toolscope_core.backends import Vectors
from toolscope_core.cache import VectorCache, embed_cached
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.config import read_environment
from toolscope_core.datamodel import Tool
from toolscope_core.merging import judge
from toolscope_core.merging.guards import Families, guards
from toolscope_core.merging.judge import OfflineJudge, Weights
from toolscope_core.merging.signals import SIGNALS, Matrix, Signals
from toolscope_core.merging.synthesis import synthesise
from toolscope_core.providers import SentenceEmbedder
from toolscope_core.similarity import Rows, tool_text

VERSION = 2
FUNCTIONS = ("bfcl", "bfcl-live", "ultratool")
CATALOGS = (*FUNCTIONS, "docker-mcp")

_WEIGHTS_FILE = Path(judge.__file__).with_name("judge_weights.json")
_REGULARISATION = 0.3
_SURENESS = {3: 1.0, 2: 0.8, 1: 0.3}
_UNSEEN_MEAN, _UNSEEN_SCALE, _UNSEEN_WEIGHT = 0.25, 0.3, 0.5
"""Of a share of words that no training catalog can measure: about what the other shares have."""
_GRID = tuple(step / 100 for step in range(5, 100))
_AUTO_PRECISION = 0.95
_MERGE_PRECISION = 0.95
_UNSURE_RECALL = 0.9


@dataclass(frozen=True, slots=True)
class Labelled:
    """A catalog with its labelled pairs as rows; ``declared``: both say what they take."""

    name: str
    tools: tuple[Tool, ...]
    vectors: Vectors
    left: Rows
    right: Rows
    merge: NDArray[np.bool_]
    sureness: NDArray[np.float64]
    signals: Matrix

    @property
    def declared(self) -> NDArray[np.bool_]:
        known = np.array([tool.schema is not None for tool in self.tools])
        return known[self.left] & known[self.right]

    @property
    def same_server(self) -> NDArray[np.bool_]:
        servers = np.array([tool.server for tool in self.tools])
        return (servers[self.left] == servers[self.right]) & (servers[self.left] != "")


def load(name: str) -> Labelled:
    """One of ``CATALOGS`` from the benchmark data, embedded through the user's cache."""
    settings = read_environment()
    folder = settings.data_dir / name
    source = next(folder.glob("tools.jsonl"), folder / "servers.json")
    tools = read_catalog(load_paths([source])).tools
    vectors = embed_cached(
        [tool_text(tool) for tool in tools], SentenceEmbedder(), VectorCache(settings.cache_dir)
    )
    row = {tool.id: at for at, tool in enumerate(tools)}
    lines = (settings.data_dir / "pairs" / f"{name}.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    left = np.array([row[pair["left"]] for pair in pairs], dtype=np.int32)
    right = np.array([row[pair["right"]] for pair in pairs], dtype=np.int32)
    return Labelled(
        name=name,
        tools=tools,
        vectors=vectors,
        left=left,
        right=right,
        merge=np.array([pair["label"] == "merge" for pair in pairs]),
        sureness=np.array([_SURENESS[pair["confidence"]] for pair in pairs]),
        signals=Signals.of(tools, vectors).of_pairs(left, right),
    )


def fit(catalogs: Sequence[Labelled]) -> Weights:
    """A judge trained on the catalogs, with thresholds still to be chosen."""
    signals = np.vstack([catalog.signals for catalog in catalogs])
    merge = np.concatenate([catalog.merge for catalog in catalogs])
    share = np.concatenate([_balanced(catalog) for catalog in catalogs])
    share *= len(share) / share.sum()
    known = ~np.isnan(signals) * share[:, None]
    values = np.nan_to_num(signals)
    seen = known.any(axis=0)
    total = np.where(seen, known.sum(axis=0), 1.0)
    mean = np.where(seen, (values * known).sum(axis=0) / total, _UNSEEN_MEAN)
    scale = np.sqrt((((values - mean) ** 2) * known).sum(axis=0) / total)
    scale = np.where(seen, scale, _UNSEEN_SCALE)
    standard = np.nan_to_num((signals - mean) / scale)
    model = LogisticRegression(C=_REGULARISATION, max_iter=1000)
    model.fit(standard, merge, sample_weight=share)
    return Weights(
        name="in training",
        weight=_rounded(np.where(seen, model.coef_[0], _UNSEEN_WEIGHT)),
        mean=_rounded(mean),
        scale=_rounded(scale),
        intercept=round(float(model.intercept_[0]), 4),
        same_server=0.0,
        auto_at=1.0,
        merge_at=1.0,
        unsure_at=0.0,
    )


def left_out(catalogs: Sequence[Labelled], name: str) -> Weights:
    """A judge that never saw the catalog ``name``."""
    return fit([catalog for catalog in catalogs if catalog.name != name])


def probabilities(catalog: Labelled, weights: Weights) -> NDArray[np.float64]:
    """What a judge with these weights says of the labelled pairs, unclear ones held back."""
    prepared = OfflineJudge.of(catalog.tools, catalog.vectors, weights)
    return prepared.probabilities(catalog.left, catalog.right)


def acceptable(catalog: Labelled) -> NDArray[np.bool_]:
    """The labelled pairs that could be accepted without a person if the judge were sure: prune,
    nothing lost or only surmised, no guard against it.
    """
    families = Families(catalog.tools)
    found = np.zeros(len(catalog.merge), dtype=np.bool_)
    for row in np.flatnonzero(catalog.declared):
        pair = [catalog.tools[catalog.left[row]], catalog.tools[catalog.right[row]]]
        made = synthesise(pair)
        surmised = any(alpha.surmised for alpha in made.arguments)
        guarded = guards(pair, made.canonical, made.kind, families)
        found[row] = made.kind == "prune" and not surmised and not guarded
    return found


def with_thresholds(weights: Weights, catalogs: Sequence[Labelled]) -> Weights:
    """The weights with thresholds chosen on function catalogs, each predicted when left out.

    auto: the least from which on every catalog has precision ≥ .95 among the pairs that could be
    auto-accepted, rounded up to a tenth. merge: the least from which on the mean precision is
    ≥ .95. unsure: the greatest with mean recall ≥ .9. ``same_server``: the log-odds of a merge
    among labelled pairs of one server whose parameters are declared.
    """
    functions = [catalog for catalog in catalogs if catalog.name in FUNCTIONS]
    predicted = [
        (catalog.merge, probabilities(catalog, left_out(catalogs, catalog.name)))
        for catalog in functions
    ]
    eligible = [acceptable(catalog) for catalog in functions]
    gated = [(merge[ok], said[ok]) for (merge, said), ok in zip(predicted, eligible, strict=True)]
    precision = np.array([[_precision(*one, at) for one in predicted] for at in _GRID])
    recall = np.array([[_recall(*one, at) for one in predicted] for at in _GRID])
    auto_precision = np.array([[_precision(*one, at) for one in gated] for at in _GRID])
    good = (auto_precision >= _AUTO_PRECISION).all(axis=1)
    sound = precision.mean(axis=1) >= _MERGE_PRECISION
    auto = math.ceil(10 * next(at for step, at in enumerate(_GRID) if good[step:].all())) / 10
    merge = next(at for step, at in enumerate(_GRID) if sound[step:].all())
    unsure = max(at for step, at in enumerate(_GRID) if recall[step].mean() >= _UNSURE_RECALL)
    siblings = np.concatenate(
        [catalog.merge[catalog.same_server & catalog.declared] for catalog in catalogs]
    )
    rate = float(siblings.mean())
    return replace(
        weights,
        same_server=round(math.log(rate / (1.0 - rate)), 4),
        auto_at=auto,
        merge_at=merge,
        unsure_at=unsure,
    )


def as_json(weights: Weights, catalogs: Sequence[Labelled]) -> str:
    """The weights file."""
    columns = zip(SIGNALS, weights.weight, weights.mean, weights.scale, strict=True)
    content = {
        "version": VERSION,
        "signals": {
            signal: {"weight": weight, "mean": mean, "scale": scale}
            for signal, weight, mean, scale in columns
        },
        "intercept": weights.intercept,
        "same_server": weights.same_server,
        "thresholds": {
            "auto": weights.auto_at,
            "merge": weights.merge_at,
            "unsure": weights.unsure_at,
        },
        "trained_on": {
            catalog.name: {"pairs": len(catalog.merge), "merges": int(catalog.merge.sum())}
            for catalog in catalogs
        },
    }
    return json.dumps(content, indent=2) + "\n"


def _balanced(catalog: Labelled) -> NDArray[np.float64]:
    """Weight of each pair: merges and keeps of the catalog sum to one half each."""
    share = catalog.sureness.copy()
    for label in (True, False):
        share[catalog.merge == label] /= 2.0 * share[catalog.merge == label].sum()
    return share


def _precision(merge: NDArray[np.bool_], predicted: NDArray[np.float64], at: float) -> float:
    chosen = merge[predicted >= at]
    return float(chosen.mean()) if len(chosen) else 1.0


def _recall(merge: NDArray[np.bool_], predicted: NDArray[np.float64], at: float) -> float:
    return float((predicted[merge] >= at).mean())


def _rounded(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)


def main() -> None:
    catalogs = [load(name) for name in CATALOGS]
    weights = with_thresholds(fit(catalogs), catalogs)
    text = as_json(weights, catalogs)
    _WEIGHTS_FILE.write_text(text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()

"""Train the offline judge on the labelled pairs, and write its weights as readable JSON.

 python -m benchmarks.train_judge

All catalogs have equal weight. Within a catalog, the same job, families and the rest have equal
weight, if there are enough pairs of each. Labels that are less certain weigh less. The thresholds
are chosen from predictions on catalogs, or servers, that were left out of training.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.measuring import APP_FOLDER, catalog_file, json_rows, read_file, vectors_of
from toolscope_core.embedding.candidate_pairs import PairRows
from toolscope_core.judging import judge
from toolscope_core.judging.arguments.alignment import serving
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.judging.signals import SIGNALS, Matrix, Signals
from toolscope_core.judging.weights import MODELS, Model, Weights
from toolscope_core.model.environment import read_environment
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool

VERSION = 4
FUNCTIONS = ("bfcl", "bfcl-live", "ultratool")
REGISTRY = "mcp-registry"
APPS = ("shops", "offices")
SERVERS = ("agno", "arcade", "browser", "chat", "db", "files", "google", "web")
CATALOGS = (*FUNCTIONS, "docker-mcp", REGISTRY, *APPS, *SERVERS)
THRESHOLDS = ("auto", "merge", "unsure", "family")
SAME_JOB = ("duplicate", "subsumes")

_WEIGHTS_FILE = Path(judge.__file__).with_name("judge_weights.json")
_REGULARISATION = 0.03
_OWN_SHARE = 0.4
"""How far the weights for tools on one server and for tools on two servers may differ. Both are
trained together.
"""
_SURENESS = {3: 1.0, 2: 0.8, 1: 0.3}
_OLDER, _OLDER_MERGES = 0.6, 0.25
"""The weights of labels from the first rounds. Merges weigh less, because the rules for them were
looser.
"""
_ENOUGH = 30
"""From this many labels of a kind on, a catalog has its full weight for that kind."""
_GRID = tuple(step / 100 for step in range(30, 100))
_MERGE = 0.7
_DROP_INS_RIGHT, _JOBS_RIGHT = 0.9, 0.95
_UNSURE_RECALL = 0.9
_EVEN = 0.5
"""From this threshold on, a pair is more likely a family than not."""
_TO = 60
"""Thresholds above .9 would leave too few pairs."""
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class LabelledCatalog:
    """A catalog with its labelled pairs as rows.

    ``merge`` says whether the two do the same job, and ``family`` whether they differ in the value
    of one selector. ``serves`` says which of the two could serve the other's callers; it is empty
    if nobody was asked.
    """

    name: str
    tools: tuple[Tool, ...]
    vectors: Vectors
    left: PairRows
    right: PairRows
    merge: NDArray[np.bool_]
    family: NDArray[np.bool_]
    serves: NDArray[np.str_]
    sureness: NDArray[np.float64]
    signals: Matrix
    one_server: NDArray[np.bool_]

    @property
    def same_server(self) -> NDArray[np.bool_]:
        servers = np.array([tool.server for tool in self.tools])
        return (servers[self.left] == servers[self.right]) & (servers[self.left] != "")

    @property
    def afresh(self) -> NDArray[np.bool_]:
        """Which pairs are labelled by which tool could serve whom."""
        return self.serves != ""

    def only(self, rows: NDArray[np.bool_]) -> "LabelledCatalog":
        """The catalog with only these pairs."""
        own = {name: getattr(self, name)[rows] for name in _OF_PAIRS}
        return replace(self, **own)


_OF_PAIRS = ("left", "right", "merge", "family", "serves", "sureness", "signals", "one_server")


def load(name: str) -> LabelledCatalog:
    """One of ``CATALOGS`` from the benchmark data, embedded through the user's cache."""
    return labelled(name, catalog_file(name), _labels(name))


def labelled(name: str, source: Path, labels: Sequence[dict[str, Any]]) -> LabelledCatalog:
    """A catalog file with its labels.

    A label has ``left``, ``right``, ``relation``, ``serves``, ``confidence`` and ``weight``. The
    ids in the labels must be those of tools in the catalog.
    """
    tools = read_file(source).tools
    vectors = vectors_of(tools)
    row = {tool.id: at for at, tool in enumerate(tools)}
    left = np.array([row[pair["left"]] for pair in labels], dtype=np.int32)
    right = np.array([row[pair["right"]] for pair in labels], dtype=np.int32)
    signals = Signals.of(tools, vectors)
    relations = [pair["relation"] for pair in labels]
    return LabelledCatalog(
        name=name,
        tools=tools,
        vectors=vectors,
        left=left,
        right=right,
        merge=np.isin(relations, SAME_JOB),
        family=np.array([relation == "family" for relation in relations]),
        serves=np.array([pair.get("serves", "") for pair in labels], dtype=np.str_),
        sureness=np.array(
            [_SURENESS[pair.get("confidence", 3)] * pair.get("weight", 1.0) for pair in labels]
        ),
        signals=signals.of_pairs(left, right),
        one_server=signals.of_one_server(left, right),
    )


def fit(catalogs: Sequence[LabelledCatalog]) -> Weights:
    """A judge trained on these catalogs. It has no thresholds yet."""
    job, family = _fit(catalogs, family=False), _fit(catalogs, family=True)
    return Weights("in training", *job, *family, 1.0, 1.0, 0.0, 1.0)


def left_out(catalogs: Sequence[LabelledCatalog], name: str) -> Weights:
    """A judge that never saw the catalog ``name``, nor any other catalog by the same author."""
    kin = APPS if name in APPS else (name,)
    return fit([catalog for catalog in catalogs if catalog.name not in kin])


def by_signals(catalog: LabelledCatalog, weights: Weights) -> judge.PairProbabilities:
    """The probabilities from the signals alone: without a threshold, and with nothing held back."""
    return judge.PairProbabilities(
        *(
            np.where(
                catalog.one_server,
                getattr(weights, f"{question}_beside").probability(catalog.signals),
                getattr(weights, f"{question}_across").probability(catalog.signals),
            )
            for question in ("job", "family")
        )
    )


def folds(catalog: LabelledCatalog) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Folds of servers. Each has the pairs with both servers left out, and the
    pairs with neither.
    """
    hashes = (hashlib.sha256(tool.server.encode()).hexdigest() for tool in catalog.tools)
    fold = np.array([int(digits, 16) % _FOLDS for digits in hashes])
    left_fold, right_fold = fold[catalog.left], fold[catalog.right]
    for first in range(_FOLDS):
        for second in range(first, _FOLDS):
            held_out = np.isin(left_fold, (first, second)) & np.isin(right_fold, (first, second))
            new = held_out & ((left_fold != right_fold) | (first == second))
            new &= (np.minimum(left_fold, right_fold) == first) & (
                np.maximum(left_fold, right_fold) == second
            )
            clear = ~np.isin(left_fold, (first, second)) & ~np.isin(right_fold, (first, second))
            yield new, clear


def unseen(catalogs: Sequence[LabelledCatalog], name: str) -> judge.PairProbabilities:
    """The probabilities from the signals, given by judges that never saw the catalog.

    For the registry, they never saw a pair with one of the two servers.
    """
    (catalog,) = (one for one in catalogs if one.name == name)
    if name != REGISTRY:
        return by_signals(catalog, left_out(catalogs, name))
    others = [one for one in catalogs if one.name != name]
    job, family = np.zeros(len(catalog.merge)), np.zeros(len(catalog.merge))
    for held_out, training in folds(catalog):
        if held_out.any():
            pair_probabilities = by_signals(
                catalog.only(held_out), fit([*others, catalog.only(training)])
            )
            job[held_out], family[held_out] = pair_probabilities.same_job, pair_probabilities.family
    return judge.PairProbabilities(job, family)


def prunable(catalog: LabelledCatalog) -> NDArray[np.bool_]:
    """For which of the labelled pairs one tool's schema accepts all calls to the other."""
    pairs = zip(catalog.left.tolist(), catalog.right.tolist(), strict=True)
    two = [(catalog.tools[a], catalog.tools[b]) for a, b in pairs]
    return np.array([serving(*tools, match_parameters(*tools)) != "none" for tools in two])


def with_thresholds(weights: Weights, catalogs: Sequence[LabelledCatalog]) -> Weights:
    """The weights shifted so that one threshold fits tools on one server and on two, with the
    threshold of *unsure*.

    Both are chosen on held-out predictions. From ``_MERGE`` on, among the pairs on one server that
    one schema could serve, the share ``_DROP_INS_RIGHT`` can be replaced. Across servers, where a
    person decides, the share ``_JOBS_RIGHT`` are the same job. The registry is left out, because it
    has no schemas. *unsure* is the highest threshold at which the mean recall of the same job is ≥
    .9 on catalogs of functions.
    """
    without_registry = [catalog for catalog in catalogs if catalog.name != REGISTRY]
    same_job = {
        catalog.name: unseen(catalogs, catalog.name).same_job for catalog in without_registry
    }
    thresholds: dict[bool, float] = {}
    for same_server in (True, False):
        right, predicted = [], []
        for catalog in without_registry:
            rows = catalog.afresh & (catalog.one_server == same_server)
            if same_server:
                rows &= prunable(catalog)
            right.append((catalog.serves != "none" if same_server else catalog.merge)[rows])
            predicted.append(same_job[catalog.name][rows])
        pooled = np.concatenate(right), np.concatenate(predicted)
        bar = _DROP_INS_RIGHT if same_server else _JOBS_RIGHT
        sound = [_precision(*pooled, at) >= bar for at in _GRID]
        thresholds[same_server] = next(at for step, at in enumerate(_GRID) if all(sound[step:_TO]))
        side = "beside" if same_server else "across"
        print(f"{side}: {thresholds[same_server]:.2f} of {len(pooled[0])} pairs")
    models = {
        name: replace(model, intercept=round(model.intercept + _odds(_MERGE) - _odds(at), 4))
        for name, model, at in (
            ("job_beside", weights.job_beside, thresholds[True]),
            ("job_across", weights.job_across, thresholds[False]),
        )
    }
    functions = [catalog for catalog in without_registry if catalog.name in FUNCTIONS]
    means = np.mean(
        [[(same_job[c.name][c.merge] >= at).mean() for at in _GRID] for c in functions], axis=0
    )
    unsure = max(
        (at for at, mean in zip(_GRID, means, strict=True) if mean >= _UNSURE_RECALL),
        default=_GRID[0],
    )
    return replace(
        weights,
        **models,
        auto_at=_MERGE,
        merge_at=_MERGE,
        unsure_at=min(unsure, _MERGE - 0.1),
        family_at=_EVEN,
    )


def _odds(probability: float) -> float:
    return float(np.log(probability / (1.0 - probability)))


def as_json(weights: Weights, catalogs: Sequence[LabelledCatalog]) -> str:
    """The content of the file of weights."""
    content = {
        "version": VERSION,
        "thresholds": {name: getattr(weights, f"{name}_at") for name in THRESHOLDS},
        "models": {name: _model_row(getattr(weights, name)) for name in MODELS},
        "trained_on": {
            catalog.name: {
                "pairs": len(catalog.merge),
                "same job": int(catalog.merge.sum()),
                "families": int(catalog.family.sum()),
            }
            for catalog in catalogs
        },
    }
    return json.dumps(content, indent=2) + "\n"


def _model_row(model: Model) -> dict[str, Any]:
    columns = zip(SIGNALS, model.weight, model.mean, model.scale, strict=True)
    return {
        "intercept": model.intercept,
        "signals": {
            signal: {"weight": weight, "mean": mean, "scale": scale}
            for signal, weight, mean, scale in columns
        },
    }


def _labels(name: str) -> list[dict[str, Any]]:
    """The labels of a catalog.

    Labels from the first rounds, which give only the relation, are used for pairs that have no
    later label.
    """
    if name in APPS:
        return json_rows(APP_FOLDER / f"{name}.labels.jsonl")
    data = read_environment().data_dir
    if name in SERVERS:
        relations = json_rows(data / "servers" / "relations.jsonl")
        return [pair for pair in relations if pair["catalog"] == name]
    labels = json_rows(data / "relations" / f"{name}.jsonl")
    newer_pairs = {frozenset((pair["left"], pair["right"])) for pair in labels}
    older = data / "pairs" / f"{name}.jsonl"
    for pair in json_rows(older) if older.exists() else ():
        if frozenset((pair["left"], pair["right"])) not in newer_pairs:
            kept = pair["relation"] in ("related", "different")
            labels.append({**pair, "weight": _OLDER if kept else _OLDER_MERGES})
    return labels


def _fit(catalogs: Sequence[LabelledCatalog], family: bool) -> tuple[Model, Model]:
    """The models for tools on one server and on two servers.

    They come from one logistic regression. Each signal has a weight in it, and a smaller weight for
    the difference between the two.
    """
    signals = np.vstack([catalog.signals for catalog in catalogs])
    labels = np.concatenate([c.family if family else c.merge for c in catalogs])
    share = np.concatenate([_balanced(catalog) for catalog in catalogs])
    share *= len(share) / share.sum()
    mean, scale = np.nanmean(signals, axis=0), np.nanstd(signals, axis=0)
    standard = np.nan_to_num((signals - mean) / scale)
    side = np.where(np.concatenate([catalog.one_server for catalog in catalogs]), -1.0, 1.0)
    columns = np.hstack([standard, standard * side[:, None] * _OWN_SHARE])
    model = LogisticRegression(C=_REGULARISATION, max_iter=2000)
    model.fit(columns, labels, sample_weight=share)
    shared_weights, own_weights = (
        model.coef_[0][: len(SIGNALS)],
        model.coef_[0][len(SIGNALS) :] * _OWN_SHARE,
    )
    start = round(float(model.intercept_[0]), 4)
    same_server, across = (
        Model(_rounded(weight), _rounded(mean), _rounded(scale), start)
        for weight in (shared_weights - own_weights, shared_weights + own_weights)
    )
    return same_server, across


def _balanced(catalog: LabelledCatalog) -> NDArray[np.float64]:
    """The weight of each pair.

    Pairs of the same job, pairs of families, and all other pairs have the same total weight in a
    catalog. The total is smaller if there are few such pairs.
    """
    share = catalog.sureness.copy()
    for kind in (catalog.merge, catalog.family, ~catalog.merge & ~catalog.family):
        if kind.any():
            share[kind] *= min(1.0, kind.sum() / _ENOUGH) / share[kind].sum()
    return share


def _precision(right: NDArray[np.bool_], predicted: NDArray[np.float64], at: float) -> float:
    hits = right[predicted >= at]
    return float(hits.mean()) if len(hits) else 1.0


def _rounded(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)


def main() -> None:
    catalogs = [load(name) for name in CATALOGS]
    weights = with_thresholds(fit(catalogs), catalogs)
    text = as_json(weights, catalogs)
    _WEIGHTS_FILE.write_text(text, "utf-8")
    print(json.dumps(json.loads(text)["thresholds"]))


if __name__ == "__main__":
    main()

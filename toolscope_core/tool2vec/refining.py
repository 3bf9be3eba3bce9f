"""ToolRefiner trained on what the first stage makes of queries that it did not see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.retrieval.assembly import best_first
from toolscope_core.tool2vec.learned_model import candidate_scores, refined_scores
from toolscope_core.tool2vec.refiner_network import DEPTH, RefinerExample, RefinerNetwork
from toolscope_core.tool2vec.training_queries import TrainingQueries

CHECKED_FOLD = 0
"""Its queries are not learned from until the weights are chosen on them."""
MOST_QUESTIONS = 600
"""Questions of variants that a refiner is trained on: each names one tool, and is easily found."""
EPOCHS, LAST_EPOCHS = 3, 1
"""Passes before the weights are chosen, and afterwards over all examples."""


@dataclass(frozen=True, slots=True, eq=False)
class FoldView:
    """What models without a fold make of one of its texts: the tools' vectors, (m, d), and by name
    the first stage's scores in [0, 1], (m,).
    """

    row: int
    centres: Vectors
    learned: Mapping[str, NDArray[np.float32]]


def refined_rows(queries: TrainingQueries) -> NDArray[np.intp]:
    """The texts that a refiner is trained on: all recorded ones, and some questions."""
    questions = np.flatnonzero(~queries.recorded)
    if len(questions) > MOST_QUESTIONS:
        order = np.random.default_rng(409).permutation(len(questions))
        questions = questions[order[:MOST_QUESTIONS]]
    return np.sort(np.concatenate([np.flatnonzero(queries.recorded), questions]))


def example_of(queries: TrainingQueries, view: FoldView, candidates: int) -> RefinerExample:
    """The candidates of a text with the vectors and scores of models that did not see it."""
    first = candidate_scores(view.learned)
    rows = best_first(first, candidates)
    serves = queries.labels(np.array([view.row]))[0][rows]
    text, weight = queries.texts[view.row], float(queries.weights[view.row])
    return RefinerExample(text, view.centres[rows], first[rows], serves, weight)


def checked_refiner(
    queries: TrainingQueries,
    views: Sequence[FoldView],
    candidates: int,
    encoder: str = "",
    progress: Progress = silent,
) -> RefinerNetwork:
    """A refiner that learned from all folds but ``CHECKED_FOLD``. ``encoder`` names its encoder,
    all of whose layers are tuned then; empty for the first layers of the default.
    """
    seen = [one for one in views if queries.folds[one.row] != CHECKED_FOLD]
    size = views[0].centres.shape[1]
    network = RefinerNetwork(size, encoder or DEFAULT_MODEL, 0 if encoder else DEPTH)
    network.train([example_of(queries, one, candidates) for one in seen], EPOCHS, progress)
    return network


def finished_refiner(
    network: RefinerNetwork,
    queries: TrainingQueries,
    views: Sequence[FoldView],
    candidates: int,
    progress: Progress = silent,
) -> None:
    """Train it once more, on the queries too that the weights were chosen on."""
    examples = [example_of(queries, one, candidates) for one in views]
    network.train(examples, LAST_EPOCHS, progress)


def with_refined(
    held_out: Sequence[HeldOutQuery],
    views: Mapping[int, FoldView],
    texts: Sequence[str],
    network: RefinerNetwork,
    candidates: int,
) -> list[HeldOutQuery]:
    """The queries of ``CHECKED_FOLD`` with the refiner's scores."""
    result: list[HeldOutQuery] = []
    for one in held_out:
        if one.fold == CHECKED_FOLD:
            view = views[one.row]
            scores = refined_scores(network, texts[one.row], view.centres, view.learned, candidates)
            result.append(replace(one, learned={**one.learned, REFINER: scores}))
    return result

"""ToolRefiner: a request's tokens and one vector per candidate through one encoder (§4.3)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.model.errors import ModelError
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.retrieval.assembly import best_first
from toolscope_core.tool2vec import encoder_layers, learned_model
from toolscope_core.tool2vec.training_queries import TrainingQueries

_Floats = NDArray[np.float32]

DEPTH = 2
"""The default number of encoder layers: all six take three times as long and find no more."""
_BATCH, RATE = 16, 2e-4
FIRST_SCALE = 8.0
"""The weight of the first stage's score, which is 0 to 1, in a candidate's logit
before training.
"""


@dataclass(frozen=True, slots=True, eq=False)
class RefinerExample:
    """A request with its N candidates.

    ``vectors`` are the candidates' vectors (N, d), and ``scores`` their first scores (N,) in [0,
    1]. ``serves`` (N,) is 1 for each candidate that serves the request, otherwise 0. ``weight`` is
    the example's weight in training.
    """

    text: str
    vectors: Vectors
    scores: _Floats
    serves: _Floats
    weight: float = 1.0


class RefinerNetwork(encoder_layers.TrainedNetwork):
    """An encoder that reads tokens and candidates together and gives one logit per candidate, all
    in one pass.

    ``size`` is the length of the candidates' vectors; ``source`` and ``depth`` say which encoder.
    Before training, candidates keep the order of the first stage. Raises ``ModelError`` if the
    encoder cannot be loaded.
    """

    def __init__(self, size: int, source: str = DEFAULT_MODEL, depth: int = DEPTH) -> None:
        import torch
        from torch import nn

        self.size, self.source, self.depth = size, source, depth
        self._encoder = encoder_layers.EncoderLayers(source, depth)
        with encoder_layers.seeded():
            width = self._encoder.width
            module: Any = nn.ModuleDict(
                {
                    "encoder": self._encoder.network,
                    "project": nn.Linear(size + 1, width),
                    "judge": nn.Linear(width, 1),
                    "first": nn.Linear(1, 1),
                }
            )
        self._module = module
        with torch.no_grad():
            self._module["judge"].weight.fill_(0.0)
            self._module["judge"].bias.fill_(0.0)
            self._module["first"].weight.fill_(FIRST_SCALE)
            self._module["first"].bias.fill_(-FIRST_SCALE)

    def logits(self, text: str, candidates: Vectors, scores: _Floats) -> _Floats:
        """The logits, float32 of shape (N,), for N candidates with vectors (N, d) and first scores
        (N,).
        """
        import torch

        self._module.eval()
        with torch.inference_mode():
            example = RefinerExample(text, candidates, scores, np.zeros_like(scores))
            logits: _Floats = self._forward([example])[0].numpy()
        return logits

    def train(
        self, examples: Sequence[RefinerExample], epochs: int, progress: Progress = silent
    ) -> None:
        """Train with weighted binary cross-entropy over each example's candidates (AdamW).

        All examples must have the same number of candidates. Reports ``Step("refine", …)``, counted
        in batches; ``progress`` may raise to cancel.
        """
        import torch
        from torch import nn

        loss = nn.BCEWithLogitsLoss(reduction="none")

        def loss_of(batch: Sequence[RefinerExample]) -> Any:
            labels = torch.from_numpy(np.stack([one.serves for one in batch]))
            weights = torch.tensor([one.weight for one in batch])
            return (loss(self._forward(batch), labels).mean(dim=1) * weights).mean()

        batches = list(_batches(examples, epochs))
        encoder_layers.train_in_batches(self._module, RATE, batches, loss_of, "refine", progress)

    def _forward(self, batch: Sequence[RefinerExample]) -> Any:
        import torch

        if {one.vectors.shape[1] for one in batch} != {self.size}:
            raise ModelError(
                f"the candidates' vectors do not have the size {self.size}; train the model "
                "again with the embedder that you search with"
            )
        ids, mask = self._encoder.tokens([one.text for one in batch])
        vectors = torch.from_numpy(np.stack([one.vectors for one in batch]))
        scores = torch.from_numpy(np.stack([one.scores for one in batch]))[..., None]
        projected = self._module["project"](torch.cat([vectors, scores], dim=-1))
        words = self._encoder.network.get_input_embeddings()(ids)
        whole = torch.cat([words, projected], dim=1)
        masks = torch.cat([mask, torch.ones(scores.shape[:2], dtype=mask.dtype)], dim=1)
        states = self._encoder.network(inputs_embeds=whole, attention_mask=masks).last_hidden_state
        by_tokens = self._module["judge"](states[:, ids.shape[1] :])
        return (by_tokens + self._module["first"](scores)).squeeze(-1)


def _batches(examples: Sequence[RefinerExample], epochs: int) -> Iterator[Sequence[RefinerExample]]:
    """Every example once per epoch."""
    generator = np.random.default_rng(409)
    texts = [one.text for one in examples]
    for _ in range(epochs):
        for rows in encoder_layers.batches_by_length(texts, _BATCH, generator):
            yield [examples[at] for at in rows]


CHECKED_FOLD = 0
"""Queries in this fold are not used for training until the weights have been chosen on them."""
_MOST_QUESTIONS = 600
"""The most questions from document variants that train a refiner. Each question names one tool,
which is easy to find.
"""
EPOCHS, LAST_EPOCHS = 3, 1
"""The passes before the weights are chosen, and the passes over all examples afterwards."""


@dataclass(frozen=True, slots=True, eq=False)
class FoldView:
    """What models trained without a text's fold say about the text.

    ``centres`` are the tools' vectors, (m, d). ``learned`` has the first stage's scores by name, in
    [0, 1], each (m,).
    """

    row: int
    centres: Vectors
    learned: Mapping[str, NDArray[np.float32]]


def refined_rows(queries: TrainingQueries) -> NDArray[np.intp]:
    """The rows of the texts that train a refiner: all recorded texts, and at most
    ``_MOST_QUESTIONS`` questions.
    """
    questions = np.flatnonzero(~queries.recorded)
    if len(questions) > _MOST_QUESTIONS:
        order = np.random.default_rng(409).permutation(len(questions))
        questions = questions[order[:_MOST_QUESTIONS]]
    return np.sort(np.concatenate([np.flatnonzero(queries.recorded), questions]))


def example_of(queries: TrainingQueries, view: FoldView, candidates: int) -> RefinerExample:
    """The candidates for a text, with vectors and scores from models that did not see the text."""
    first = learned_model.candidate_scores(view.learned)
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
    """A refiner trained on all folds except ``CHECKED_FOLD``.

    ``encoder`` names the encoder, and all of its layers are tuned. If the name is empty, the first
    layers of the default encoder are used.
    """
    train_views = [one for one in views if queries.folds[one.row] != CHECKED_FOLD]
    size = views[0].centres.shape[1]
    network = RefinerNetwork(size, encoder or DEFAULT_MODEL, 0 if encoder else DEPTH)
    network.train([example_of(queries, one, candidates) for one in train_views], EPOCHS, progress)
    return network


def finished_refiner(
    network: RefinerNetwork,
    queries: TrainingQueries,
    views: Sequence[FoldView],
    candidates: int,
    progress: Progress = silent,
) -> None:
    """Train the refiner once more, including the queries on which the weights were chosen."""
    examples = [example_of(queries, one, candidates) for one in views]
    network.train(examples, LAST_EPOCHS, progress)


def with_refined(
    held_out: Sequence[learned_model.HeldOutQuery],
    views: Mapping[int, FoldView],
    texts: Sequence[str],
    network: RefinerNetwork,
    candidates: int,
) -> list[learned_model.HeldOutQuery]:
    """The queries in ``CHECKED_FOLD``, with the refiner's scores added."""
    result: list[learned_model.HeldOutQuery] = []
    for one in held_out:
        if one.fold == CHECKED_FOLD:
            view = views[one.row]
            scores = learned_model.refined_scores(
                network, texts[one.row], view.centres, view.learned, candidates
            )
            result.append(replace(one, learned={**one.learned, learned_model.REFINER: scores}))
    return result

"""An embedder tuned with a triplet loss on requests and the tools that serve them (§5.1)."""

import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.encoders import loaded_encoder, triplet_loss
from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.tool2vec.encoder_layers import batches_by_length, train_in_batches
from toolscope_core.tool2vec.training_queries import TrainingQueries

_BATCH, RATE, MARGIN = 16, 2e-5, 0.2

Triplet = tuple[str, str, str]
"""A request, a text of what serves it, and a text of what does not."""


class TunedEmbedder:
    """A sentence-transformers model by name or folder. Raises ``ModelError`` if it cannot be
    loaded.
    """

    def __init__(self, source: str = DEFAULT_MODEL) -> None:
        self.source = source
        self._model = loaded_encoder(source)

    def train(self, triplets: Sequence[Triplet], progress: Progress = silent) -> None:
        """Train one epoch.

        A request should be closer to what serves it than to what does not, by a cosine of
        ``MARGIN``. Reports ``Step("tune", …)`` in batches; ``progress`` may raise to cancel.
        """
        loss = triplet_loss(self._model, MARGIN)
        requests = [request for request, _, _ in triplets]
        batches = list(batches_by_length(requests, _BATCH, np.random.default_rng(409)))

        def loss_of(rows: NDArray[np.intp]) -> Any:
            own = [triplets[at] for at in rows]
            sides = zip(*own, strict=True)
            return loss([self._model.preprocess(list(texts)) for texts in sides], None)

        train_in_batches(self._model, RATE, batches, loss_of, "tune", progress)
        self._model.eval()

    def files(self) -> dict[str, bytes]:
        """The files of a sentence-transformers model, weights as safetensors, by name."""
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            self._model.save(str(folder), create_model_card=False, safe_serialization=True)
            paths = (path for path in folder.rglob("*") if path.is_file())
            return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


MOST_TRIPLETS = 2_000
"""The triplets of an epoch: for UltraTool's long requests they take a quarter of an hour on two
cores (.44 s each)."""
MISTAKEN = 10
"""The negatives of a request are drawn from this many nearest tools."""


def triplets_of(
    queries: TrainingQueries, vectors: Vectors, centres: Vectors, own: Sequence[str]
) -> list[tuple[str, str, str]]:
    """A triplet for each request and tool that serves it, recorded requests first.

    ``vectors`` are those of the queries' texts, (n, d), ``centres`` the tools' Tool2Vec vectors,
    (m, d), and ``own`` the tools' texts. A tool is represented by one of its queries, or by its own
    text if it has none. The positive is another query of the serving tool. The negative is a query
    that none of the request's serving tools serves.
    """
    generator = np.random.default_rng(409)
    texts_by_tool: dict[int, list[int]] = {}
    for text, tool in zip(queries.at.tolist(), queries.tool.tolist(), strict=True):
        texts_by_tool.setdefault(tool, []).append(text)

    def stands_for(tool: int, but: Collection[int]) -> str:
        others = [one for one in texts_by_tool.get(tool, ()) if one not in but]
        return queries.texts[generator.choice(others)] if others else own[tool]

    triplets = []
    for place in _sampled_places(queries, generator).tolist():
        text, tool = int(queries.at[place]), int(queries.tool[place])
        serving = queries.tool[queries.at == text]
        nearest = np.argsort(-(centres @ vectors[text]), kind="stable")
        candidates = nearest[: MISTAKEN + len(serving)]
        wrong = candidates[~np.isin(candidates, serving)]
        if len(wrong):
            mistaken = int(generator.choice(wrong))
            texts_served = {one for right in serving.tolist() for one in texts_by_tool[right]}
            triplets.append(
                (queries.texts[text], stands_for(tool, {text}), stands_for(mistaken, texts_served))
            )
    return triplets


def _sampled_places(queries: TrainingQueries, generator: np.random.Generator) -> NDArray[np.intp]:
    """The positions of pairs of a text and a tool: all of recorded texts, then others at random."""
    recorded = queries.recorded[queries.at]
    first, rest = np.flatnonzero(recorded), np.flatnonzero(~recorded)
    places = np.concatenate([generator.permutation(first), generator.permutation(rest)])
    return places[:MOST_TRIPLETS]

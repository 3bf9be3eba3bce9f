"""An embedder tuned with a triplet loss on requests and the tools that serve them (§5.1)."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.encoders import loaded_encoder, triplet_loss
from toolscope_core.embedding.packaged_model import DEFAULT_MODEL
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.tool2vec.encoder_layers import batches_by_length, train_in_batches

BATCH, RATE, MARGIN = 16, 2e-5, 0.2

Triplet = tuple[str, str, str]
"""A request, a text of what serves it, and a text of what does not."""


class TunedEmbedder:
    """A sentence-transformers model by name or folder. Raises ``ModelError`` where it cannot be
    loaded.
    """

    def __init__(self, source: str = DEFAULT_MODEL) -> None:
        self.source = source
        self._model = loaded_encoder(source)

    def train(self, triplets: Sequence[Triplet], progress: Progress = silent) -> None:
        """One epoch: the request is to lie nearer to what serves it than to what does not, by a
        cosine of ``MARGIN``. Reports ``Step("tune", …)`` in batches; ``progress`` may raise to
        cancel.
        """
        loss = triplet_loss(self._model, MARGIN)
        requests = [request for request, _, _ in triplets]
        batches = list(batches_by_length(requests, BATCH, np.random.default_rng(409)))

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

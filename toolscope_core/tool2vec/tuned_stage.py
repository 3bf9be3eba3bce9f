"""The classifier's encoder tuned too (§4.2), with checkpoints to go on from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolscope_core.files.cache_files import put
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.model.tool import digest
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.tool2vec.blend import HeldOutQuery
from toolscope_core.tool2vec.encoder_layers import Arrays
from toolscope_core.tool2vec.learned_parts import TUNED, assembled_parts, stretched
from toolscope_core.tool2vec.refining import CHECKED_FOLD, FoldView
from toolscope_core.tool2vec.training_queries import TrainingQueries
from toolscope_core.tool2vec.tuned_classifier import TunedClassifier

EPOCHS = 4
_SEAL = 32


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The weights after each epoch of one training, in a folder of the cache; damaged ones count as
    absent.
    """

    folder: Path

    def keep(self, epoch: int, arrays: Arrays) -> None:
        """Keep the weights after an epoch, counted from 1, in place of those before."""
        from safetensors.numpy import save

        self.folder.mkdir(parents=True, exist_ok=True)
        body = save(arrays)
        put(self.folder / f"{epoch}.epoch", hashlib.sha256(body).digest() + body)
        for path in self.folder.glob("*.epoch"):
            if path.stem != str(epoch):
                path.unlink(missing_ok=True)

    def latest(self) -> tuple[int, Arrays]:
        """The last epoch that was kept with its weights; 0 and none without one."""
        from safetensors.numpy import load

        for path in sorted(self.folder.glob("*.epoch"), key=lambda one: -int(one.stem)):
            content = path.read_bytes()
            if content[:_SEAL] == hashlib.sha256(content[_SEAL:]).digest():
                return int(path.stem), dict(load(content[_SEAL:]))
        return 0, {}

    def clear(self) -> None:
        """Remove them: the training is done."""
        for path in self.folder.glob("*.epoch"):
            path.unlink(missing_ok=True)


def tuned_classifier(
    queries: TrainingQueries,
    centres: Vectors,
    encoder: str,
    folder: Path,
    progress: Progress = silent,
) -> TunedClassifier:
    """A classifier whose encoder, by name or folder, learned from all folds but ``CHECKED_FOLD``,
    which says when to stop. Goes on from the checkpoint in ``folder`` of the same training, if one
    was broken off. Raises ``ModelError`` where the encoder cannot be loaded.
    """
    network = TunedClassifier(centres, encoder)
    kept = Checkpoints(folder / "checkpoints" / digest(queries.version, encoder)[:32])
    done, arrays = kept.latest()
    if arrays:
        network.put(arrays)
    network.train(
        queries.texts,
        queries.labels,
        max(EPOCHS - done, 0),
        queries.folds == CHECKED_FOLD,
        lambda epoch, own: kept.keep(done + epoch, own),
        progress,
    )
    kept.clear()
    return network


def tuned_scores(network: TunedClassifier, text: str) -> NDArray[np.float32]:
    """The scores of the m tools in [0, 1] for a request as it is split by rule."""
    parts = decompose(text)
    texts = [text, *(parts if len(parts) > 1 else ())]
    return stretched(assembled_parts(network.logits(texts)))


def with_tuned(
    held_out: Sequence[HeldOutQuery],
    views: Mapping[int, FoldView],
    texts: Sequence[str],
    network: TunedClassifier,
) -> tuple[list[HeldOutQuery], dict[int, FoldView]]:
    """The queries of ``CHECKED_FOLD``, which it did not learn from, with its scores; and all views
    with them, for a refiner that takes its candidates by them.
    """
    seen = {
        row: replace(view, learned={**view.learned, TUNED: tuned_scores(network, texts[row])})
        for row, view in views.items()
    }
    own = [one for one in held_out if one.fold == CHECKED_FOLD]
    return [replace(one, learned=seen[one.row].learned) for one in own], seen

"""The classifier's encoder tuned too (§4.2), with checkpoints to go on from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from toolscope_core.files.cache_files import read_sealed, write_sealed
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.model.tool import digest
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.tool2vec.blend import HeldOutQuery
from toolscope_core.tool2vec.encoder_layers import Arrays
from toolscope_core.tool2vec.learned_parts import TUNED, assembled_parts, stretched
from toolscope_core.tool2vec.refining import CHECKED_FOLD, FoldView
from toolscope_core.tool2vec.training_queries import TrainingQueries
from toolscope_core.tool2vec.tuned_classifier import LabelledTexts, TunedClassifier

EPOCHS = 4
_EPOCH = "epoch"
"""Beside the weights in a checkpoint."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The weights after the last epoch of one training, in a file ``name`` of the cache; a damaged
    one counts as absent.
    """

    folder: Path
    name: str

    def keep(self, epoch: int, arrays: Arrays) -> None:
        """Keep the weights after an epoch, counted from 1, in place of those before."""
        from safetensors.numpy import save

        write_sealed(self.folder, self.name, save({**arrays, _EPOCH: np.array(epoch)}))

    def latest(self) -> tuple[int, Arrays]:
        """The last epoch that was kept with its weights; 0 and none without one."""
        from safetensors.numpy import load

        body = read_sealed(self.folder / self.name)
        arrays = dict(load(body)) if body else {}
        return int(arrays.pop(_EPOCH, 0)), arrays

    def clear(self) -> None:
        """Remove them: the training is done."""
        (self.folder / self.name).unlink(missing_ok=True)


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
    kept = Checkpoint(folder, f"checkpoints/{digest(queries.version, encoder)[:32]}.epoch")
    done, arrays = kept.latest()
    if arrays:
        network.put(arrays)
    lessons = LabelledTexts(
        queries.texts, queries.labels, queries.weights, queries.folds == CHECKED_FOLD
    )
    network.train(
        lessons, max(EPOCHS - done, 0), lambda epoch, own: kept.keep(done + epoch, own), progress
    )
    kept.clear()
    return network


def rule_request(text: str) -> ToolRequest:
    """A text as it is searched: split by rule."""
    return ToolRequest(text, decompose(text))


def with_tuned(
    held_out: Sequence[HeldOutQuery],
    views: Mapping[int, FoldView],
    texts: Sequence[str],
    network: TunedClassifier,
) -> tuple[list[HeldOutQuery], dict[int, FoldView]]:
    """The queries of ``CHECKED_FOLD``, which it did not learn from, with its scores; and all views
    with them, for a refiner that takes its candidates by them.
    """
    seen = {}
    for row, view in views.items():
        logits = network.logits(rule_request(texts[row]).texts)
        own_scores = {TUNED: stretched(assembled_parts(logits))}
        seen[row] = replace(view, learned={**view.learned, **own_scores})
    own = [one for one in held_out if one.fold == CHECKED_FOLD]
    return [replace(one, learned=seen[one.row].learned) for one in own], seen

"""MLC with a tuned encoder: a transformer with a linear head over all tools (§4.2)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.files.folders import read_sealed, write_sealed
from toolscope_core.model.protocols import Progress, Step, Vectors, silent
from toolscope_core.model.tool import digest
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.tool2vec import encoder_layers
from toolscope_core.tool2vec.learned_model import TUNED, HeldOutQuery, assembled_parts, stretched
from toolscope_core.tool2vec.refiner_network import CHECKED_FOLD, FoldView
from toolscope_core.tool2vec.training_queries import TrainingQueries

_Floats = NDArray[np.float32]
Labels = Callable[[NDArray[np.intp]], _Floats]
"""Maps the rows of texts to the texts' labels, float32 of shape (rows, m)."""

_BATCH, _RATE, HEAD_RATE, _SCALE = 32, 1e-4, 1e-3, 12.0
PATIENCE = 2
"""Training stops after this many epochs without a smaller loss on held-out texts."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTexts:
    """n texts with the tools that serve them, their weights, and which texts are ``checked``.

    Checked texts are not used for training but decide when training stops. ``weights`` and
    ``checked`` have shape (n,).
    """

    texts: Sequence[str]
    labels: Labels
    weights: _Floats
    checked: NDArray[np.bool_]


class TunedClassifier(encoder_layers.TrainedNetwork):
    """An encoder whose mean vector goes through one logistic classifier per tool.

    The classifiers start at ``centres`` of shape (m, d), or at zeros if the encoder's vectors have
    another length. Raises ``ModelError`` if the encoder cannot be loaded.
    """

    def __init__(self, centres: Vectors, source: str = DEFAULT_MODEL) -> None:
        import torch
        from torch import nn

        self.source = source
        self._encoder = encoder_layers.EncoderLayers(source)
        head = nn.Linear(self._encoder.width, len(centres))
        with torch.no_grad():
            head.weight.zero_()
            if centres.shape[1] == self._encoder.width:
                head.weight.copy_(torch.from_numpy(centres * np.float32(_SCALE)))
            head.bias.fill_(-_SCALE)
        self._module = nn.ModuleDict({"encoder": self._encoder.network, "head": head})

    def logits(self, texts: Sequence[str]) -> _Floats:
        """The logits of the tools: float32 of shape (len(texts), m)."""
        import torch

        self._module.eval()
        with torch.inference_mode():
            logits: _Floats = self._forward(texts).numpy()
        return logits

    def train(
        self,
        lessons: LabelledTexts,
        epochs: int,
        on_epoch: Callable[[int, encoder_layers.Arrays], None],
        progress: Progress = silent,
    ) -> int:
        """Train with weighted binary cross-entropy over all tools (AdamW).

        Returns the best epoch, counted from 1: the epoch with the smallest loss on ``checked``
        texts, whose weights are kept. After each epoch, ``on_epoch`` receives the epoch's number
        and the weights, for a checkpoint. Reports ``Step("tune", …)``, counted in batches;
        ``progress`` may raise to cancel.
        """
        import torch

        rows, checked = np.flatnonzero(~lessons.checked), np.flatnonzero(lessons.checked)
        encoder = [one for one in self._module["encoder"].parameters() if one.requires_grad]
        groups = [
            {"params": encoder, "lr": _RATE},
            {"params": list(self._module["head"].parameters()), "lr": HEAD_RATE},
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        generator = np.random.default_rng(409)
        per_epoch = -(-len(rows) // _BATCH)
        best, least, best_arrays = 0, np.inf, self.arrays()
        for epoch in range(epochs):
            texts = [lessons.texts[row] for row in rows.tolist()]
            batches = encoder_layers.batches_by_length(texts, _BATCH, generator)
            self._module.train()
            with encoder_layers.seeded():
                for number, batch in enumerate(batches):
                    progress(Step("tune", epoch * per_epoch + number, epochs * per_epoch))
                    optimizer.zero_grad()
                    self._loss(lessons, rows[batch]).backward()
                    optimizer.step()
            on_epoch(epoch + 1, self.arrays())
            loss = self._checked_loss(lessons, checked) if len(checked) else -epoch
            if loss < least:
                best, least, best_arrays = epoch + 1, loss, self.arrays()
            elif epoch + 1 - best >= PATIENCE:
                break
        self.put(best_arrays)
        progress(Step("tune", epochs * per_epoch, epochs * per_epoch))
        return best

    def _loss(self, lessons: LabelledTexts, rows: NDArray[np.intp]) -> Any:
        import torch

        logits = self._forward([lessons.texts[row] for row in rows.tolist()])
        each = torch.nn.functional.binary_cross_entropy_with_logits(
            logits, torch.from_numpy(lessons.labels(rows)), reduction="none"
        )
        return (each.sum(dim=1) * torch.from_numpy(lessons.weights[rows])).mean()

    def _checked_loss(self, lessons: LabelledTexts, checked: NDArray[np.intp]) -> float:
        import torch

        self._module.eval()
        total = 0.0
        with torch.inference_mode():
            for start in range(0, len(checked), _BATCH):
                own = checked[start : start + _BATCH]
                total += float(self._loss(lessons, own)) * len(own)
        return total / len(checked)

    def _forward(self, texts: Sequence[str]) -> Any:
        import torch

        ids, mask = self._encoder.tokens(texts)
        states = self._encoder.network(input_ids=ids, attention_mask=mask).last_hidden_state
        own = mask[..., None].to(states.dtype)
        mean = (states * own).sum(dim=1) / own.sum(dim=1)
        return self._module["head"](torch.nn.functional.normalize(mean, dim=1))


EPOCHS = 4
SECONDS_A_TEXT = 0.022
"""The seconds that a text takes in an epoch: the 8,189 texts of UltraTool took
716 s on two cores.
"""
_EPOCH = "epoch"
"""The name under which a checkpoint stores its epoch, beside the weights."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The weights after the last epoch of one training, in the cache file ``name``.

    A damaged file is treated as missing.
    """

    folder: Path
    name: str

    def keep(self, epoch: int, arrays: encoder_layers.Arrays) -> None:
        """Store the weights after an epoch, counted from 1; earlier weights are replaced."""
        from safetensors.numpy import save

        write_sealed(self.folder, self.name, save({**arrays, _EPOCH: np.array(epoch)}))

    def latest(self) -> tuple[int, encoder_layers.Arrays]:
        """The last stored epoch with its weights; 0 and no weights if none is stored."""
        from safetensors.numpy import load

        body = read_sealed(self.folder / self.name)
        arrays = dict(load(body)) if body else {}
        return int(arrays.pop(_EPOCH, 0)), arrays

    def clear(self) -> None:
        """Remove the checkpoint after training."""
        (self.folder / self.name).unlink(missing_ok=True)


def tuned_classifier(
    queries: TrainingQueries,
    centres: Vectors,
    encoder: str,
    folder: Path,
    progress: Progress = silent,
) -> TunedClassifier:
    """A classifier whose encoder was trained on all folds except ``CHECKED_FOLD``, which decides
    when training stops.

    ``encoder`` is a name or a folder. If ``folder`` has a checkpoint of the same training, training
    continues from there. Raises ``ModelError`` if the encoder cannot be loaded.
    """
    network = TunedClassifier(centres, encoder)
    store = Checkpoint(folder, f"checkpoints/{digest(queries.version, encoder)[:32]}.epoch")
    last, arrays = store.latest()
    if arrays:
        network.put(arrays)
    lessons = LabelledTexts(
        queries.texts, queries.labels, queries.weights, queries.folds == CHECKED_FOLD
    )
    network.train(
        lessons, max(EPOCHS - last, 0), lambda epoch, own: store.keep(last + epoch, own), progress
    )
    store.clear()
    return network


def rule_request(text: str) -> ToolRequest:
    """A text as a request for the search, split by rule."""
    return ToolRequest(text, decompose(text))


def with_tuned(
    held_out: Sequence[HeldOutQuery],
    views: Mapping[int, FoldView],
    texts: Sequence[str],
    network: TunedClassifier,
) -> tuple[list[HeldOutQuery], dict[int, FoldView]]:
    """The queries in ``CHECKED_FOLD`` with scores from a network that did not see them.

    All views also get the network's scores, because a refiner may select its candidates by these
    scores.
    """
    scored_views = {}
    for row, view in views.items():
        logits = network.logits(rule_request(texts[row]).texts)
        own_scores = {TUNED: stretched(assembled_parts(logits))}
        scored_views[row] = replace(view, learned={**view.learned, **own_scores})
    own = [one for one in held_out if one.fold == CHECKED_FOLD]
    return [replace(one, learned=scored_views[one.row].learned) for one in own], scored_views

"""The first layers of a transformer, loaded by name or folder with its tokenizer, and the training
of their weights.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.encoders import loaded_encoder
from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.model.errors import ModelError
from toolscope_core.model.protocols import Progress, Step

Arrays = dict[str, NDArray[np.float32]]

MOST_TOKENS = 256
"""The most tokens of a request that are read, if the encoder allows so many. Nearly all requests
are shorter.
"""
_SEED = 409
WARM_UP = 20
"""The number of batches in which the training rate rises."""
_T = TypeVar("_T")


class EncoderLayers:
    """The first ``depth`` layers of a transformer. If ``depth`` is 0, or the transformer has fewer
    layers, all layers are kept.

    Raises ``ModelError`` if the model cannot be loaded.
    """

    def __init__(self, source: str = DEFAULT_MODEL, depth: int = 0) -> None:
        word_model = loaded_encoder(source)[0]
        self.network: Any = word_model.auto_model
        self.tokenizer: Any = word_model.tokenizer
        layers = getattr(getattr(self.network, "encoder", None), "layer", None)
        if depth and layers is not None and len(layers) > depth:
            self.network.encoder.layer = layers[:depth]
        self.network.eval()
        for parameter in self.network.get_input_embeddings().parameters():
            parameter.requires_grad_(False)  # 30,000 words are too many for few queries

    @property
    def width(self) -> int:
        """The length of a token's vector."""
        return int(self.network.config.hidden_size)

    def tokens(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """The token ids of the texts and their attention mask, each a tensor of
        shape (n, longest).
        """
        longest = min(MOST_TOKENS, int(self.network.config.max_position_embeddings))
        batch = self.tokenizer(
            list(texts), padding=True, truncation=True, max_length=longest, return_tensors="pt"
        )
        return batch["input_ids"], batch["attention_mask"]


def batches_by_length(
    texts: Sequence[str], size: int, generator: np.random.Generator
) -> Iterator[NDArray[np.intp]]:
    """The row of every text once, in batches of texts of similar length.

    A batch takes as long as its longest text.
    """
    lengths = np.array([len(text) for text in texts]) + generator.uniform(0, 60, len(texts))
    order = np.argsort(lengths, kind="stable")
    for start in generator.permutation(np.arange(0, len(order), size)):
        yield order[start : start + size]


def train_in_batches(
    module: Any,
    rate: float,
    batches: Sequence[_T],
    loss_of: Callable[[_T], Any],
    stage: str,
    progress: Progress,
) -> None:
    """Train with AdamW over the batches; the rate rises at first and then falls to 0.

    Reports ``Step(stage, …)``, counted in batches; ``progress`` may raise to cancel.
    """
    import torch

    trainable = [one for one in module.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=rate, weight_decay=0.01)
    total = len(batches)
    module.train()
    with seeded():
        for step, batch in enumerate(batches):
            progress(Step(stage, step, total))
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1.0, (step + 1) / WARM_UP) * (1.0 - step / total)
            optimizer.zero_grad()
            loss_of(batch).backward()
            torch.nn.utils.clip_grad_norm_(trainable, 1.0)
            optimizer.step()
    progress(Step(stage, total, total))


class TrainedNetwork:
    """A torch module with its trainable weights."""

    _module: Any

    def arrays(self) -> Arrays:
        """A copy of the trainable weights, by name."""
        return {
            name: parameter.detach().numpy().astype(np.float32)
            for name, parameter in self._trainable().items()
        }

    def put(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Restore weights. Raises ``ModelError`` if they belong to another encoder."""
        import torch

        own = self._trainable()
        shapes = {name: tuple(one.shape) for name, one in own.items()}
        if shapes != {name: tuple(one.shape) for name, one in arrays.items()}:
            raise ModelError(
                "the trained weights do not fit the loaded encoder; train the model again with "
                "`learn`"
            )
        with torch.no_grad():
            for name, parameter in own.items():
                parameter.copy_(torch.from_numpy(np.array(arrays[name])))

    def _trainable(self) -> dict[str, Any]:
        parameters = self._module.named_parameters()
        return {name: one for name, one in parameters if one.requires_grad}


@contextmanager
def seeded() -> Iterator[None]:
    """A block in which the random numbers are the same each time. Other
    generators are unaffected.
    """
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        yield

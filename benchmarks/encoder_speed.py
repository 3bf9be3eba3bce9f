"""How fast the default encoder is, compared with sentence-transformers in float32.

 python -m benchmarks.encoder_speed [--rounds 3] [--texts 600] [--threads 2]

The texts are from LiveMCPBench and Docker MCP: short ones as in merges, and long ones as in
searches. The two encoders take turns. Torch is used as it comes, with padded batches of 64 texts.
To simulate a weaker processor, use a copy of ONNX Runtime with patched processor tests, and for
torch ``ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2`` (docs/decisions/030).
"""

from functools import partial
from statistics import median

import numpy as np

from benchmarks.measuring import clocked, parser_of, print_machine, read_named
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.minilm import DEFAULT_MODEL, MiniLmEmbedder
from toolscope_core.model.protocols import Embedder
from toolscope_core.wording.boilerplate import compared_texts


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=600)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    print_machine(f"{options.texts} texts, {options.threads} threads")
    peer, own = SentenceEmbedder(DEFAULT_MODEL), MiniLmEmbedder(threads=options.threads)
    tools = [tool for name in ("livemcpbench", "docker-mcp") for tool in read_named(name).tools]
    short = list(dict.fromkeys(compared_texts(tools)))[: options.texts]
    described = sorted((tool.description for tool in tools), key=len)
    for name, texts in (("short", short), ("long", described[-options.texts :])):
        _compare(name, texts, peer, own, options.rounds)


def _compare(name: str, texts: list[str], peer: Embedder, own: Embedder, rounds: int) -> None:
    cosines = (peer.encode(texts) * own.encode(texts)).sum(axis=1)
    seconds = [
        tuple(clocked(partial(one.encode, texts)) for one in (peer, own)) for _ in range(rounds)
    ]
    ratio = median(theirs / ours for theirs, ours in seconds)
    slow, fast = (len(texts) / min(side) for side in zip(*seconds, strict=True))
    print(
        f"{name}: {fast:.0f} texts a second, sentence-transformers {slow:.0f}: {ratio:.2f} times; "
        f"cosine {cosines.mean():.5f}, 1st percentile {np.percentile(cosines, 1):.5f}"
    )


if __name__ == "__main__":
    main()

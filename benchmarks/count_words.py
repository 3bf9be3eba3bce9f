"""Count in how many tools of public catalogs each word and each encoder token occurs.

 python -m benchmarks.count_words

This writes ``toolscope_core/wording/data/word_counts.json`` and, for the tokens, only their weights
in ``toolscope_core/embedding/data/piece_weights.npy``. Beside these weights it writes
``server_centre.npy``, the mean of what the servers are about. The files have only these numbers,
and no text of any tool.
"""

import json
from collections import Counter

import numpy as np

from benchmarks.measuring import read_named, vectors_of
from toolscope_core.embedding.candidate_pairs import SERVER_CENTRE, server_means
from toolscope_core.embedding.minilm import PIECE_WEIGHTS, shipped_tokenizer
from toolscope_core.judging.signals import codes
from toolscope_core.retrieval.documents import tool_document
from toolscope_core.wording.reading import read_tool
from toolscope_core.wording.vocabulary import WORD_COUNTS
from toolscope_core.wording.words import stem

CATALOGS = (
    "toucan",
    "mcp-registry",
    "livemcpbench",
    "docker-mcp",
    "ultratool",
    "bfcl",
    "bfcl-live",
)
MOST_WEIGHT, STEPS = 1e4, 25
"""The most that a token can weigh: as much as a token in one of this many tools. Weights are stored
in this many steps per unit.
"""
LEAST = 5
"""Stems in fewer tools than this are left out. They weigh as much as a stem that is in no tool."""


def main() -> None:
    tokenizer = shipped_tokenizer()
    pieces = np.zeros(tokenizer.get_vocab_size())
    tools, counts = 0, Counter[str]()
    means = []
    for name in CATALOGS:
        servers = codes([tool.server for tool in read_named(name).tools])
        means.append(server_means(vectors_of(read_named(name).tools), servers)[1:])
        for tool in read_named(name).tools:
            tools += 1
            counts.update({stem(word) for word in read_tool(tool).words})
            pieces[list({*tokenizer.encode(tool_document(tool).full).ids})] += 1
    weights = -np.log(pieces / tools + 1 / MOST_WEIGHT)
    np.save(PIECE_WEIGHTS, np.maximum(1, np.round(STEPS * weights)).astype(np.uint8))
    np.save(SERVER_CENTRE, np.concatenate(means).mean(axis=0).astype(np.float32))
    frequent = {word: n for word, n in sorted(counts.items()) if n >= LEAST}
    content = {
        "provenance": f"Counted by benchmarks/count_words.py over {', '.join(CATALOGS)}.",
        "tools": tools,
        "counts": frequent,
    }
    WORD_COUNTS.write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n", "utf-8")
    print(f"{tools} tools, {len(counts)} stems, {len(frequent)} of them kept")


if __name__ == "__main__":
    main()

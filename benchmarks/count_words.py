"""Count in how many tools of public catalogs each word stands, for the weights of words.

    python -m benchmarks.count_words

Writes ``toolscope_core/judging/data/word_counts.json``: facts, no text of any tool.
"""

from __future__ import annotations

import json
from collections import Counter

from benchmarks.measuring import read_named
from toolscope_core.judging.reading import read_tool
from toolscope_core.judging.vocabulary import WORD_COUNTS
from toolscope_core.judging.words import stem

CATALOGS = (
    "toucan",
    "mcp-registry",
    "livemcpbench",
    "docker-mcp",
    "ultratool",
    "bfcl",
    "bfcl-live",
)
LEAST = 5
"""Stems that fewer tools say are left out: they weigh as much as one that none says."""


def main() -> None:
    tools, counts = 0, Counter[str]()
    for name in CATALOGS:
        for tool in read_named(name).tools:
            tools += 1
            counts.update({stem(word) for word in read_tool(tool).words})
    kept = {word: n for word, n in sorted(counts.items()) if n >= LEAST}
    content = {
        "provenance": f"Counted by benchmarks/count_words.py over {', '.join(CATALOGS)}.",
        "tools": tools,
        "counts": kept,
    }
    WORD_COUNTS.write_text(json.dumps(content, ensure_ascii=False, indent=0) + "\n", "utf-8")
    print(f"{tools} tools, {len(counts)} stems, {len(kept)} of them kept")


if __name__ == "__main__":
    main()

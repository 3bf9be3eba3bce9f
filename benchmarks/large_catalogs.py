"""Catalogs of any size, made from real servers under other names. They contain known copies."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.measuring import catalog_file
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.model.catalog import Catalog

LARGE = 40_000
SHARD_TOOLS = 10_000
_COPIED = 0.05
"""The share of servers that are copied in other words."""
_SETS = ("toucan", "docker-mcp", "livemcpbench")
_RARE = 0.02
"""Words that occur in at most this share of servers are changed from replica to replica."""
_WORD = re.compile(r"(?<![\\a-z])[A-Z]?[a-z]{3,}")
_SCHEMA = frozenset(
    "additional all allof anyof array boolean const contains content default defs definitions "
    "description draft else enum examples exclusive for format http https input integer items "
    "json length maximum maxitems min minimum multiple name names not null number object of one "
    "oneof only org pattern prefix properties property read ref required schema string then title "
    "type unevaluated unique write arguments desc output annotations hint destructive idempotent "
    "open world tools server".split()
)
_SYNONYMS = {
    "get": "fetch", "create": "make", "retrieve": "look up", "find": "search for", "list": "show",
    "delete": "remove", "update": "change", "returns": "gives", "the": "a", "all": "every",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlantedCopy:
    """A tool and its reworded copy on another server. Each is given by its server and name."""

    tool: tuple[str, str]
    copy: tuple[str, str]


def large_catalog() -> Catalog:
    """The catalog with ``LARGE`` tools."""
    with TemporaryDirectory() as folder:
        write_large(LARGE, Path(folder))
        return read_catalog(load_paths([Path(folder)]))


def write_large(tools: int, folder: Path) -> list[PlantedCopy]:
    """Write about ``tools`` tools into ``folder``, about ``SHARD_TOOLS`` in each file. Returns the
    copies.

    The same number gives the same catalog.
    """
    rng = np.random.default_rng(tools)
    planted: list[PlantedCopy] = []
    shard: list[Any] = []
    count = shards = in_shard = 0
    for number, server in _replicas(rng):
        rows = [server]
        if rng.random() < _COPIED:
            rows.append(_reworded(server, number))
            planted += [
                PlantedCopy((server["server"], tool["name"]), (rows[1]["server"], other["name"]))
                for tool, other in zip(server["tools"], rows[1]["tools"], strict=True)
            ]
        shard += rows
        in_shard += sum(len(row["tools"]) for row in rows)
        if in_shard >= SHARD_TOOLS or count + in_shard >= tools:
            (folder / f"shard-{shards:03d}.json").write_text(json.dumps(shard))
            count, shards, in_shard, shard = count + in_shard, shards + 1, 0, []
        if count >= tools:
            return planted
    return planted


def _replicas(rng: np.random.Generator) -> Iterator[tuple[int, dict[str, Any]]]:
    """The servers in the data one after the other, again and again. Each time, they are about other
    things.
    """
    servers, words = _servers(), _rare_words()
    number = 0
    while True:
        for text in servers:
            number += 1
            replacements: dict[str, str] = {}

            def other(match: re.Match[str], replacements: dict[str, str] = replacements) -> str:
                word = match[0]
                if word.lower() not in words[1]:
                    return word
                if word.lower() not in replacements:
                    replacements[word.lower()] = str(words[0][rng.integers(len(words[0]))])
                new = replacements[word.lower()]
                return new.capitalize() if word[0].isupper() else new

            server = json.loads(_WORD.sub(other, text))
            server["server"] = f"{server['server']}-{number}"
            yield number, server


@cache
def _servers() -> tuple[str, ...]:
    rows = [row for name in _SETS for row in json.loads(catalog_file(name).read_text())]
    servers = [{key: row[key] for key in ("server", "tools")} for row in rows if row["tools"]]
    return tuple(json.dumps(row, ensure_ascii=False) for row in servers)


@cache
def _rare_words() -> tuple[tuple[str, ...], frozenset[str]]:
    """The words that only few servers have: each as often as it occurs (for sampling), and as a
    set.
    """
    by_server = [{word.lower() for word in _WORD.findall(text)} for text in _servers()]
    counts = Counter(word for words in by_server for word in words)
    rare = {w: n for w, n in counts.items() if n <= _RARE * len(by_server) and w not in _SCHEMA}
    return tuple(word for word, n in sorted(rare.items()) for _ in range(n)), frozenset(rare)


def _reworded(server: dict[str, Any], number: int) -> dict[str, Any]:
    """A server that does the same, with other words and other names."""
    tools = []
    for tool in server["tools"]:
        words = [
            _SYNONYMS.get(word.lower(), word) for word in (tool.get("description") or "").split()
        ]
        first, _, rest = tool["name"].partition("_")
        name = f"{_SYNONYMS.get(first.lower(), first)}_{rest}".strip("_").replace(" ", "_")
        tools.append({**tool, "name": name, "description": " ".join(words)})
    return {"server": f"other-{number}", "tools": tools}

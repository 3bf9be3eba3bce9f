"""Pairs of tools whose names say the same, whatever their descriptions are like.

``refresh_page`` and ``browser_reload``, or equal names under descriptions in two languages, are far
apart by their embeddings and may yet be one job: the judge should see them.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from toolscope_core.embedding.candidate_pairs import Rows
from toolscope_core.judging.products import server_words
from toolscope_core.judging.reading import named_words
from toolscope_core.judging.words import Key, keys_of
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool


def same_named(tools: Sequence[Tool], vectors: Vectors, neighbours: int) -> tuple[Rows, Rows]:
    """Pairs of rows (int32, left < right) of which the names say the same in some words, each tool
    with at most the ``neighbours`` nearest ones. ``tools`` are those without boilerplate.
    """
    by_meaning: dict[frozenset[str], list[int]] = {}
    for row, tool in enumerate(tools):
        if meaning := _meaning(tool):
            by_meaning.setdefault(meaning, []).append(row)
    pairs = {pair for rows in by_meaning.values() for pair in _near(rows, vectors, neighbours)}
    ends = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _near(rows: Sequence[int], vectors: Vectors, neighbours: int) -> Iterator[tuple[int, int]]:
    if len(rows) < 2:
        return
    own = vectors[list(rows)]
    order = np.argsort(-(own @ own.T), axis=1, kind="stable")[:, : neighbours + 1].tolist()
    for row, near in zip(rows, order, strict=True):
        yield from ((min(row, rows[at]), max(row, rows[at])) for at in near if rows[at] != row)


def _meaning(tool: Tool) -> frozenset[str]:
    """What the words of a name may be known by, without those of the server's name."""
    named, of_server = named_words(tool), server_words(tool.server)
    words = [word for word in named if word not in of_server]
    return frozenset(min(map(_text, keys_of(word))) for word in words or named)


def _text(key: Key) -> str:
    return str(key)

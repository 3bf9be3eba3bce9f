"""Finds tools with similar vectors: neighbours, candidate pairs, counts of pairs, and server
fields.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.minilm import DEFAULT_MODEL, SHIPPED_MODEL
from toolscope_core.model.protocols import (
    LOCAL,
    Engine,
    Progress,
    SharedState,
    Step,
    Vectors,
    silent,
)
from toolscope_core.model.tool import Tool
from toolscope_core.wording.products import product_words
from toolscope_core.wording.reading import named_words
from toolscope_core.wording.words import keys_of

PairRows = NDArray[np.int32]

_THRESHOLDS = {"all-MiniLM-L6-v2": 0.6, "all-MiniLM-L6-v2-8bit": 0.6, "thenlper/gte-large": 0.82}
_FALLBACK_THRESHOLD = 0.7

_BLOCK = 2048
_PAIR_BLOCK = 16384
_SEARCHED = 1024
"""The number of rows compared with all others at a time."""
_TIE = 1e-6
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidate pairs as columns of equal length m, sorted by (left, right).

    ``left`` < ``right`` are int32 row numbers. ``similarity`` is the cosine in [-1, 1] as float64.
    It is rounded to six digits, so that a pair's value does not depend on what is computed with it.
    """

    left: PairRows
    right: PairRows
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)


def default_threshold(model_name: str) -> float:
    """The lowest cosine of a candidate pair for an embedding model.

    It is 0.6 for all-MiniLM-L6-v2 and its 8-bit form, calibrated on labelled pairs, and 0.82 for
    thenlper/gte-large (ToolScope, arXiv 2510.20036). Other models get 0.7. Cosines are not
    comparable between models, so set the threshold after a look at the collision curve.
    """
    return _THRESHOLDS.get(model_name, _FALLBACK_THRESHOLD)


def nearest(
    vectors: Vectors, neighbours: int, threshold: float, engine: Engine = LOCAL
) -> Candidates:
    """Pairs in which one row is among the ``neighbours`` nearest of the other, cosine ≥
    ``threshold``.

    ``vectors`` is float32 of shape (n, d) with normalised rows. The inner product is exact. It is
    computed in blocks of rows on the workers of ``engine``. Rows tied with the last neighbour count
    too, up to ``neighbours`` more rows, so that the pairs do not depend on the order of the rows.
    Run the exact-duplicate pass first: with more copies than that, the choice of pairs does depend
    on the order.
    """
    rows = len(vectors)
    if rows < 2:
        return _candidates(vectors, np.empty(0, np.int64), threshold)
    blocks = (slice(start, start + _SEARCHED) for start in range(0, rows, _SEARCHED))
    find = partial(_near_codes, neighbours, threshold)
    codes = engine.map_blocks(find, SharedState(vectors), blocks)
    return _candidates(vectors, np.unique(np.concatenate(list(codes))), threshold)


def candidates(
    vectors: Vectors,
    first: PairRows,
    neighbours: int,
    threshold: float,
    also: tuple[PairRows, PairRows] | None = None,
    engine: Engine = LOCAL,
) -> Candidates:
    """The near pairs (``nearest``) among first copies, the pairs in ``also``, and copies with their
    first.

    The pairs in ``also`` (left, right) are included at any cosine. ``first`` gives, for each row,
    the row of the copy that represents the same content.
    """
    firsts = np.unique(first)
    near = nearest(vectors[firsts], neighbours, threshold, engine)
    further = np.flatnonzero(first != np.arange(len(first), dtype=np.int32)).astype(np.int32)
    a = np.concatenate([firsts[near.left], first[further]])
    b = np.concatenate([firsts[near.right], further])
    cosine = np.concatenate([near.similarity.astype(np.float64), np.ones(len(further))])
    if also is not None:
        ours, theirs = first[also[0]], first[also[1]]
        ours, theirs = ours[ours != theirs], theirs[ours != theirs]
        a, b = np.concatenate([a, ours]), np.concatenate([b, theirs])
        cosine = np.concatenate([cosine, cosines(vectors, ours, theirs)])
    left, right = np.minimum(a, b), np.maximum(a, b)
    _, once = np.unique(left.astype(np.int64) * len(vectors) + right, return_index=True)
    return Candidates(left[once], right[once], cosine[once])


def pairs_above(
    vectors: Vectors, thresholds: NDArray[np.float64], progress: Progress = silent
) -> NDArray[np.int64]:
    """For each threshold, how many of the n(n-1)/2 pairs have at least that cosine.

    ``thresholds`` must ascend in even steps. The counts are exact, computed by a blockwise product.
    A cosine up to 1e-6 below a threshold counts as reaching it, since the float32 product of two
    copies may miss 1 by that much. Reports ``Step("count", …)`` in rows; ``progress`` may raise to
    cancel.
    """
    step = thresholds[1] - thresholds[0]
    span = (thresholds[0] - _TIE, thresholds[-1] + step - _TIE)
    counts = np.zeros(len(thresholds), dtype=np.int64)
    for done, block in _upper_blocks(vectors):
        near = block[block >= np.float32(span[0])].astype(np.float64)
        counts += np.histogram(near, bins=len(counts), range=span)[0]
        progress(Step("count", done, len(vectors)))
    return counts[::-1].cumsum()[::-1].copy()


def leaf_order(vectors: Vectors) -> list[int]:
    """The rows in an order that puts similar rows next to each other.

    The order comes from average linkage with optimal leaf ordering (Bar-Joseph et al. 2001), which
    minimises the sum of distances between neighbours. The time grows faster than the square of the
    rows: 0.1 s for 400 rows, 1.3 s for 1,000.
    """
    if len(vectors) < 3:
        return list(range(len(vectors)))
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

    tree = linkage(vectors.astype(np.float64), "average")
    return [int(row) for row in leaves_list(optimal_leaf_ordering(tree, vectors))]


def cosines(vectors: Vectors, left: PairRows, right: PairRows) -> NDArray[np.float64]:
    """The cosine of each pair of rows, float64 in [-1, 1], the same for (a, b) and (b, a)."""
    values = np.empty(len(left))
    for start in range(0, len(left), _PAIR_BLOCK):
        part = slice(start, start + _PAIR_BLOCK)
        product = vectors[left[part]].astype(np.float64) * vectors[right[part]]
        values[part] = product.sum(axis=1)
    return np.clip(values, -1.0, 1.0).round(_DIGITS)


def _near_codes(
    neighbours: int, threshold: float, vectors: Vectors, block: slice
) -> NDArray[np.int64]:
    """The near pairs of a block's rows, each encoded as smaller row × number of rows + larger
    row.
    """
    rows = len(vectors)
    product = vectors[block] @ vectors.T
    most = min(2 * neighbours + 1, rows)
    at = np.argpartition(product, rows - most, axis=1)[:, rows - most :]
    similarity = np.take_along_axis(product, at, axis=1)
    source = np.arange(rows)[block, None]
    similarity = np.where(at == source, -np.inf, similarity)
    last = -np.sort(-similarity, axis=1)[:, min(neighbours, rows - 1) - 1]
    is_near = (similarity >= last[:, None] - _TIE) & (similarity >= threshold - _TIE)
    a, b = np.broadcast_to(source, at.shape)[is_near], at[is_near]
    return np.unique(np.minimum(a, b) * rows + np.maximum(a, b))


def _candidates(vectors: Vectors, codes: NDArray[np.int64], threshold: float) -> Candidates:
    rows = max(len(vectors), 1)
    left, right = (codes // rows).astype(np.int32), (codes % rows).astype(np.int32)
    similarity = cosines(vectors, left, right)
    close = similarity >= threshold
    return Candidates(left[close], right[close], similarity[close])


def _upper_blocks(vectors: Vectors) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The clipped cosines of all unordered pairs, each pair once, in flat blocks.

    Each block comes with the number of rows that were finished before it.
    """
    for row in range(0, len(vectors), _BLOCK):
        rows = vectors[row : row + _BLOCK]
        yield row, np.clip((rows @ rows.T)[np.triu_indices(len(rows), 1)], -1.0, 1.0)
        for column in range(row + _BLOCK, len(vectors), _BLOCK):
            yield row, np.clip(rows @ vectors[column : column + _BLOCK].T, -1.0, 1.0).ravel()


def same_named(
    tools: Sequence[Tool], vectors: Vectors, neighbours: int
) -> tuple[PairRows, PairRows]:
    """Pairs of rows (int32, left < right) whose names have the same meaning.

    Each tool is paired with at most ``neighbours`` others, the nearest ones. Boilerplate must be
    removed from ``tools`` before.
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
    """One form for each word of a tool's name, without the words of the server's name."""
    name_words, of_server = named_words(tool), product_words(tool.server)
    words = [word for word in name_words if word not in of_server]
    return frozenset(min(map(str, keys_of(word))) for word in words or name_words)


SERVER_CENTRE = Path(__file__).with_name("data") / "server_centre.npy"
"""The mean of ``server_means`` over the servers of public catalogs, computed with the default
encoder: float32 of shape (384,) (``benchmarks/count_words.py``).
"""


def server_means(vectors: Vectors, servers: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean vector of the tools on each server, by server number; 0 for a server without tools.

    ``servers`` has the server number of each row.
    """
    counts = np.bincount(servers, minlength=1)
    sums = [np.bincount(servers, column, len(counts)) for column in vectors.T]
    return np.stack(sums, axis=1) / np.maximum(counts, 1)[:, None]


def server_fields(vectors: Vectors, servers: NDArray[np.int64], model: str) -> Vectors | None:
    """The mean vector of each server minus the mean of all servers, by server number, rows
    normalised.

    ``None`` if the mean of all servers is unknown for this embedding model.
    """
    if model not in (DEFAULT_MODEL, SHIPPED_MODEL) or vectors.shape[1:] != _centre().shape:
        return None
    fields = server_means(vectors, servers) - _centre()
    return np.asarray(fields / np.linalg.norm(fields, axis=1, keepdims=True), dtype=np.float32)


@lru_cache(maxsize=1)
def _centre() -> Vectors:
    centre: Vectors = np.load(SERVER_CENTRE)
    return centre

"""Words for the crowded places of a map: what tells the tools there from all others."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from toolscope_core.datamodel import Tool
from toolscope_core.figures.map_charts import CELLS, density, frame_of
from toolscope_core.figures.views import Region
from toolscope_core.similarity import split_name, tool_text
from toolscope_core.source_words import source_name

MOST_REGIONS = 12
WORDS = 2
LETTERS = 14

WIDE, HIGH = 500.0, 540.0
"""Pixels that a panel has at least: labels that do not overlap there never do."""

_LETTER, _LINE = 7.5, 20.0
_WORD = re.compile(r"[^\W\d_]{3,}")
_REACH = 5.0
_LEAST_SHARE = 0.2
_LEAST_TOOLS = 4
_STEM = 4

Plane = NDArray[np.float64]


def regions(tools: Sequence[Tool], points: Plane) -> tuple[Region, ...]:
    """The densest places with their words, the densest first; no two labels overlap, none is cut.

    A region is what lies within ``_REACH`` cells of a peak of the density, nearer to it than to
    other peaks. Words rank by how often its tools say them, in names above all, times the logarithm
    of how much more often that is than among all tools; a word has letters only.
    """
    frame = frame_of(points)
    cell = (frame[:, 1] - frame[:, 0]) / CELLS
    peaks = _peaks(density(points, frame)) * cell + frame[:, 0]
    if not len(peaks):
        return ()
    apart = (((points[:, None, :] - peaks[None]) / cell) ** 2).sum(axis=2)
    owner = np.where(apart.min(axis=1) <= _REACH**2, apart.argmin(axis=1), -1)
    held = [_words(tool) for tool in tools]
    everywhere = Counter(word for words in held for word in words)
    scale = min(WIDE / (frame[0, 1] - frame[0, 0]), HIGH / (frame[1, 1] - frame[1, 0]))
    chosen: list[Region] = []
    for at, (x, y) in enumerate(peaks.tolist()):
        inside = [held[row] for row in np.flatnonzero(owner == at).tolist()]
        words = _telling(inside, everywhere, len(tools))
        half = _wide(words) / 2 / scale
        inward = float(np.clip(x, *np.sort((frame[0, 0] + half, frame[0, 1] - half))))
        region = Region(inward, y, words)
        if words and not any(_overlap(region, other, scale) for other in chosen):
            chosen.append(region)
        if len(chosen) == MOST_REGIONS:
            break
    return tuple(chosen)


def _peaks(grid: Plane) -> Plane:
    """The middles of the cells that no neighbour exceeds, the densest first, as (x, y) in cells."""
    wide = np.pad(grid, 1, constant_values=-1.0)
    near = np.lib.stride_tricks.sliding_window_view(wide, (3, 3)).max(axis=(2, 3))
    rows, columns = np.nonzero((grid >= near) & (grid > 0.05 * grid.max()))
    order = np.lexsort((columns, rows, -grid[rows, columns]))
    return np.stack([columns[order], rows[order]], axis=1).astype(np.float64) + 0.5


def _words(tool: Tool) -> Counter[str]:
    """The words of a tool: each counts once, in the name once more."""
    spoken = set(_WORD.findall(tool_text(tool).casefold()))
    named = {word for word in split_name(source_name(tool)) if _WORD.fullmatch(word)}
    return Counter([*spoken, *named])


def _telling(
    inside: Sequence[Counter[str]], everywhere: Counter[str], total: int
) -> tuple[str, ...]:
    if len(inside) < _LEAST_TOOLS:
        return ()
    here = Counter(word for words in inside for word in words)
    counts = Counter(word for words in inside for word in words.elements())
    weight = {
        word: counts[word] * math.log(count / len(inside) / (everywhere[word] / total))
        for word, count in here.items()
        if count >= max(2, _LEAST_SHARE * len(inside))
    }
    chosen: list[str] = []
    for word in sorted(weight, key=lambda word: (-weight[word], word)):
        if weight[word] > 0 and all(word[:_STEM] != other[:_STEM] for other in chosen):
            chosen.append(word)
    return tuple(word[:LETTERS] for word in chosen[:WORDS])


def _wide(words: Sequence[str]) -> float:
    return len(" · ".join(words)) * _LETTER


def _overlap(one: Region, other: Region, scale: float) -> bool:
    wide = (_wide(one.words) + _wide(other.words)) / 2
    return abs(one.x - other.x) * scale < wide and abs(one.y - other.y) * scale < _LINE

"""Words for the crowded places of a map: what tells the tools there from all others."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.tool_text import name_words, tool_text
from toolscope_core.judging.vocabulary import is_plain_verb
from toolscope_core.judging.wordnet import is_word, kinds_of
from toolscope_core.judging.words import STOP_WORDS, is_filler
from toolscope_core.model.tool import Tool
from ui.overlap.figures import Region
from ui.overlap.map_charts import CELLS, density, frame_of

MOST_REGIONS = 12
WORDS = 2
LETTERS = 14

WIDE, HIGH = 900.0, 540.0
"""Pixels of the map on a screen of 1,280 or more: labels that do not overlap there never do."""

_LETTER, _LINE, _MARGIN, _DOT = 7.5, 20.0, 6.0, 4.0
"""Pixels of a letter, of a label's height and margin, and of half a point."""
_FARTHEST, _STEP = 150, 12
_OFFSETS = sorted(
    (
        (across, up)
        for across in range(-_FARTHEST, _FARTHEST + 1, _STEP)
        for up in range(-_FARTHEST, _FARTHEST + 1, _STEP)
    ),
    key=lambda offset: (math.hypot(*offset), offset),
)
"""Places around a peak, the nearest first."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_REACH = 5.0
_LEAST_SHARE = 0.2
_LEAST_TOOLS = 4
_STEM = 4

Plane = NDArray[np.float64]


def regions(tools: Sequence[Tool], points: Plane, panels: int = 1) -> tuple[Region, ...]:
    """The densest places with their words, the densest first; no two labels overlap, none is cut,
    and each stands beside the points, as near to its place as there is room.

    A region is what lies within ``_REACH`` cells of a peak of the density, nearer to it than to
    other peaks. Words rank by how often its tools say them, in names above all, times the logarithm
    of how much more often that is than among all tools; a word has letters only, is no
    verb, and stands for one region alone. The map has so many ``panels`` side by side.
    """
    frame = frame_of(points)
    cell = (frame[:, 1] - frame[:, 0]) / CELLS
    peaks = _peaks(density(points, frame)) * cell + frame[:, 0]
    if not len(peaks):
        return ()
    apart = (((points[:, None, :] - peaks[None]) / cell) ** 2).sum(axis=2)
    owner = np.where(apart.min(axis=1) <= _REACH**2, apart.argmin(axis=1), -1)
    words_of = [_words(tool) for tool in tools]
    everywhere = Counter(word for words in words_of for word in words)
    wide = WIDE / panels
    pixels = np.array([wide, HIGH]) / (frame[:, 1] - frame[:, 0])
    dots = (points - frame[:, 0]) * pixels
    chosen: list[Region] = []
    boxes: list[Box] = []
    used: set[str] = set()
    for at, (x, y) in enumerate(peaks.tolist()):
        inside = [words_of[row] for row in np.flatnonzero(owner == at).tolist()]
        words = _telling(inside, everywhere, len(tools), used)
        if not words:
            continue
        box = _free_box((np.array([x, y]) - frame[:, 0]) * pixels, _wide(words), wide, dots, boxes)
        if box is not None:
            boxes.append(box)
            used.update(word[:_STEM] for word in words)
            across, up = (np.array(box[:2]) / pixels + frame[:, 0]).tolist()
            chosen.append(Region(x, y, words, (across, up)))
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
    named = {word for word in name_words(tool) if _WORD.fullmatch(word)}
    return Counter(
        word for word in (*spoken, *named) if word not in STOP_WORDS and not is_filler(word, True)
    )


def _telling(
    inside: Sequence[Counter[str]], everywhere: Counter[str], total: int, used: Collection[str]
) -> tuple[str, ...]:
    """The words of a region, the first ``_STEM`` letters of none of which is ``used``."""
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
        stems = {*used, *(other[:_STEM] for other in chosen)}
        if weight[word] > 0 and word[:_STEM] not in stems and _names_a_thing(word):
            chosen.append(word)
    return tuple(word[:LETTERS] for word in chosen[:WORDS])


def _names_a_thing(word: str) -> bool:
    """Whether a word is no verb and no adjective, as far as is known: *patient*, not *retrieve*."""
    return not is_plain_verb(word) and bool(kinds_of(word) or not is_word(word))


def _wide(words: Sequence[str]) -> float:
    return len(" · ".join(words)) * _LETTER + _MARGIN


Box = tuple[float, float, float]
"""A label in pixels: its middle across and up, and its width."""


def _free_box(
    peak: Plane, wide: float, panel: float, dots: Plane, boxes: Sequence[Box]
) -> Box | None:
    """The place for a label (``wide``) in a panel, nearest to the peak: on no other label and not
    cut, on as few points as may be within ``_FARTHEST``; ``None`` where other labels leave none.
    """
    best: tuple[int, Box] | None = None
    for across, up in _OFFSETS:
        x, y = float(peak[0]) + across, float(peak[1]) + up
        if not (wide / 2 <= x <= panel - wide / 2 and _LINE / 2 <= y <= HIGH - _LINE / 2):
            continue
        if any(_overlap((x, y, wide), other) for other in boxes):
            continue
        covered = (np.abs(dots[:, 0] - x) < wide / 2 + _DOT) & (
            np.abs(dots[:, 1] - y) < _LINE / 2 + _DOT
        )
        count = int(covered.sum())
        if best is None or count < best[0]:
            best = count, (x, y, wide)
        if count == 0:
            break
    return best[1] if best else None


def _overlap(one: Box, other: Box) -> bool:
    wide = (one[2] + other[2]) / 2
    return abs(one[0] - other[0]) < wide and abs(one[1] - other[1]) < _LINE

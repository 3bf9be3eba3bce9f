"""The map of a catalog: cached projections, colours and regions."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding import projection
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.errors import ConfigError, JobError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.model.tool import Tool, digest
from toolscope_core.store import subprocess_jobs
from toolscope_core.wording.reading import read_tool
from toolscope_core.wording.vocabulary import is_plain_verb
from toolscope_core.wording.wordnet import is_word, kinds_of
from toolscope_core.wording.words import singular
from ui.overlap.collisions import Panel, Region, ToolMap
from ui.overlap.curves import content_hash, merged_plan, new_texts
from ui.overlap.map_charts import CELLS, density, frame_of
from ui.shared.kept import kept, kept_under
from ui.shared.snapshot import Snapshot
from ui.shared.tools.tool_blocks import CLUSTERS, SERVERS, blocks_of, groupings

MOST_REGIONS = 12
_WORDS = 2

WIDE, HIGH = 900.0, 540.0
"""The size of the map in pixels on a screen that is 1,280 or more wide. Labels that do not overlap
there never do.
"""

_LETTER, _LINE, _MARGIN, _DOT = 7.5, 20.0, 6.0, 4.0
"""Sizes in pixels: the width of a letter, the height and the margin of a label,
and half a point.
"""
_APART, _GOLDEN = 7.0, math.pi * (3 - math.sqrt(5))
"""The distance in pixels between dots at the same place, and an angle between them at which no
third dot covers two.
"""
_FARTHEST, _STEP = 150, 12
_OFFSETS = sorted(
    (
        (across, up)
        for across in range(-_FARTHEST, _FARTHEST + 1, _STEP)
        for up in range(-_FARTHEST, _FARTHEST + 1, _STEP)
    ),
    key=lambda offset: (math.hypot(*offset), offset),
)
"""Offsets from a peak, nearest first."""

_WORD = re.compile(r"[^\W\d_]{3,14}")
_REACH = 5.0
_LEAST_SHARE = 0.2
_LEAST_TOOLS = 4

Plane = NDArray[np.float64]


def regions(tools: Sequence[Tool], points: Plane, panels: int = 1) -> tuple[Region, ...]:
    """The densest named regions of the map, densest first, at most ``MOST_REGIONS``.

    A region consists of the points that are within ``_REACH`` cells of a density peak and nearer to
    it than to any other peak. It is named after its most typical topics: a topic's weight is the
    number of tools in the region that have it, times the logarithm of its frequency in the region
    relative to its frequency among all tools. Each topic names only one region. A region without a
    topic, or without room for its label, is left out. Labels neither overlap nor are cut off; each
    is placed near its peak, where it covers as few points as possible. ``panels`` is the number of
    maps side by side.
    """
    frame = frame_of(points)
    cell = (frame[:, 1] - frame[:, 0]) / CELLS
    peaks = _peaks(density(points, frame)) * cell + frame[:, 0]
    if not len(peaks):
        return ()
    distances = (((points[:, None, :] - peaks[None]) / cell) ** 2).sum(axis=2)
    owner = np.where(distances.min(axis=1) <= _REACH**2, distances.argmin(axis=1), -1)
    topics = _topics(tools)
    everywhere = Counter(word for words in topics for word in words)
    wide = WIDE / panels
    pixels = np.array([wide, HIGH]) / (frame[:, 1] - frame[:, 0])
    dots = (points - frame[:, 0]) * pixels
    named_regions: list[Region] = []
    boxes: list[Box] = []
    used_words: set[str] = set()
    for at, (x, y) in enumerate(peaks.tolist()):
        inside = [topics[row] for row in np.flatnonzero(owner == at).tolist()]
        words: tuple[str, ...] = ()
        if len(inside) >= _LEAST_TOOLS:
            words = _typical(inside, everywhere, len(tools), used_words)
        if not words:
            continue
        box = _free_box((np.array([x, y]) - frame[:, 0]) * pixels, _wide(words), wide, dots, boxes)
        if box is not None:
            boxes.append(box)
            used_words.update(words)
            across, up = (np.array(box[:2]) / pixels + frame[:, 0]).tolist()
            named_regions.append(Region(x, y, words, (across, up)))
        if len(named_regions) == MOST_REGIONS:
            break
    return tuple(named_regions)


def _peaks(grid: Plane) -> Plane:
    """The centres of the cells that no neighbour exceeds, densest first, as (x, y) in cells."""
    wide = np.pad(grid, 1, constant_values=-1.0)
    near = np.lib.stride_tricks.sliding_window_view(wide, (3, 3)).max(axis=(2, 3))
    rows, columns = np.nonzero((grid >= near) & (grid > 0.05 * grid.max()))
    order = np.lexsort((columns, rows, -grid[rows, columns]))
    return np.stack([columns[order], rows[order]], axis=1).astype(np.float64) + 0.5


def _topics(tools: Sequence[Tool]) -> list[frozenset[str]]:
    """The topics of each tool: the head nouns of its name and of its first sentence.

    A word counts only if names use it as a head noun, and use it so more often than for what a tool
    does (such as *list*).
    """
    readings = [read_tool(tool) for tool in tools]
    things = Counter(word for one in readings for word in one.objects if word in one.nouns)
    actions = Counter(singular(one.verb) for one in readings)
    names = frozenset(
        word
        for word, count in things.items()
        if _WORD.fullmatch(word) and count > actions[word] and _names_a_thing(word)
    )
    return [names.intersection(one.objects) for one in readings]


def _typical(
    inside: Sequence[frozenset[str]], everywhere: Counter[str], total: int, used: Collection[str]
) -> tuple[str, ...]:
    """The topics that distinguish a region from the others. The ``used`` topics are left out."""
    counts = Counter(word for topics in inside for word in topics)
    least = max(2, _LEAST_SHARE * len(inside))
    weight = {
        word: count * math.log(count / len(inside) / (everywhere[word] / total))
        for word, count in counts.items()
        if count >= least and word not in used
    }
    best = sorted(weight, key=lambda word: (-weight[word], word))[:_WORDS]
    return tuple(word for word in best if weight[word] > 0)


def _names_a_thing(word: str) -> bool:
    """Whether a word is not known as a verb or an adjective: true for *patient*, false for
    *retrieve*.
    """
    return not is_plain_verb(word) and bool(kinds_of(word) or not is_word(word))


def _wide(words: Sequence[str]) -> float:
    return len(" · ".join(words)) * _LETTER + _MARGIN


Box = tuple[float, float, float]
"""A label's place in pixels: the middle (across and up), and the width."""


def _free_box(
    peak: Plane, wide: float, panel: float, dots: Plane, boxes: Sequence[Box]
) -> Box | None:
    """The free place in a panel that is nearest to the peak, for a label that is ``wide`` pixels
    wide.

    At this place, the label overlaps no other label, is not cut, and covers as few points as
    possible. The place is within ``_FARTHEST`` of the peak; ``None`` if other labels leave no room.
    """
    best: tuple[int, Box] | None = None
    for across, up in _OFFSETS:
        x, y = float(peak[0]) + across, float(peak[1]) + up
        if not (wide / 2 <= x <= panel - wide / 2 and _LINE / 2 <= y <= HIGH - _LINE / 2):
            continue
        if any(_overlap((x, y, wide), other) for other in boxes):
            continue
        is_covered = (np.abs(dots[:, 0] - x) < wide / 2 + _DOT) & (
            np.abs(dots[:, 1] - y) < _LINE / 2 + _DOT
        )
        count = int(is_covered.sum())
        if best is None or count < best[0]:
            best = count, (x, y, wide)
        if count == 0:
            break
    return best[1] if best else None


def _overlap(one: Box, other: Box) -> bool:
    wide = (one[2] + other[2]) / 2
    return abs(one[0] - other[0]) < wide and abs(one[1] - other[1]) < _LINE


def fanned(points: Plane) -> Plane:
    """The points, with those at the same place spread out in a spiral so that
    each can be clicked.
    """
    frame = frame_of(points)
    pixels = np.array([WIDE, HIGH]) / (frame[:, 1] - frame[:, 0])
    cells = np.floor((points - frame[:, 0]) * pixels / _DOT).astype(np.int64)
    _, owner, sizes = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(owner, kind="stable")
    rank = np.empty(len(points))
    rank[order] = np.arange(len(points)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    angle, radius = rank * _GOLDEN, _APART * np.sqrt(rank)
    return points + np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius[:, None] / pixels


Method = Literal["PCA", "UMAP", "t-SNE"]

METHODS: tuple[Method, ...] = ("UMAP", "t-SNE", "PCA")

BEFORE, AFTER = "as it came in", "merged"

MOST_TSNE = 10_000

UNASKED = 10_000
"""The maximum number of tools for which a projection starts without being asked for."""

TASKS: dict[str, subprocess_jobs.JobName] = {"UMAP": "umap", "t-SNE": "tsne"}

_PACKAGES = {"UMAP": "umap-learn", "t-SNE": "scikit-learn"}

_RATES = {"UMAP": (20.0, 0.02), "t-SNE": (5.0, 0.03)}
"""Seconds to start, and seconds for each tool, as measured for 527 and 4,076 tools on two busy
cores.
"""

_STATES = "states"
NEAREST = 6
_LONGEST = 200
"""The maximum number of letters of a description that the map may show."""


@dataclass(frozen=True, slots=True)
class ColourScheme:
    """A way to colour the map.

    ``label`` is the name in the box of choices. ``group`` is what the legend calls one group, in
    the singular.
    """

    label: str
    group: str


COLOURINGS = {
    SERVERS: ColourScheme("server", "server"),
    CLUSTERS: ColourScheme("cluster", "cluster"),
    _STATES: ColourScheme("state of the cluster", "cluster state"),
}
"""The ways to colour the map, keyed by their values in the address. All other ways are category
fields of the catalog.
"""


def refusal(snapshot: Snapshot, method: Method) -> str:
    """Why this method is not available for the catalog. Empty if it is available."""
    tools = len(snapshot.analysis.catalog.tools)
    if method == "t-SNE" and tools > MOST_TSNE:
        return (
            f"t-SNE is available for up to {MOST_TSNE:,} tools; here there are {tools:,}, and "
            f"its {projection.PASSES:,} passes would take too long. UMAP shows neighbourhoods as "
            "well."
        )
    if method != "PCA" and tools < projection.LEAST_TOOLS:
        return f"{method} needs at least {projection.LEAST_TOOLS} tools; here there are {tools}."
    return ""


def points(
    snapshot: Snapshot, method: Method, *, by_sample: bool = False
) -> projection.Points | None:
    """The places of the tools in the order of the catalog, or (with ``by_sample``) those that a
    sample gives them.

    ``None`` if the places have to be computed first.
    """
    analysis = snapshot.analysis

    def stored() -> projection.Points | None:
        if method == "PCA":
            return projection.pca(analysis.vectors)
        key, shape = _map_key(snapshot, method, by_sample=by_sample), (len(analysis.vectors), 2)
        return snapshot.work.arrays.points(key, shape)

    return kept_under(analysis, "points", (method, by_sample), stored)


def seconds(snapshot: Snapshot, method: Method) -> int:
    """The approximate duration of a projection in seconds, from earlier measurements."""
    start, per_tool = _RATES[method]
    return round(start + per_tool * len(snapshot.analysis.catalog.tools))


def start(snapshot: Snapshot, method: Method) -> str:
    """Project in the background. Returns the id of the job, or of one that is already running.

    Raises ``ConfigError`` if the method is not available.
    """
    if refused := refusal(snapshot, method):
        raise ConfigError(refused)
    return snapshot.start_watched(method, lambda progress: run(snapshot, method, progress))


def run(snapshot: Snapshot, method: Method, progress: Progress = silent) -> None:
    """Compute a projection that is not known yet, now, in a separate process."""
    if points(snapshot, method) is None:
        write, sample_key = snapshot.work.arrays.write, _map_key(snapshot, method, by_sample=True)
        projected = subprocess_jobs.compute(
            TASKS[method],
            snapshot.analysis.vectors,
            progress=progress,
            on_sample=lambda sample: write(sample_key, sample),
        )
        write(_map_key(snapshot, method), projected)


def colours(snapshot: Snapshot) -> tuple[str, ...]:
    """The ways in which the tools can be coloured."""
    return (*groupings(snapshot.catalog), _STATES)


@kept(limit=2)
def map_of(
    snapshot: Snapshot, method: Method, grouping: str, compare: bool, by_sample: bool = False
) -> ToolMap:
    """The map. With ``compare``, the toolset with decided and safe merges is beside it.

    A merged tool is at the place of its canonical tool. Raises ``JobError`` before the projection
    is known.
    """
    places = points(snapshot, method, by_sample=by_sample)
    if places is None:
        raise JobError(f"{method} has not been computed for this catalog yet; start it on the map")
    places = fanned(places)
    tools = snapshot.analysis.catalog.tools
    before = Panel(
        title=BEFORE,
        points=places,
        names=tuple(tool.name for tool in tools),
        servers=tuple(tool.server for tool in tools),
        groups=_groups_of(snapshot.plan, grouping),
        members=tuple((row,) for row in range(len(tools))),
        texts=tuple(tool.description[:_LONGEST] for tool in tools),
    )
    panels = (before, _merged(snapshot, before)) if compare else (before,)
    words = kept_under(
        snapshot.analysis,
        "regions",
        (method, compare, by_sample),
        lambda: regions(tools, places, len(panels)),
    )
    return ToolMap(panels, words, colouring(grouping).group)


def nearest(snapshot: Snapshot, row: int) -> dict[int, float]:
    """The rows of the ``NEAREST`` tools that are closest to the tool in a row, closest first, with
    their cosines.
    """
    vectors = snapshot.analysis.vectors
    cosines = vectors @ vectors[row]
    cosines[row] = -1.0
    order = np.argsort(-cosines, kind="stable")[: min(NEAREST, len(cosines) - 1)]
    return {int(at): float(cosines[at]) for at in order}


def rewritten(snapshot: Snapshot) -> int:
    """How many merged tools have a text that differs from that of their canonical tool."""
    return len(new_texts(snapshot.analysis, merged_plan(snapshot)))


def _merged(snapshot: Snapshot, before: Panel) -> Panel:
    rows = snapshot.analysis.rows
    tools = merged_plan(snapshot).tools
    at = [rows[item.tool.id] for item in tools]
    return Panel(
        title=AFTER,
        points=before.points[at],
        names=tuple(item.tool.name for item in tools),
        servers=tuple(before.servers[row] for row in at),
        groups=tuple(before.groups[row] for row in at),
        members=tuple(tuple(rows[member] for member in item.members) for item in tools),
        texts=tuple(item.tool.description[:_LONGEST] for item in tools),
    )


@kept()
def _hash(analysis: Analysis) -> str:
    return content_hash(analysis.vectors)


def _map_key(snapshot: Snapshot, method: Method, *, by_sample: bool = False) -> str:
    key = _key(_hash(snapshot.analysis), method)
    return digest(key, projection.SAMPLE) if by_sample else key


def map_key(vectors: Vectors, method: Method) -> str:
    """The key of a cached projection. The same vectors, parameters and library
    give the same key.
    """
    return _key(content_hash(vectors), method)


def colouring(name: str) -> ColourScheme:
    """The colour scheme with this name. The name may be that of a category field."""
    return COLOURINGS.get(name) or ColourScheme(f"field “{name}”", "value")


@kept()
def _groups_of(plan: MergePlan, grouping: str) -> tuple[str, ...]:
    """The group of each tool, in the order of the catalog. Empty for a tool without a group."""
    if grouping == _STATES:
        states = {member: cluster.state for cluster in plan.clusters for member in cluster.members}
        return tuple(states.get(tool.id, "") for tool in plan.catalog.tools)
    groups = [""] * len(plan.catalog.tools)
    for block in blocks_of(plan, grouping):
        for row in block.rows.tolist():
            groups[row] = block.name
    return tuple(groups)


def _key(content: str, method: Method) -> str:
    knobs = (projection.SEED, projection.NEIGHBOURS, projection.PERPLEXITY, projection.PASSES)
    return digest(content, method, knobs, version(_PACKAGES[method]))

"""The map of a toolset as a Plotly figure. The functions are pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.overlap.collisions import Marks, Panel, ToolMap
from ui.shared import pictures

MOST_SVG = 2_000
"""The maximum number of points drawn as SVG. With 4,000 points, WebGL is as fast even without a
GPU.
"""

MANY = 10_000
"""If there are more tools than this, the pointer shows only names."""

_TEXT_SHOWN = 80
"""How many letters of a description the pointer shows."""
HUES = (
    *("#0072B2", "#E69F00", "#00875A", "#F58FD0", "#56C4F5", "#E0501E"),
    *("#7A4BC8", "#A8C800", "#8B6B3E", "#C2188B", "#1FE0C0", "#A3123A"),
)
"""The colours of the largest groups. Any two are at least 33 apart in CIELAB, because small shapes
cannot be told apart where thousands of points lie.
"""
NO_MARKS = Marks()
_HEIGHT = 600
CELLS = 64
_BLUR = 2.0
_SHOWN, _BEHIND = 0.9, 0.35
DIMMED = 0.12
_KEPT = 4
"""The number of maps that are cached with their texts. The selection changes more often than the
map.
"""
_GAP = 0.02

_Layer = tuple[int, int, str, list[int]]
_PLATE = "rgba(45,49,58,0.78)"


def tool_map(tools: ToolMap, marks: Marks = NO_MARKS, labels: bool = True) -> go.Figure:
    """Tools drawn where their embeddings lie. Panels are side by side and share their axes."""
    picked = frozenset(marks.picked)
    layers = _visible_layers(tools, picked, marks.only)
    dot_counts = Counter[int]()
    for at, _, _, rows in layers:
        dot_counts[at] += len(rows)
    kind = "scatter" if dot_counts.total() <= MOST_SVG else "scattergl"
    traces: list[object] = [{"type": kind, **_points(tools, layer, picked)} for layer in layers]
    above = [*_lines(tools.panels[0], marks.near), *_rings(tools.panels[0], marks.ringed)]
    traces += [{"type": kind, **trace} for trace in above]  # traces of another kind would lie below
    figure = pictures.figure(traces, _HEIGHT)
    figure.update_layout(
        dragmode="lasso",
        clickmode="event+select",
        uirevision="map",
        legend={"orientation": "h", "y": -0.01, "yanchor": "top", "itemsizing": "constant"},
        annotations=[
            note
            for at, panel in enumerate(tools.panels)
            for note in (_title(at, panel, dot_counts[at]), *(_words(at, tools) if labels else ()))
        ],
        **_axes(tools),
    )
    return figure


def tools_at(
    tools: ToolMap, points: Sequence[Mapping[str, Any]], marks: Marks = NO_MARKS
) -> frozenset[int]:
    """The catalog rows behind points of the figure, given as ``st.plotly_chart`` reports them.

    ``marks`` are those with which the figure was drawn.
    """
    layers = _visible_layers(tools, frozenset(marks.picked), marks.only)
    rows_behind: set[int] = set()
    for point in points:
        if point["curve_number"] < len(layers):
            panel, _, _, rows = layers[point["curve_number"]]
            rows_behind.update(tools.panels[panel].members[rows[point["point_index"]]])
    return frozenset(rows_behind)


def density(points: NDArray[np.float64], frame: NDArray[np.float64]) -> NDArray[np.float64]:
    """The blurred density in ``CELLS`` × ``CELLS`` cells of the frame, as (rows, columns) with y
    and x ascending.

    ``frame`` is ((min x, max x), (min y, max y)).
    """
    cells, _, _ = np.histogram2d(points[:, 1], points[:, 0], bins=CELLS, range=frame[::-1])
    reach = np.arange(-int(3 * _BLUR), int(3 * _BLUR) + 1)
    bell = np.exp(-0.5 * (reach / _BLUR) ** 2)
    for axis in (0, 1):
        cells = np.apply_along_axis(np.convolve, axis, cells, bell / bell.sum(), mode="same")
    return np.asarray(cells, dtype=np.float64)


def frame_of(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The part of the plane around the points, with a margin, in the form that
    ``density`` takes.
    """
    if not len(points):
        return np.array([[-1.0, 1.0], [-1.0, 1.0]])
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.maximum(0.04 * (high - low), 1e-6)
    return np.stack([low - room, high + room], axis=1)


@lru_cache(maxsize=_KEPT)
def _layers(tools: ToolMap) -> tuple[_Layer, ...]:
    """The traces. Each has its panel, the position of its group, the group's
    label and its points.
    """
    layers = []
    sizes = [len(panel.names) for panel in tools.panels]
    starts = [0, *np.cumsum(sizes).tolist()]
    groups = [group for panel in tools.panels for group in panel.groups]
    for rank, (name, rows) in enumerate(pictures.by_server(groups, tools.grouping)):
        place = rank if groups[rows[0]] else pictures.MOST_SERVERS
        for at, start in enumerate(starts[:-1]):
            own = [row - start for row in rows if start <= row < starts[at + 1]]
            if own:
                layers.append((at, place, name, own))
    return tuple(layers)


def _visible_layers(tools: ToolMap, picked: frozenset[int], only: bool) -> Sequence[_Layer]:
    """The layers that are drawn."""
    layers = _layers(tools)
    if not only or not picked:
        return layers
    visible = []
    for at, place, name, rows in layers:
        places = _places(tools.panels[at], rows, picked)
        if places:
            visible.append((at, place, name, [rows[point] for point in places]))
    return visible


def _places(panel: Panel, rows: Sequence[int], picked: frozenset[int]) -> list[int]:
    """The indices in ``rows`` of the points that represent picked tools."""
    return [at for at, row in enumerate(rows) if not picked.isdisjoint(panel.members[row])]


@lru_cache(maxsize=2 * _KEPT)
def _hovers(panel: Panel) -> NDArray[np.object_]:
    if len(panel.names) > MANY:
        return np.array([pictures.label(name) for name in panel.names], dtype=object)
    texts = panel.texts or [""] * len(panel.names)
    tools = zip(panel.names, panel.servers, texts, strict=True)
    hovers = (
        f"<b>{pictures.hover(name, server)}</b><br>{pictures.label(text, _TEXT_SHOWN)}"
        for name, server, text in tools
    )
    return np.array([*hovers], dtype=object)


def _points(tools: ToolMap, layer: _Layer, picked: frozenset[int]) -> dict[str, Any]:
    """The points of a layer. The values are arrays in plain dicts, so that Plotly does not check
    each value.
    """
    at, place, name, rows = layer
    panel, hovers = tools.panels[at], _hovers(tools.panels[at])
    colour = HUES[place] if place < len(HUES) else pictures.GREY
    sizes = np.array([10 if len(panel.members[row]) > 1 else 6 for row in rows])
    x, y = pictures.json_numbers(panel.points[rows].T.round(4))
    return {
        "x": x,
        "y": y,
        "xaxis": f"x{at + 1}" if at else "x",
        "yaxis": f"y{at + 1}" if at else "y",
        "mode": "markers",
        "name": name,
        "legendgroup": str(place),
        "showlegend": not at,
        "marker": {
            "size": sizes.tolist() if sizes.max() > sizes.min() else int(sizes[0]),
            "color": colour,
            "opacity": _SHOWN if place < len(HUES) else _BEHIND,
        },
        "unselected": {"marker": {"opacity": DIMMED}},
        "hovertext": hovers[rows],
        "hoverinfo": "text",
        "selectedpoints": _places(panel, rows, picked) if picked else None,
    }


def _lines(panel: Panel, near: Sequence[int]) -> list[dict[str, Any]]:
    """Lines from a tool to its nearest tools. Empty if there are none."""
    if not near:
        return []
    x, y = (
        [place for end in ends[1:] for place in (ends[0], end, None)]
        for ends in panel.points[list(near)].round(4).T.tolist()
    )
    look = {"mode": "lines", "line": {"color": pictures.RED, "width": 1.5}, "hoverinfo": "skip"}
    return [{"x": x, "y": y, **look, "showlegend": False}]


def _rings(panel: Panel, rows: Sequence[int]) -> list[dict[str, Any]]:
    """A ring around each of the tools in these ``rows``. Empty if there are none."""
    if not rows:
        return []
    across, up = panel.points[list(rows)].round(4).T.tolist()
    ring = {"size": 15, "symbol": "circle-open", "color": pictures.RED, "line": {"width": 2}}
    look = {"mode": "markers", "marker": ring, "name": "found", "hoverinfo": "skip"}
    return [{"x": across, "y": up, **look, "showlegend": False}]


def _axes(tools: ToolMap) -> dict[str, object]:
    """Axes for panels that lie side by side across the page. Zooming in on one panel zooms all."""
    across, up = frame_of(np.vstack([panel.points for panel in tools.panels])).tolist()
    wide = 1 / len(tools.panels)
    axes: dict[str, object] = {}
    for at in range(len(tools.panels)):
        n = str(at + 1) if at else ""
        domain = [at * wide + (_GAP if at else 0), (at + 1) * wide]
        same_x, same_y = ({"matches": "x"}, {"matches": "y"}) if at else ({}, {})
        axes[f"xaxis{n}"] = {"visible": False, "domain": domain, "range": across, **same_x}
        axes[f"yaxis{n}"] = {"visible": False, "anchor": f"x{n}", "range": up, **same_y}
    return axes


def _title(at: int, panel: Panel, dots: int) -> dict[str, object]:
    total = len(panel.names)
    count = f"{total:,}" if dots == total else f"{dots:,} of {total:,}"
    return {
        "text": f"{pictures.label(panel.title)}, {count} tools",
        "xref": f"x{at + 1 if at else ''} domain",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "yanchor": "bottom",
        "showarrow": False,
    }


def _words(at: int, tools: ToolMap) -> list[dict[str, object]]:
    n = at + 1 if at else ""
    return [
        {
            "text": pictures.label(" · ".join(region.words)),
            "x": region.x,
            "y": region.y,
            "ax": region.label[0],
            "ay": region.label[1],
            "xref": f"x{n}",
            "yref": f"y{n}",
            "axref": f"x{n}",
            "ayref": f"y{n}",
            "arrowhead": 0,
            "arrowwidth": 1,
            "arrowcolor": pictures.GREY,
            "font": {"size": 11, "color": "white"},
            "bgcolor": _PLATE,
            "borderpad": 2,
        }
        for region in tools.regions
    ]

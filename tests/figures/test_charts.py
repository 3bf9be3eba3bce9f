import numpy as np
import pytest

from toolscope_core.figures import charts, tables
from toolscope_core.figures.views import Histogram, ToolMap

HOSTILE = "<b>x</b>"

BINS = Histogram(np.array([0, 4, 2, 1]), (0.2, 0.4, 0.6, 0.8, 1.0), 0.6)


def test_histogram_bars_sit_on_their_bins_and_stand_out_from_the_threshold_on():
    figure = charts.histogram(BINS)
    (bars,) = figure.data
    assert list(bars.x) == pytest.approx([0.3, 0.5, 0.7, 0.9])
    assert list(bars.y) == [0, 4, 2, 1]
    below, near = bars.marker.color[0], bars.marker.color[3]
    assert list(bars.marker.color) == [below, below, near, near]
    assert below != near
    assert figure.layout.yaxis.type == "log"
    assert figure.layout.shapes[0].x0 == 0.6
    assert figure.layout.xaxis.range[0] == pytest.approx(0.35), "empty bins are left out"


def test_a_histogram_without_pairs_still_shows_the_threshold():
    empty = Histogram(np.zeros(4, dtype=np.int64), BINS.edges, 0.6)
    assert charts.histogram(empty).layout.xaxis.range[0] == pytest.approx(0.55)
    assert tables.histogram_rows(empty) == []


MAP = ToolMap(
    points=np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]),
    names=("get", HOSTILE, "put"),
    servers=("a", "a", ""),
    clustered=np.array([False, True, False]),
)


def test_the_map_has_a_trace_a_server_and_rings_around_clustered_tools():
    rings, first, second = charts.tool_map(MAP).data
    assert (list(rings.x), list(rings.y)) == ([2], [3])
    assert (first.name, list(first.x)) == ("a", [0, 2])
    assert list(first.text) == ["get<br>a", "&lt;b&gt;x&lt;/b&gt;<br>a"]
    assert (second.name, list(second.text)) == ("no server", ["put"])


@pytest.mark.parametrize("figure", [charts.histogram(BINS), charts.tool_map(MAP)])
def test_the_ground_is_transparent_and_no_markup_of_the_catalog_is_sent(figure):
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert "<b>" not in figure.to_json().replace("\\u003c", "<")


def test_twins_say_the_same_as_the_pictures():
    assert tables.histogram_rows(BINS) == [
        {"from": 0.8, "to": 1.0, "pairs": 1},
        {"from": 0.6, "to": 0.8, "pairs": 2},
        {"from": 0.4, "to": 0.6, "pairs": 4},
    ]
    assert tables.map_rows(MAP)[1] == {
        "tool": HOSTILE,
        "server": "a",
        "in a cluster": "yes",
        "x": 2.0,
        "y": 3.0,
    }

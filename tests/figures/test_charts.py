import numpy as np
import pytest

from toolscope_core.figures import charts, tables
from toolscope_core.figures.views import Grid, ToolMap

HOSTILE = "<b>x</b>"
NONE = np.nan


def grid(measure, values, names=("one", HOSTILE, "three")):
    return Grid(names, np.array(values, dtype=np.float64), measure)


COUNTS = grid("pairs", [[NONE, 10, NONE], [10, 100, NONE], [NONE, NONE, NONE]])
NEAR = grid("cosine", [[NONE, 0.5, 0.25], [0.5, NONE, 0.75], [0.25, 0.75, NONE]])


def test_counts_are_coloured_by_their_logarithm_and_written_in_the_cells():
    (cells,) = charts.heatmap(COUNTS).data
    assert [list(row) for row in cells.z] == [[None, 1, None], [1, 2, None], [None, None, None]]
    assert cells.zmin == 0
    assert cells.zmax == 2
    assert cells.text[1][1] == "100"
    assert cells.texttemplate == "%{text}"
    assert cells.colorbar.ticktext[-1] == "100"
    assert cells.customdata[0][1] == "one<br>&lt;b&gt;x&lt;/b&gt;<br>10 pairs"


def test_cosines_are_coloured_as_they_are():
    (cells,) = charts.heatmap(NEAR).data
    assert list(cells.z[0]) == [None, 0.5, 0.25]
    assert cells.texttemplate is None
    assert cells.customdata[1][2].endswith("cosine 0.750")


def test_names_label_positions_so_that_equal_names_stay_apart():
    figure = charts.heatmap(grid("cosine", NEAR.values, names=("same", "same", "1e5")))
    assert list(figure.layout.yaxis.tickvals) == [0, 1, 2]
    assert list(figure.layout.yaxis.ticktext) == ["same", "same", "1e5"]
    assert figure.layout.xaxis.showticklabels


def test_a_large_heatmap_labels_only_its_rows_and_a_larger_one_is_refused():
    def square(side):
        return Grid(tuple(map(str, range(side))), np.full((side, side), 0.5), "cosine")

    assert not charts.heatmap(square(25)).layout.xaxis.showticklabels
    with pytest.raises(ValueError, match="at most 200"):
        charts.heatmap(square(201))


def test_an_empty_heatmap_is_drawn():
    empty = Grid((), np.zeros((0, 0)), "cosine")
    assert not charts.heatmap(empty).data[0].z
    assert tables.grid_rows(empty) == []


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


@pytest.mark.parametrize("figure", [charts.heatmap(COUNTS), charts.tool_map(MAP)])
def test_the_ground_is_transparent_and_no_markup_of_the_catalog_is_sent(figure):
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert "<b>" not in figure.to_json().replace("\\u003c", "<")


def test_twins_say_the_same_as_the_pictures():
    assert tables.grid_rows(COUNTS) == [
        {"one": HOSTILE, "other": HOSTILE, "pairs": 100.0},
        {"one": "one", "other": HOSTILE, "pairs": 10.0},
    ]
    assert [row["cosine"] for row in tables.grid_rows(NEAR)] == [0.75, 0.5, 0.25]
    assert tables.map_rows(MAP)[1] == {
        "tool": HOSTILE,
        "server": "a",
        "in a cluster": "yes",
        "x": 2.0,
        "y": 3.0,
    }

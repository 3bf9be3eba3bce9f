import json
from dataclasses import replace

import numpy as np
import pytest

from ui.overlap import heatmap_charts
from ui.overlap.collisions import Grid
from ui.overlap.heatmap_charts import cell_at, heatmap
from ui.shared import pictures

HOSTILE = "<b>x</b>"
NONE = np.nan


def grid(measure, values, cells, names=("one", HOSTILE, "three")):
    cells = np.array(cells, dtype=np.int64).reshape(-1, 2)
    return Grid(names, names, np.array(values, dtype=np.float64), measure, cells)


SHARES = Grid(
    ("one", HOSTILE, "three"),
    ("one", HOSTILE, "three"),
    np.array([[1, 0.25, NONE], [0.5, NONE, NONE], [NONE, NONE, NONE]]),
    "share",
    np.array([(0, 0), (1, 0), (0, 1)]),
    symmetric=False,
)
MEANS = grid("mean", [[NONE, 0.5, 0.25], [0.5, 0.8, 0.75], [0.25, 0.75, 0.1]], [(1, 1)])
NEAR = grid("cosine", [[1, 0.5, 0.259], [0.5, 1, 0.75], [0.259, 0.75, 1]], [(1, 2), (0, 1)])
WIDE = Grid(("q",), ("a", "b"), np.array([[0.4, 0.9]]), "cosine", np.array([[0, 1]]), False, False)


def square(side):
    names = tuple(map(str, range(side)))
    return Grid(names, names, np.full((side, side), 0.5), "cosine", np.zeros((0, 2), np.int64))


def test_shares_are_whole_percents_on_a_scale_to_100_and_the_diagonal_is_grey():
    diagonal, cells, _ = heatmap(SHARES, 0.6).data
    assert cells.z.tolist() == [[None, 25, None], [50, None, None], [None, None, None]]
    assert (cells.zmin, cells.zmax) == (0, 100)
    assert cells.colorbar.ticktext[-1] == "100 %"
    assert cells.texttemplate == "%{text}"
    assert [text[:-2] for text in cells.text[0] + cells.text[1]] == ["", "25", "", "50", "", ""]
    assert diagonal.z.tolist() == [[100, None, None], [None] * 3, [None] * 3]
    assert {colour for _, colour in diagonal.colorscale} == {heatmap_charts._OWN}
    assert not diagonal.showscale
    own, others, _ = heatmap(MEANS, 0.6).data
    assert own.z.tolist() == [[None] * 3, [None, 0.8, None], [None, None, 0.1]]
    assert others.z.tolist() == [[None, 0.5, 0.25], [0.5, None, 0.75], [0.25, 0.75, None]]


def test_cosines_of_tools_go_out_as_hundredths_and_turn_colour_at_the_threshold():
    cells = heatmap(NEAR, 0.6).data[0]
    assert cells.z.tolist() == [[None, 50, 25], [50, None, 75], [25, 75, None]]
    assert "threshold 0.60" in cells.colorbar.ticktext
    assert cells.colorbar.tickvals[cells.colorbar.ticktext.index("threshold 0.60")] == 60
    at = (0.6 - 0.2) / (1 - 0.2)
    assert [stop[0] for stop in cells.colorscale] == pytest.approx([0, at, at, 1])


def test_every_cell_to_choose_has_a_point_on_both_sides_of_the_diagonal():
    points = heatmap(NEAR, 0.6).data[1]
    one, two, three = (pictures.label(name) for name in NEAR.rows)
    assert list(zip(points.x, points.y, points.customdata, strict=True)) == [
        (three, two, "0.750"),
        (two, one, "0.500"),
        (two, three, "0.750"),
        (one, two, "0.500"),
    ]
    assert [cell_at(NEAR, point) for point in range(5)] == [0, 1, 0, 1, None]
    shares = heatmap(SHARES, 0.6).data[-1]
    assert list(shares.customdata) == ["100", "50", "25"]
    assert (shares.x[1], shares.y[1]) == (one, two), "the row's tools, done by the column"


def test_a_grid_of_two_kinds_has_each_point_once():
    figure = heatmap(WIDE, 0.6)
    assert (list(figure.data[1].x), list(figure.data[1].y)) == (["b"], ["q"])
    assert [cell_at(WIDE, point) for point in (-1, 0, 1)] == [None, 0, None]
    assert list(figure.layout.xaxis.ticktext) == ["a", "b"]
    assert list(figure.layout.yaxis.ticktext) == ["q"]


def test_names_label_positions_so_that_equal_names_stay_apart():
    figure = heatmap(grid("cosine", NEAR.values, [], names=("same", "same", "1e5")), 0.6)
    assert list(figure.layout.yaxis.tickvals) == [0, 1, 2]
    assert list(figure.layout.yaxis.ticktext) == ["same", "same", "1e5"]
    assert list(figure.data[0].x) == ["same", "same\u200c", "1e5"]
    assert tuple(figure.layout.yaxis.range) == (2.5, -0.5), "the first row is on top"


def test_of_many_names_the_pointer_knows_all_and_some_are_written():
    figure = heatmap(square(2 * heatmap_charts.LABELS + 1), 0.6)
    layout = figure.layout
    assert len(layout.yaxis.categoryarray) == 2 * heatmap_charts.LABELS + 1
    assert [*layout.yaxis.categoryarray] == [*figure.data[0].y]
    assert list(layout.yaxis.ticktext[:3]) == ["0", "3", "6"]
    assert list(layout.yaxis.tickvals[:3]) == [0, 3, 6]
    assert len(layout.xaxis.ticktext) <= heatmap_charts.LABELS


def test_a_heatmap_that_nobody_can_read_is_refused():
    with pytest.raises(ValueError, match="limit is 1000"):
        heatmap(square(1_001), 0.6)


@pytest.mark.parametrize("shown", [SHARES, MEANS, NEAR, WIDE])
def test_the_ground_is_transparent_and_no_markup_of_the_catalog_is_sent(shown):
    figure = heatmap(shown, 0.6)
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert "<b>" not in json.dumps(json.loads(figure.to_json()))


@pytest.mark.parametrize("grid", [SHARES, NEAR, MEANS, WIDE], ids=["shares", "near", "means", "q"])
def test_nothing_in_it_looks_like_new_data_when_it_is_shown_again(grid):
    kept = np.ones(grid.values.shape, dtype=bool)
    for shown in (grid, replace(grid, highlighted=kept)):
        sent = heatmap(shown, 0.6).to_json()
        assert "bdata" not in sent and '"template"' not in sent
        assert json.loads(sent)["layout"]["datarevision"]


def test_many_cosines_go_out_in_a_byte_each_as_do_those_left_of_a_selection():
    grid = square(201)
    assert heatmap(grid, 0.6).data[0].z.dtype == np.uint8
    kept = np.zeros(grid.values.shape, dtype=bool)
    _, bright, _ = heatmap(replace(grid, highlighted=kept), 0.6).data
    assert np.isnan(bright.z).all() and bright.z.dtype == np.float32

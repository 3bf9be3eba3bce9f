import json
from dataclasses import replace

import numpy as np
import pytest

from ui.overlap import collisions, map_charts
from ui.overlap.collisions import Marks, Panel, Region, ToolMap

HOSTILE = "<b>x</b>"
POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
BEFORE = Panel(
    "before", POINTS, ("get", HOSTILE, "put"), ("a", "a", ""), ("a", "a", ""), ((0,), (1,), (2,))
)
AFTER = Panel("after", POINTS[[0, 2]], ("get", "put"), ("a", ""), ("a", ""), ((0, 1), (2,)))
REGIONS = (Region(1.0, 1.0, ("mail", HOSTILE)),)
MAP = ToolMap((BEFORE, AFTER), REGIONS, "server")
ONE = Marks(picked=(1,))


def test_the_pointer_shows_the_description_shortened_and_escaped():
    told = replace(BEFORE, texts=(HOSTILE, "", "long " * 40))
    first, last = map_charts.tool_map(replace(MAP, panels=(told,))).data
    assert list(first.hovertext) == [
        "<b>get<br>a</b><br>&lt;b&gt;x&lt;/b&gt;",
        "<b>&lt;b&gt;x&lt;/b&gt;<br>a</b><br>",
    ]
    (hover,) = last.hovertext
    assert hover.endswith("…") and len(hover) < 120


def test_the_points_chosen_are_rows_of_the_catalog():
    points = [{"curve_number": 1, "point_index": 0}, {"curve_number": 2, "point_index": 0}]
    assert map_charts.tools_at(MAP, points[:1]) == {0, 1}, "a merged tool stands for its members"
    assert map_charts.tools_at(MAP, points) == {0, 1, 2}
    assert map_charts.tools_at(MAP, [{"curve_number": 9, "point_index": 0}]) == set(), "a ring"


def test_a_map_looks_like_no_new_data_when_it_is_shown_again():
    sent = map_charts.tool_map(MAP, ONE).to_json()
    assert "bdata" not in sent and '"template"' not in sent
    assert json.loads(sent)["layout"]["datarevision"]


def test_density_counts_every_point_where_it_is():
    frame = np.array([[0.0, 1.0], [0.0, 1.0]])
    grid = map_charts.density(np.array([[0.25, 0.75]] * 3), frame)
    row, column = np.unravel_index(grid.argmax(), grid.shape)
    assert (row, column) == (48, 16), "y is the row"
    assert grid.sum() == pytest.approx(3.0)


def test_the_ground_is_transparent_and_no_markup_of_the_catalog_is_sent():
    figure = map_charts.tool_map(MAP)
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert "<b>" not in figure.to_json().replace("\\u003c", "<")


def test_tables_say_the_same_as_the_pictures():
    rows = collisions.map_rows(MAP)
    assert rows[1] == {"tool": HOSTILE, "server": "a", "x": 2.0, "y": 3.0, "after": "get (2 tools)"}
    assert rows[2]["after"] == "as it is"
    by_field = collisions.map_rows(ToolMap((BEFORE,), (), "value"))
    assert by_field[0] == {"tool": "get", "server": "a", "value": "a", "x": 0.0, "y": 1.0}

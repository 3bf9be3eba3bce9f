import numpy as np
import pytest

from ui.overlap import curve_charts, figures
from ui.overlap.figures import Curve, CurveVariant, Sweep

BEFORE = CurveVariant("original", 6, np.array([8, 4, 0]))
AFTER = CurveVariant("merged<b>", 5, np.array([6, 4, 0]))
BOTH = Curve((0.5, 0.75, 1.0), 0.6, (BEFORE, AFTER))


def test_both_variants_are_drawn_apart_by_more_than_colour():
    figure = curve_charts.collision_curve(BOTH)
    before, after, change = figure.data
    assert (list(before.y), list(after.y)) == ([8, 4, None], [6, 4, None])
    assert (before.name, after.name) == ("original, 6 tools", "merged&lt;b&gt;, 5 tools")
    assert before.line.dash != after.line.dash
    assert list(change.y) == [-0.25, 0.0, None]
    assert change.yaxis == "y2"
    assert figure.layout.yaxis.type == "log"


def test_the_critical_zone_and_the_floor_are_marked():
    zone, floor = curve_charts.collision_curve(BOTH).layout.shapes
    assert (zone.x0, zone.x1) == (0.85, 1.0)
    assert floor.x0 == floor.x1 == 0.6


@pytest.mark.parametrize("after", [BEFORE, AFTER])
def test_the_table_has_every_threshold(after):
    rows = figures.curve_rows(Curve(BOTH.thresholds, 0.6, (BEFORE, after)))
    assert [row["from"] for row in rows] == [0.5, 0.75, 1.0]
    assert [row["pairs, original"] for row in rows] == [8, 4, 0]
    assert [row[f"change, {after.name}"] for row in rows] == [
        "-25.0%" if after is AFTER else "+0.0%",
        "+0.0%",
        "",
    ]


SWEPT = Sweep(
    "similarity",
    (0.6, 0.8, 1.0),
    0.8,
    np.array([5, 3, 1]),
    np.array([2, 1, 0]),
    np.array([2, 0, 0]),
)


def test_the_sweep_shows_what_is_removed_and_what_people_said():
    figure = curve_charts.sweep_chart(SWEPT, 2)
    removed, now, accepted, rejected = figure.data
    assert list(removed.y) == [5, 3, 1]
    assert (list(now.x), list(now.y)) == ([0.8], [2])
    assert (list(accepted.y), list(rejected.y)) == ([2, 1, 0], [2, 0, 0])
    assert list(accepted.customdata) == ["50%", "100%", None]
    assert accepted.line.dash != rejected.line.dash
    assert [row["right"] for row in figures.sweep_rows(SWEPT)] == ["50.0%", "100.0%", ""]
    assert [row["tools removed before correction"] for row in figures.sweep_rows(SWEPT)] == [
        5,
        3,
        1,
    ]


def test_without_labels_the_sweep_has_one_part():
    none = np.zeros(3, dtype=np.int64)
    view = Sweep("probability", SWEPT.values, 0.8, SWEPT.removed, none, none)
    figure = curve_charts.sweep_chart(view, 2)
    assert len(figure.data) == 2
    assert figure.layout.xaxis.title.text == "least probability"

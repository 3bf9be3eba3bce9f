import numpy as np

from ui.overlap import curve_charts, figures
from ui.overlap.figures import Curve, CurveVariant, Sweep

BEFORE = CurveVariant("original", 6, np.array([8, 4, 0]))
AFTER = CurveVariant("merged<b>", 5, np.array([6, 4, 0]))
BOTH = Curve((0.5, 0.75, 1.0), 0.6, (BEFORE, AFTER))


def test_the_critical_zone_and_the_floor_are_marked():
    zone, floor = curve_charts.collision_curve(BOTH).layout.shapes
    assert (zone.x0, zone.x1) == (0.85, 1.0)
    assert floor.x0 == floor.x1 == 0.6


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

import numpy as np
import pytest

from toolscope_core.figures import curves, tables
from toolscope_core.figures.views import Curve, CurveVariant

BEFORE = CurveVariant("original", 6, np.array([8, 4, 0]))
AFTER = CurveVariant("merged<b>", 5, np.array([6, 4, 0]))
BOTH = Curve((0.5, 0.75, 1.0), 0.6, (BEFORE, AFTER))


def test_the_change_is_a_share_of_the_first_variant():
    assert BOTH.change(AFTER)[:2].tolist() == [-0.25, 0.0]
    assert np.isnan(BOTH.change(AFTER)[2])


def test_both_variants_are_drawn_apart_by_more_than_colour():
    figure = curves.collision_curve(BOTH)
    before, after, change = figure.data
    assert (list(before.y), list(after.y)) == ([8, 4, None], [6, 4, None])
    assert (before.name, after.name) == ("original, 6 tools", "merged&lt;b&gt;, 5 tools")
    assert before.line.dash != after.line.dash
    assert list(change.y) == [-0.25, 0.0, None]
    assert change.yaxis == "y2"
    assert figure.layout.yaxis.type == "log"


def test_the_critical_zone_and_the_floor_are_marked():
    zone, floor = curves.collision_curve(BOTH).layout.shapes
    assert (zone.x0, zone.x1) == (0.85, 1.0)
    assert floor.x0 == floor.x1 == 0.6


def test_a_single_variant_has_no_change():
    figure = curves.collision_curve(Curve(BOTH.thresholds, 0.6, (BEFORE,), ("merged",)))
    assert len(figure.data) == 1


@pytest.mark.parametrize("after", [BEFORE, AFTER])
def test_the_twin_has_every_threshold(after):
    rows = tables.curve_rows(Curve(BOTH.thresholds, 0.6, (BEFORE, after)))
    assert [row["from"] for row in rows] == [0.5, 0.75, 1.0]
    assert [row["pairs, original"] for row in rows] == [8, 4, 0]
    assert [row[f"change, {after.name}"] for row in rows] == [
        "-25.0%" if after is AFTER else "+0.0%",
        "+0.0%",
        "",
    ]

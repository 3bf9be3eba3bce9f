import numpy as np

from ui.overlap import curve_panel
from ui.overlap.collisions import Curve, CurveVariant

BEFORE = CurveVariant("original", 6, np.array([8, 4, 0]))
AFTER = CurveVariant("merged<b>", 5, np.array([6, 4, 0]))
BOTH = Curve((0.5, 0.75, 1.0), 0.6, (BEFORE, AFTER))


def test_the_critical_zone_and_the_floor_are_marked():
    zone, floor = curve_panel.collision_curve(BOTH).layout.shapes
    assert (zone.x0, zone.x1) == (0.85, 1.0)
    assert floor.x0 == floor.x1 == 0.6

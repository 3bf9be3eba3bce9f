import numpy as np
import pytest

from toolscope_core.figures import charts, tables
from toolscope_core.figures.views import ToolMap

HOSTILE = "<b>x</b>"


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


@pytest.mark.parametrize("figure", [charts.tool_map(MAP)])
def test_the_ground_is_transparent_and_no_markup_of_the_catalog_is_sent(figure):
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert "<b>" not in figure.to_json().replace("\\u003c", "<")


def test_twins_say_the_same_as_the_pictures():
    assert tables.map_rows(MAP)[1] == {
        "tool": HOSTILE,
        "server": "a",
        "in a cluster": "yes",
        "x": 2.0,
        "y": 3.0,
    }

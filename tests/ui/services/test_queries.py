import numpy as np
import pytest

from tests.ui.services import known_angles, small_workspace
from toolscope_core.model.errors import ConfigError
from ui.overlap.heatmaps import Echo, Heatmaps, query_grid, query_lines


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return known_angles.analysed(tmp_path_factory.mktemp("six"))


def asked(analysis, *texts):
    return query_grid(analysis, texts, known_angles.AngleEmbedder().encode(texts))


def test_lines_are_queries_once_each():
    assert query_lines(" one \n\n two\r\none\n\t\n") == ("one", "two")
    assert query_lines(" \n ") == ()


def test_cells_are_cosines_of_queries_and_tools(known):
    found = asked(known, "at 5", "at 175").grid
    assert found.rows == ("at 5", "at 175")
    assert {name.partition(" ")[0] for name in found.columns} == set(known_angles.ANGLES)
    for column, name in enumerate(found.columns):
        angle = known_angles.ANGLES[name.partition(" ")[0]]
        assert found.values[0, column] == pytest.approx(known_angles.cos(angle - 5), abs=1e-5)
        assert found.values[1, column] == pytest.approx(known_angles.cos(angle - 175), abs=1e-5)
    assert found.cells[0].tolist()[0] in (0, 1)
    assert not found.symmetric


def test_a_query_that_lights_up_near_identical_tools_is_told(known):
    found = asked(known, "at 4", "at 94", "at 180")
    assert found.echoes == (
        Echo("at 4", ("a1 · alpha", "b1 · beta", "a2 · alpha")),
        Echo("at 94", ("a3 · alpha", "b2 · beta")),
    )


def test_near_tools_that_differ_are_no_echo(known):
    assert asked(known, "at 55").echoes == (), "a2 and a3 are 70° apart"


def test_the_nearest_tool_of_each_query_is_always_shown(known, monkeypatch):
    monkeypatch.setattr("ui.overlap.heatmaps.SHOWN_TOOLS", 1)
    found = asked(known, "at 0", "at 180").grid
    assert {name.partition(" ")[0] for name in found.columns} == {"a1", "c1"}


def test_too_many_queries_are_refused_and_none_too():
    work, catalog_id = small_workspace.open_workspace()
    heatmaps = work.service(Heatmaps)
    found = heatmaps.queries(catalog_id, ["weather of a city"])
    nearest = int(np.argmax(found.grid.values[0]))
    assert found.grid.columns[nearest].startswith("get_weather")
    for wrong in ([], [str(n) for n in range(51)]):
        with pytest.raises(ConfigError, match="give one to 50"):
            heatmaps.queries(catalog_id, wrong)
    assert heatmaps.whole_fits(catalog_id)
    assert heatmaps.whole(catalog_id) is heatmaps.whole(catalog_id), "ordered once"
    work.close()

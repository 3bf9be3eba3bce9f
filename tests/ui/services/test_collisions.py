from dataclasses import replace

import numpy as np
import pytest

from tests.ui.services import known_angles
from tests.ui.services.known_angles import cos
from toolscope_core.embedding.vector_cache import ArrayCache
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.coverage import CoverageLink, ServerCoverage, server_coverage
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool
from ui.overlap import collisions
from ui.overlap.collisions import block_grid, tile, whole
from ui.shared.tools.tool_blocks import blocks_of, groupings


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return known_angles.analysed(tmp_path_factory.mktemp("six"))


@pytest.fixture(scope="module")
def plan(known):
    return plan_merge(known, [], PlanConfig())


def coverage(plan, pairs=(), removed=()):
    """The tools under a schema, and that these pairs do the same job: surely, or perhaps."""
    links = {tool.id: {} for tool in plan.catalog.tools}
    for a, b, unsure in pairs:
        links[a][b] = links[b][a] = CoverageLink(1.0, alike=False, unsure=unsure)
    tools = tuple(replace(tool, schema={"type": "object"}) for tool in plan.catalog.tools)
    return ServerCoverage(Catalog(tools), links, frozenset(removed))


def shown(analysis, plan, by, measure):
    """Every filled cell, by the names of its blocks."""
    found = block_grid(analysis, coverage(plan), blocks_of(plan, by), measure)
    values = found.grid.values
    keys = [block.key for block in found.blocks]
    return {
        (keys[a], keys[b]): round(float(values[a, b]), 4)
        for a, b in np.argwhere(np.isfinite(values)).tolist()
    }


def test_blocks_come_from_servers_from_category_fields_and_from_clusters(known):
    assert groupings(known.catalog) == ("servers", "topic", "clusters")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["x", "x", "y", "y", "y", "x"], {"f"}),
        (["x/1", "x/2", "x/3", "y/1", "y/2", "y/3"], {"f"}),
        (["x"] * 6, set()),
        (list("uvwxyz"), set()),
        (["x", "y", None, None, None, 3], set()),
        (["x", "y", "x", "y", None, {"a": 1}], {"f"}),
        (["x" * 200, "y" * 200] * 3, set()),
    ],
)
def test_a_field_is_a_category_where_its_values_recur(values, expected):
    tools = [Tool(f"t{n}", "t", raw={"f": value}) for n, value in enumerate(values)]
    assert set(groupings(Catalog(tuple(tools)))) - {"clusters"} == expected


@pytest.mark.parametrize("field", ["api", "<img src=x>"])
def test_what_the_name_says_and_a_field_whose_name_is_no_plain_word_are_no_categories(field):
    tools = [Tool(f"t{n}", "xy"[n % 2], "d", raw={field: "xy"[n % 2]}) for n in range(6)]
    assert groupings(Catalog(tuple(tools))) == ("clusters",)


def test_paths_count_by_their_first_step(plan):
    paths = [replace(t, raw={"f": f"{t.raw['topic']}/{t.id}"}) for t in plan.catalog.tools]
    found = blocks_of(replace(plan, catalog=Catalog(tuple(paths))), "f")
    assert [(b.key, b.rows.tolist()) for b in found] == [("air", [0, 1, 3]), ("sea", [2, 4, 5])]


def test_a_cell_is_the_share_of_the_rows_tools_that_the_column_does(known, plan):
    pairs = [("a1", "b1", False), ("a2", "b1", False), ("a1", "a2", False), ("a3", "c1", True)]
    blocks = blocks_of(plan, "servers")
    found = block_grid(known, coverage(plan, pairs), blocks, "share")
    names = [block.key for block in found.blocks]
    values = {
        (names[row], names[column]): round(float(found.grid.values[row, column]), 4)
        for row, column in found.grid.cells.tolist()
    }
    assert values == {
        ("alpha", "alpha"): 0.6667,
        ("alpha", "beta"): 0.6667,
        ("beta", "alpha"): 0.5,
        ("beta", "beta"): 0,
        ("gamma", "gamma"): 0,
    }, "what is unsure is no job that is done"
    assert np.isfinite(found.grid.values).sum() == 5
    gone = block_grid(known, coverage(plan, pairs[:1], removed=["a2", "a3"]), blocks, "share")
    row, column = (names.index(name) for name in ("alpha", "beta"))
    assert gone.grid.values[row, column] == 1.0, "what was left out is not counted"


def test_the_share_is_that_of_the_servers_table(known, plan):
    servers = server_coverage(known, plan.clusters)
    found = block_grid(known, servers, blocks_of(plan, "servers"), "share")
    names = [block.key for block in found.blocks]
    for row, column in np.argwhere(~np.eye(3, dtype=bool)).tolist():
        expected = servers.of(names[row], [names[column]]).share
        assert np.nan_to_num(found.grid.values[row, column]) == pytest.approx(expected)


def test_an_axis_names_the_server_only_where_there_are_several(known, plan):
    alpha, beta, _ = blocks_of(plan, "servers")
    assert set(tile(known, alpha, beta).grid.rows) == {"a1", "a2", "a3"}
    assert "a1 · alpha" in whole(known).grid.rows


def test_the_closest_pair_between_blocks(known, plan):
    closest = dict.fromkeys([("air", "air"), ("sea", "sea")], round(cos(10), 4))
    assert shown(known, plan, "topic", "max") == closest
    assert shown(known, plan, "servers", "max")["alpha", "alpha"] == round(cos(20), 4)


def test_the_mean_is_that_of_all_pairs_and_none_within_a_single_tool(known, plan):
    found = shown(known, plan, "servers", "mean")
    assert found["alpha", "alpha"] == pytest.approx(cos(20, 90, 70), abs=1e-4)
    assert found["beta", "beta"] == pytest.approx(cos(90), abs=1e-4)
    assert found["alpha", "beta"] == pytest.approx(cos(10, 100, 10, 80, 80, 10), abs=1e-4)
    assert found["alpha", "gamma"] == pytest.approx(cos(180, 160, 90), abs=1e-4)
    assert ("gamma", "gamma") not in found


def test_names_tell_sizes_like_stands_beside_like_and_the_strongest_stay(known, plan, monkeypatch):
    found = block_grid(known, coverage(plan), blocks_of(plan, "servers"), "share")
    assert set(found.grid.rows) == {"alpha (3)", "beta (2)", "gamma (1)"}
    assert found.grid.rows.index("beta (2)") == 1, "beta's centroid lies between the others"
    assert (found.total, found.outside) == (3, 0)
    monkeypatch.setattr(collisions, "MOST_BLOCKS", 2)
    found = block_grid(known, coverage(plan), blocks_of(plan, "servers"), "mean")
    assert {block.key for block in found.blocks} == {"alpha", "beta"}
    assert found.total == 3


def test_two_blocks_close_up_show_every_cosine(known, plan):
    alpha, beta, _ = blocks_of(plan, "servers")
    found = tile(known, alpha, beta)
    names = [t.name for t in known.catalog.tools]
    for row, a in enumerate(found.rows.tolist()):
        for column, b in enumerate(found.columns.tolist()):
            apart = known_angles.ANGLES[names[a]] - known_angles.ANGLES[names[b]]
            assert found.grid.values[row, column] == pytest.approx(cos(apart), abs=1e-5)
    assert (found.near, found.left_out) == (3, (0, 0))
    near = {collisions.pair_at(known, found, cell) for cell in range(3)}
    assert near == {Pair("a1", "b1"), Pair("a2", "b1"), Pair("a3", "b2")}


def test_the_strongest_tools_of_a_large_block_are_shown(known, plan, monkeypatch):
    monkeypatch.setattr(collisions, "MOST_TOOLS", 1)
    monkeypatch.setattr(collisions, "_CHUNK", 2)
    alpha, beta, gamma = blocks_of(plan, "servers")
    found = tile(known, gamma, alpha)
    assert [known.catalog.tools[row].name for row in found.columns] == ["a3"], "90° is nearest"
    assert found.left_out == (0, 2)
    assert tile(known, alpha, beta).near == 3, "counted over all, shown or not"


def test_all_tools_at_once_follow_the_circle(known):
    found = whole(known)
    order = [known.catalog.tools[row].name for row in found.rows]
    circle = ["a1", "b1", "a2", "a3", "b2", "c1"]
    assert order in (circle, circle[::-1])
    assert found.near == 4
    assert len(found.grid.cells) == 15


def test_the_cells_to_choose_are_the_highest_and_come_in_order():
    values = np.array([[3.0, 1.0], [np.nan, 3.0]])
    assert collisions.strongest_cells(values, False).tolist() == [[0, 0], [1, 1], [0, 1]]
    assert collisions.strongest_cells(values, True, own=1).tolist() == [[0, 1]]
    assert collisions.strongest_cells(values, False, limit=1).tolist() == [[0, 0]]


def test_cells_of_selected_rows_and_columns_stand_out_or_are_alone(known):
    drawn = whole(known)
    rows = np.arange(6) == 2
    kept = collisions.with_selection(drawn.grid, rows, rows, only=False)
    assert kept.highlighted[2].all() and kept.highlighted[:, 2].all()
    assert kept.highlighted.sum() == 11
    assert np.array_equal(kept.values, drawn.grid.values)
    assert kept.cells is drawn.grid.cells
    grid = collisions.with_selection(drawn.grid, rows, rows, only=True)
    assert np.isfinite(grid.values).sum() == 11
    assert all(2 in cell for cell in grid.cells.tolist()) and len(grid.cells) == 5
    pair = collisions.pair_at(known, replace(drawn, grid=grid), 0)
    assert known.catalog.tools[drawn.rows[2]].id in (pair.left, pair.right)


def test_the_order_of_blocks_is_computed_once(tmp_path, monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
    order = collisions.leaf_order(vectors)
    unusable = tmp_path / "file"
    unusable.write_text("no folder")
    for folder in (tmp_path, unusable):
        assert collisions._stored_order(ArrayCache(folder), vectors) == order
    monkeypatch.setattr(collisions, "leaf_order", lambda vectors: [*range(len(vectors))])
    assert collisions._stored_order(ArrayCache(tmp_path), vectors) == order != [*range(9)]
    assert collisions._stored_order(ArrayCache(tmp_path), vectors[:8]) == [*range(8)]

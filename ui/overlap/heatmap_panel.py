"""The heatmaps: blocks, two blocks in detail, one pair, or all tools at once.

The address says what is shown: ``one`` and ``other`` are blocks, and ``cell`` is a pair.
"""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair, pair_key
from toolscope_core.model.tool import digest
from ui.overlap import collisions, heatmap_charts, variant_figures
from ui.overlap.curve_panel import variant_job
from ui.shared import page_frame, safe_text
from ui.shared.cards.batches import server_pair_query
from ui.shared.pairs import pair_view
from ui.shared.pairs.pair_panel import draw_pair, families_note
from ui.shared.pictures import picture
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_selection
from ui.shared.tools.tool_blocks import CLUSTERS, SERVERS, groupings

_PLACE = ("one", "other", "cell")
MEASURES: dict[collisions.CellMeasure, str] = {
    "share": "share done",
    "max": "closest pair",
    "mean": "mean similarity",
}
"""What the colour of a cell can mean, with its label. The label is also its value
in the address.
"""
_VIEWS = {"blocks": "Blocks", "tools": "All tools"}


def heatmap_panel(snapshot: Snapshot) -> None:
    """Draw the chosen view: blocks or all tools."""
    st.markdown("**Where are tools alike?**")
    bar, show = st.container(horizontal=True, vertical_alignment="bottom"), "blocks"
    if snapshot.record.tools <= collisions.MOST_WHOLE:
        show = bar.segmented_control(
            "Show", _VIEWS, format_func=_VIEWS.__getitem__, default="blocks", required=True,
            key="heatmap_show", bind="query-params", on_change=_go,
        )  # fmt: skip
    if show == "blocks":
        _blocks(snapshot, bar)
    else:
        _tools(snapshot)


def _blocks(snapshot: Snapshot, bar: DeltaGenerator) -> None:
    grouping = bar.selectbox(
        "Group by", groupings(snapshot.catalog),
        key="heatmap_by", bind="query-params", on_change=_go,
        format_func=lambda name: name if name in {SERVERS, CLUSTERS} else f"field “{name}”",
        width=260,
    )  # fmt: skip
    blocks = {block.key: block for block in collisions.blocks(snapshot.plan, grouping)}
    one, other = (blocks.get(st.query_params.get(name, "")) for name in _PLACE[:2])
    pair = _pair(snapshot)
    if (one is None or other is None) and any(name in st.query_params for name in _PLACE):
        _broken_link()
    if one is None or other is None:
        _level_one(snapshot, grouping, bar)
        return
    title = one.name if one is other else f"{one.name} × {other.name}"
    _breadcrumb(
        [(f"All {_plural(grouping)}", {}), (title, {"one": one.key, "other": other.key})], pair
    )
    if pair is None:
        tile = collisions.tile(snapshot.analysis, one, other)
        count = f"{quantity(len(tile.rows), 'tool')} of {safe_text.untrusted(one.name)}"
        if one is not other:
            count += f" (rows) by {len(tile.columns):,} of {safe_text.untrusted(other.name)}"
            if grouping == SERVERS:
                query = server_pair_query(one.key, other.key)
                page_frame.page_link("review", "Compare side by side, and see what to merge", query)
        key = f"tile_{snapshot.id}_{digest(one.key, other.key)[:8]}"
        _tile(snapshot, tile, count, key, one=one.key, other=other.key)
    else:
        draw_pair(snapshot, pair)


def _level_one(snapshot: Snapshot, grouping: str, bar: DeltaGenerator) -> None:
    measures = [one for one in MEASURES if grouping != CLUSTERS or one != "share"]
    measure = bar.segmented_control(
        "Colour by", measures, format_func=MEASURES.__getitem__, default=measures[0],
        required=True, key="heatmap_measure", bind="query-params", persist_state="page",
    )  # fmt: skip
    grid = collisions.grid_of(snapshot, grouping, measure)
    families_note(snapshot)
    if not grid.blocks:
        st.info("The tools form no blocks of this kind.", icon=":material/grid_off:")
        return
    selection = tool_selection.selected(snapshot)
    if selection is not None:
        only = tool_selection.only(snapshot)
        grid = collisions.blocks_with(snapshot.analysis.catalog, grid, selection.tool_ids, only)
    is_cut = len(grid.blocks) < grid.total
    first, most = (f"the {len(grid.blocks):,} of ", " with the most pairs") if is_cut else ("", "")
    outside = f" In no block: {quantity(grid.outside, 'tool')}." if grid.outside else ""
    st.caption(
        f"Showing {first}{_count_in_words(grid.total, grouping)}{most}, similar ones side by side; "
        f"number of tools in brackets.{outside} {EXPLANATIONS[measure]} The diagonal, in grey, "
        f"compares each block with itself. {_how(grid.grid)} to see more."
    )
    cell = _chosen_cell(
        snapshot,
        grid.grid,
        f"blocks_{snapshot.id}_{digest(grouping, measure)[:8]}",
        f"Heatmap of {_plural(grouping)}",
    )
    if cell is not None:
        row, column = grid.grid.cells[cell]
        _down(one=grid.blocks[row].key, other=grid.blocks[column].key)


EXPLANATIONS: dict[collisions.CellMeasure, str] = {
    "share": "The redder the cell, the more of the row's tools share a job with the column's.",
    "mean": "The redder the cell, the higher the mean similarity between the tools of two blocks.",
    "max": "The redder the cell, the more similar the closest tools of its two blocks.",
}


def _tools(snapshot: Snapshot) -> None:
    pair = _pair(snapshot)
    if pair is not None:
        _breadcrumb([("All tools", {})], pair)
        draw_pair(snapshot, pair)
        return
    if any(name in st.query_params for name in _PLACE):
        _broken_link()
    count = f"All {quantity(snapshot.record.tools, 'tool')}"
    _tile(snapshot, collisions.whole(snapshot.analysis), count, f"tools_{snapshot.id}")


def _tile(snapshot: Snapshot, tile: collisions.Tile, count: str, key: str, **place: str) -> None:
    """Draw tools compared with tools. The chosen cell opens its pair, one level below ``place``."""
    selection = tool_selection.selected(snapshot)
    if selection is not None:
        tile = collisions.tile_with(
            snapshot.analysis.catalog, tile, selection.tool_ids, tool_selection.only(snapshot)
        )
    if variant_figures.has_any(snapshot) and st.toggle(
        "Before and after document variants",
        key="heatmap_variants",
        bind="query-params",
        help="The similarity of the same tools for a search: by their own text, and with the "
        "accepted expanded descriptions and questions (Retrieval–Plan–Select, figure A2).",
    ):
        _before_and_after(snapshot, tile, key, **place)
        return
    left_out = quantity(sum(tile.left_out), "tool") if any(tile.left_out) else ""
    rest = f" Not shown, because least similar to the other block: {left_out}." if left_out else ""
    st.container(key="near_pairs").caption(
        f"{count}, similar ones side by side; {tile.in_words}. The redder the cell, the more "
        f"similar its two tools.{rest} {_how(tile.grid)} to see the pair."
    )
    cell = _chosen_cell(
        snapshot, tile.grid, key, "Heatmap of tools" if place else "Heatmap of all tools"
    )
    if cell is not None:
        _down(**place, cell=pair_key(collisions.pair_at(snapshot.analysis, tile, cell)))


def _before_and_after(snapshot: Snapshot, tile: collisions.Tile, key: str, **place: str) -> None:
    """Draw the tile twice with the same order of tools: for the tools' own text,
    and with variants.
    """
    tiles = variant_figures.tiles(snapshot, tile)
    if tiles is None:
        variant_job(snapshot)
        return
    for column, (name, own) in zip(st.columns(2, gap="medium"), tiles.items(), strict=True):
        with column:
            cosines = collisions.pair_cosines(own.grid)
            mean = f", mean similarity {cosines.mean():.3f}" if len(cosines) else ""
            st.markdown(
                f"**{name.capitalize()}**: {own.near:,} of {quantity(len(cosines), 'pair')} at the "
                f"threshold or more{mean}."
            )
            cell = _chosen_cell(snapshot, own.grid, f"{key}_{digest(name)[:4]}", f"Heatmap {name}")
        if cell is not None:
            _down(**place, cell=pair_key(collisions.pair_at(snapshot.analysis, own, cell)))


def _chosen_cell(snapshot: Snapshot, grid: collisions.Grid, key: str, alt: str) -> int | None:
    """Draw the grid. Returns the cell that was just clicked, or chosen in the table of cells."""
    figure = heatmap_charts.heatmap(grid, snapshot.analysis.threshold)
    state = picture(
        figure, partial(collisions.grid_rows, grid), key, alt,
        on_select="rerun", selection_mode="points", choose_rows=True,
    )  # fmt: skip
    points = state["selection"]["points"]
    if points:
        return heatmap_charts.cell_at(grid, points[0]["point_index"])
    table = st.session_state.get(f"{key}_rows")  # nothing is selected while the table is closed
    rows = table["selection"]["rows"] if table else []
    return rows[0] if rows else None


def _how(grid: collisions.Grid) -> str:
    limit = collisions.MOST_CELLS
    cell = f"one of the {limit:,} highest cells" if len(grid.cells) == limit else "a cell"
    return f"Click {cell}, or select its row in the table,"


def _plural(grouping: str) -> str:
    return grouping if grouping in {SERVERS, CLUSTERS} else f"values of {grouping}"


def _count_in_words(number: int, grouping: str) -> str:
    if grouping in {SERVERS, CLUSTERS}:
        return quantity(number, grouping.removesuffix("s"))
    return f"{quantity(number, 'value')} of {grouping}"


def _pair(snapshot: Snapshot) -> Pair | None:
    """The pair in the address, if both tools are in the catalog."""
    return pair_view.pair_of_key(snapshot, st.query_params.get("cell", ""))


def _go(**place: str) -> None:
    """Go to a place. Without a place, go to the top."""
    for name in _PLACE:
        if name in place:
            st.query_params[name] = place[name]
        elif name in st.query_params:
            del st.query_params[name]


def _down(**place: str) -> None:
    _go(**place)
    st.rerun()


def _broken_link() -> None:
    _go()
    st.info("The link refers to something that is not in this catalog.", icon=":material/link_off:")


def _breadcrumb(steps: list[tuple[str, dict[str, str]]], pair: Pair | None) -> None:
    """Draw the path to what is shown. Every step but the last is a button that goes up."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for at, (name, place) in enumerate(steps):
            if at:
                st.markdown(":small[›]", width="content")
            is_last = pair is None and at == len(steps) - 1
            if is_last:
                st.markdown(f":small[**{safe_text.untrusted(name)}**]", width="content")
            else:
                st.button(
                    safe_text.untrusted(name), key=f"up_{at}", type="tertiary", on_click=_go,
                    kwargs=place, icon=":material/arrow_upward:",
                )  # fmt: skip
        if pair is not None:
            st.markdown(":small[› **this pair**]", width="content")

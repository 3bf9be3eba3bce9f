"""The heatmaps: blocks, two blocks close up, one pair; all tools at once; pasted queries.

Where somebody has gone stands in the address: ``one`` and ``other`` are blocks, ``cell`` a pair.
"""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.datamodel import Pair, digest
from toolscope_core.errors import ToolScopeError
from toolscope_core.figures import heatmap_charts, table_twins
from toolscope_core.figures.views import Grid
from toolscope_core.numbers import quantity
from toolscope_core.views.address_keys import pair_key
from toolscope_core.views.collisions import CLUSTERS, MOST_CELLS, SERVERS, Block, Tile
from toolscope_core.views.queries import MOST_QUERIES, query_lines
from ui.charts.pictures import picture
from ui.charts.twins_panel import twins_panel
from ui.frame import page_frame, safe_text, tool_selection
from ui.pairs.pair_panel import pair_view

PLACE = ("one", "other", "cell")
MEASURES = {"pairs": "pairs from θ on", "mean": "mean", "max": "closest pair"}
VIEWS = {"blocks": "Blocks", "tools": "All tools", "queries": "Queries"}


def heatmap_panel(catalog_id: int) -> None:
    """What is chosen: blocks, all tools, or queries against tools."""
    whole = page_frame.workspace().heatmaps.whole_fits(catalog_id)
    views = [view for view in VIEWS if whole or view != "tools"]
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    show = bar.segmented_control(
        "Show", views, format_func=VIEWS.get, default="blocks", required=True,
        key="show", bind="query-params", on_change=_go,
    )  # fmt: skip
    if show == "blocks":
        _blocks(catalog_id, bar)
    elif show == "tools":
        _tools(catalog_id)
    else:
        _queries(catalog_id)


def _blocks(catalog_id: int, bar: DeltaGenerator) -> None:
    maps = page_frame.workspace().heatmaps
    by = bar.selectbox(
        "Blocks are", maps.groupings(catalog_id), key="by", bind="query-params", on_change=_go,
        format_func=lambda name: name if name in {SERVERS, CLUSTERS} else f"field “{name}”",
        width=260,
    )  # fmt: skip
    blocks = {block.key: block for block in maps.blocks(catalog_id, by)}
    one, other = (blocks.get(st.query_params.get(name, "")) for name in PLACE[:2])
    pair = _pair(catalog_id)
    if (one is None or other is None) and any(name in st.query_params for name in PLACE):
        _lost()
    if one is None or other is None:
        _level_one(catalog_id, by, bar)
        return
    title = one.name if one is other else f"{one.name} × {other.name}"
    _breadcrumb([(f"All {_plural(by)}", {}), (title, {"one": one.key, "other": other.key})], pair)
    if pair is None:
        _close_up(catalog_id, maps.tile(catalog_id, one, other), (one, other))
    else:
        pair_view(catalog_id, pair)


def _level_one(catalog_id: int, by: str, bar: DeltaGenerator) -> None:
    measure = bar.segmented_control(
        "Colour", list(MEASURES), format_func=MEASURES.get, default="pairs", required=True,
        key="measure", bind="query-params", persist_state="page",
    )  # fmt: skip
    found = page_frame.workspace().heatmaps.block_grid(catalog_id, by, measure)
    if not found.blocks:
        st.info("There is no such block yet.", icon=":material/grid_off:")
        return
    picked = tool_selection.selected(catalog_id)
    if picked is not None:
        with_selection = page_frame.workspace().heatmaps.blocks_with
        found = with_selection(catalog_id, found, picked.tool_ids, tool_selection.only())
    some = f"the {len(found.blocks):,} with the most pairs of " * (len(found.blocks) < found.total)
    outside = f" In none: {quantity(found.outside, 'tool')}." if found.outside else ""
    st.caption(
        f"Shown: {some}{_counted(found.total, by)}, number of tools in brackets, like "
        f"beside like.{outside} {EXPLAINED[measure]} The diagonal is what a block has within "
        f"itself. {_how(found.grid)} to see its tools."
    )
    cell = _chosen(
        found.grid, f"blocks_{catalog_id}_{digest(by, measure)[:8]}", f"Heatmap of {_plural(by)}"
    )
    if cell is not None:
        row, column = found.grid.cells[cell]
        _down(one=found.blocks[row].key, other=found.blocks[column].key)
    if by == SERVERS:
        twins_panel(catalog_id)


EXPLAINED = {
    "pairs": "A cell counts the candidate pairs between two blocks.",
    "mean": "A cell is the mean cosine over all pairs of tools between two blocks.",
    "max": "A cell is the closest candidate pair between two blocks.",
}


def _with_selection(catalog_id: int, drawn: Tile) -> Tile:
    picked = tool_selection.selected(catalog_id)
    if picked is None:
        return drawn
    only = tool_selection.only()
    return page_frame.workspace().heatmaps.tile_with(catalog_id, drawn, picked.tool_ids, only)


def _close_up(catalog_id: int, drawn: Tile, blocks: tuple[Block, Block]) -> None:
    drawn = _with_selection(catalog_id, drawn)
    left_out = sum(drawn.left_out)
    far = quantity(left_out, "tool")
    cut = f" Left out, as further from the other side: {far}." if left_out else ""
    own = " The diagonal is each tool with itself." if blocks[0] is blocks[1] else ""
    st.caption(
        f"{len(drawn.rows):,} by {quantity(len(drawn.columns), 'tool')}, like beside like; at θ or "
        f"closer: {quantity(drawn.near, 'pair')}.{cut}{own} {_how(drawn.grid)} to see the pair."
    )
    key = f"tile_{catalog_id}_{digest(blocks[0].key, blocks[1].key)[:8]}"
    cell = _chosen(drawn.grid, key, "Heatmap of tools")
    if cell is not None:
        pair = page_frame.workspace().heatmaps.pair_at(catalog_id, drawn, cell)
        _down(one=blocks[0].key, other=blocks[1].key, cell=pair_key(pair))


def _tools(catalog_id: int) -> None:
    pair = _pair(catalog_id)
    if pair is not None:
        _breadcrumb([("All tools", {})], pair)
        pair_view(catalog_id, pair)
        return
    if any(name in st.query_params for name in PLACE):
        _lost()
    drawn = _with_selection(catalog_id, page_frame.workspace().heatmaps.whole(catalog_id))
    st.caption(
        f"All {quantity(len(drawn.rows), 'tool')}, like beside like; at θ or closer: "
        f"{quantity(drawn.near, 'pair')}. The diagonal is each tool with itself. "
        f"{_how(drawn.grid)} to see the pair."
    )
    cell = _chosen(drawn.grid, f"tools_{catalog_id}", "Heatmap of all tools")
    if cell is not None:
        pair = page_frame.workspace().heatmaps.pair_at(catalog_id, drawn, cell)
        _down(cell=pair_key(pair))


def _queries(catalog_id: int) -> None:
    text = st.text_area(
        f"Queries, one a line, at most {MOST_QUERIES}",
        key="queries",
        persist_state="session",
        placeholder="What is the weather in Lisbon tomorrow?\nSend the report to Ana",
        help="Ctrl+Enter draws them.",
    )
    queries = query_lines(text)
    if not queries:
        st.caption("Each query is compared with all tools; those near any of them are shown.")
        return
    try:
        with st.spinner("Comparing the queries with the tools; the first time loads the model"):
            found = page_frame.workspace().heatmaps.queries(catalog_id, queries)
    except ToolScopeError as error:
        safe_text.show_error(error)
        return
    lines = [
        f"- {safe_text.untrusted(echo.query)}: {', '.join(map(safe_text.untrusted, echo.tools))}"
        for echo in found.echoes
    ]
    if lines:
        st.markdown("Queries that light up several near-identical tools:\n" + "\n".join(lines))
    else:
        st.markdown("No query lights up several near-identical tools.")
    picture(
        heatmap_charts.heatmap(found.grid, page_frame.analysis().threshold),
        partial(table_twins.grid_rows, found.grid),
        f"queries_{catalog_id}",
        "Heatmap of queries and tools",
    )


def _chosen(grid: Grid, key: str, alt: str) -> int | None:
    """Draw the grid; the cell just clicked, or chosen in its table."""
    figure = heatmap_charts.heatmap(grid, page_frame.analysis().threshold)
    state = picture(
        figure, partial(table_twins.grid_rows, grid), key, alt,
        on_select="rerun", selection_mode="points", choose_rows=True,
    )  # fmt: skip
    points = state["selection"]["points"]
    if points:
        return heatmap_charts.cell_at(grid, points[0]["point_index"])
    table = st.session_state.get(f"{key}_rows")  # there is none while the table is closed
    rows = table["selection"]["rows"] if table else []
    return rows[0] if rows else None


def _how(grid: Grid) -> str:
    cell = f"one of the {MOST_CELLS:,} highest cells" if len(grid.cells) == MOST_CELLS else "a cell"
    return f"Click {cell}, or choose its row in the table,"


def _plural(by: str) -> str:
    return by if by in {SERVERS, CLUSTERS} else f"values of {by}"


def _counted(number: int, by: str) -> str:
    if by in {SERVERS, CLUSTERS}:
        return quantity(number, by.removesuffix("s"))
    return f"{quantity(number, 'value')} of {by}"


def _pair(catalog_id: int) -> Pair | None:
    """The pair that the address names, if the catalog has both tools."""
    return page_frame.workspace().pairs.named(catalog_id, st.query_params.get("cell", ""))


def _go(**place: str) -> None:
    """Go to a place; with none, to the top."""
    for name in PLACE:
        if name in place:
            st.query_params[name] = place[name]
        elif name in st.query_params:
            del st.query_params[name]


def _down(**place: str) -> None:
    _go(**place)
    st.rerun()


def _lost() -> None:
    _go()
    st.info("The link leads to what this catalog does not have.", icon=":material/link_off:")


def _breadcrumb(steps: list[tuple[str, dict[str, str]]], pair: Pair | None) -> None:
    """Where one is; every step but the last leads up."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for at, (name, place) in enumerate(steps):
            if at:
                st.markdown(":small[›]", width="content")
            here = pair is None and at == len(steps) - 1
            if here:
                st.markdown(f":small[**{safe_text.untrusted(name)}**]", width="content")
            else:
                st.button(
                    safe_text.untrusted(name), key=f"up_{at}", type="tertiary", on_click=_go,
                    kwargs=place, icon=":material/arrow_upward:",
                )  # fmt: skip
        if pair is not None:
            st.markdown(":small[› **this pair**]", width="content")

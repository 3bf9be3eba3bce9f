"""The map of the tools: where they lie before and after merging; drawn round, they are selected."""

from __future__ import annotations

from functools import partial

import streamlit as st

from toolscope_core.errors import JobError
from toolscope_core.figures import map_charts as figures
from toolscope_core.figures import table_twins
from toolscope_core.figures.views import ToolMap
from toolscope_core.views.collisions import CLUSTERS, SERVERS
from toolscope_core.workspace.maps import METHODS, STATES, UNASKED, Method
from ui.charts.map_selection import selected_panel
from ui.charts.pictures import picture
from ui.charts.silhouettes_panel import silhouettes_panel
from ui.frame import page_frame, safe_text, tool_selection

BESIDE = 300
"""Up to so many tools the merged toolset stands beside the map at first: a figure of two panels
takes a browser longer to draw, and is drawn anew for each selection (0.5 to 0.6 s at 527 tools,
0.3 to 0.4 for one panel of 4,076).
"""
MARKED = "map_marked"
"""Session key: how the map on the screen was drawn, and the rows it marks."""

COLOURS = {SERVERS: "server", CLUSTERS: "cluster", STATES: "state of the cluster"}
ABOUT = {
    "PCA": "Two principal components: directions are true, most of the distances are lost.",
    "UMAP": "Neighbours are near each other; how far apart groups lie, and how large they are, "
    "says little.",
    "t-SNE": "Neighbours are near each other; distances between groups and their sizes say "
    "nothing.",
}


def map_panel(catalog_id: int) -> None:
    """The map with its switches, the selected tools, and the silhouettes."""
    maps = page_frame.workspace().maps
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    method = bar.segmented_control(
        "Map by", METHODS, default=METHODS[0], required=True, key="method", bind="query-params",
    )  # fmt: skip
    by = bar.selectbox(
        "Colour", maps.colours(catalog_id), key="colour", bind="query-params", width=220,
        format_func=lambda name: COLOURS.get(name, f"field “{name}”"),
    )  # fmt: skip
    few = page_frame.current().tools <= BESIDE
    beside = bar.toggle("Merged beside it", few, key="beside", bind="query-params")
    labels = bar.toggle("Words", True, key="words", bind="query-params")
    contours = bar.toggle("Contours", key="contours", bind="query-params")
    shown = _projected(catalog_id, method)
    drawn = maps.drawn(catalog_id, shown, by, beside)
    st.caption(_about(catalog_id, shown, beside))
    key, only = f"map_{catalog_id}", tool_selection.only()
    look = (drawn, labels, contours, only)
    picked, turn = _marks(catalog_id, drawn, key, look)
    figure = figures.tool_map(drawn, picked, contours, labels, only)
    figure.update_layout(selectionrevision=turn)
    picture(
        figure, partial(table_twins.map_rows, drawn), key, "Map of the tools",
        on_select=lambda: _select(catalog_id, drawn, key), selection_mode=("box", "lasso"),
    )  # fmt: skip
    selected_panel(catalog_id)
    silhouettes_panel(catalog_id)


def _marks(
    catalog_id: int, drawn: ToolMap, key: str, look: tuple[object, ...]
) -> tuple[list[int], int]:
    """The rows to mark, and a number that changes where the browser's own marks have to go.

    What was drawn round in a single panel is marked by the browser already: the same figure again
    spares it from drawing all anew, which takes longer than all else.
    """
    rows = _rows(catalog_id)
    before, marks, turn = st.session_state.get(MARKED, (None, [], 0))
    points = st.session_state[key]["selection"]["points"] if key in st.session_state else []
    if points:
        alone = len(drawn.panels) == 1 and before == look and not tool_selection.only()
        if alone and figures.tools_at(drawn, points) == frozenset(rows):
            return marks, turn
        turn += 1
    st.session_state[MARKED] = (look, rows, turn)
    return rows, turn


def _about(catalog_id: int, shown: Method, beside: bool) -> str:
    said = f"{ABOUT[shown]} Words tell the tools of a crowded place from the rest."
    if beside:
        count = page_frame.workspace().maps.rewritten(catalog_id)
        said += (
            " *Merged* is the toolset with what people accepted and what is safe to accept. A "
            "merged tool is larger and stands where its canonical stood"
        )
        said += f", though {count:,} have another text now." if count else "."
    return said


def _projected(catalog_id: int, method: Method) -> Method:
    """The method that can be shown now; starts the wanted one, once, and says how far it is."""
    maps = page_frame.workspace().maps
    if refused := maps.refusal(catalog_id, method):
        st.info(refused, icon=":material/block:")
        return "PCA"
    if maps.points(catalog_id, method) is not None:
        return method
    seconds = maps.seconds(catalog_id, method)
    job = maps.job(catalog_id, method)
    around = f"{seconds:,} to {2 * seconds:,} s"  # from a quiet machine to a busy one
    asked = f"Compute {method} (about {around}, an estimate)"
    if job is not None and not job.live and job.state != "done":
        safe_text.show_error(JobError(job.message))
        if not st.button(asked, icon=":material/replay:", key="project"):
            return "PCA"
    elif page_frame.current().tools > UNASKED and not (job is not None and job.live):
        st.info("Principal components are shown until then.", icon=":material/scatter_plot:")
        if not st.button(asked, icon=":material/play_arrow:", key="project"):
            return "PCA"
    st.info(
        f"{method} is being computed, about {around} by estimate; principal components are shown "
        "until then.",
        icon=":material/hourglass_empty:",
    )
    page_frame.job_panel(maps.start(catalog_id, method))
    return "PCA"


def _rows(catalog_id: int) -> list[int]:
    """The selected tools as rows of the catalog."""
    chosen = tool_selection.selected(catalog_id)
    rows = page_frame.analysis().rows
    return [rows[i] for i in chosen.tool_ids if i in rows] if chosen else []


def _select(catalog_id: int, drawn: ToolMap, key: str) -> None:
    """What was drawn round becomes the selection. That a redrawn figure has none is no wish."""
    points = st.session_state[key]["selection"]["points"]
    if points:
        tools, (_, marks, _) = page_frame.analysis().catalog.tools, st.session_state[MARKED]
        found = figures.tools_at(drawn, points, marks, tool_selection.only())
        ids = (tools[row].id for row in found)
        tool_selection.select(catalog_id, ids, "the map")

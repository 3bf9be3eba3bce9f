"""The map of the tools before and after merging; a lasso or box selects tools."""

from __future__ import annotations

from functools import partial

import streamlit as st

from toolscope_core.model.errors import JobError
from ui.overlap import map_charts as figures
from ui.overlap.curve_panel import variant_job
from ui.overlap.figures import ToolMap, map_rows, silhouette_rows
from ui.overlap.map_selection import selected_panel
from ui.overlap.maps import METHODS, SILHOUETTES, UNASKED, Maps, Method, colouring
from ui.overlap.variant_figures import VariantFigures
from ui.shared import page_frame, safe_text
from ui.shared.charts.pictures import picture
from ui.shared.tools import tool_selection

TWO_PANELS = 300
"""Up to so many tools the merged toolset is shown beside the map by default: a browser takes longer
to draw two panels, and draws them again for each selection (0.5 to 0.6 s at 527 tools, 0.3 to 0.4
for one panel of 4,076).
"""

MARKED = "map_marked"
"""Session key: how the map on the screen was drawn, and the rows it marks."""

ABOUT_PANELS = (
    "Three panels of what a search compares: the tools' own text, with the accepted variants, and "
    "padded with random words to the same length."
)

ABOUT: dict[Method, str] = {
    "PCA": "Two principal components: directions are faithful, most distances are not.",
    "UMAP": "Neighbours stay close; distances between groups, and their sizes, mean little.",
    "t-SNE": "Neighbours stay close; distances between groups, and their sizes, mean nothing.",
}


def map_panel(catalog_id: int) -> None:
    """The map with its switches, the selected tools, and the silhouettes."""
    maps = page_frame.service(Maps)
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    method = bar.segmented_control(
        "Projection", METHODS, default=METHODS[0], required=True, key="method", bind="query-params",
    )  # fmt: skip
    by = bar.selectbox(
        "Colour by", maps.colours(catalog_id), key="colour", bind="query-params", width=220,
        format_func=lambda name: colouring(name).label,
    )  # fmt: skip
    has_variants = page_frame.service(VariantFigures).has_any(catalog_id)
    variants = has_variants and bar.toggle(
        "Compare document variants", key="compare_variants", bind="query-params", help=ABOUT_PANELS
    )
    if variants:
        contours = bar.toggle("Density contours", key="contours", bind="query-params")
        _variant_panels(catalog_id, method, by, contours)
        selected_panel(catalog_id)
        return
    few = page_frame.current().tools <= TWO_PANELS
    beside = bar.toggle("Compare with merged", few, key="map_beside", bind="query-params")
    labels = bar.toggle("Labels", True, key="words", bind="query-params")
    contours = bar.toggle("Density contours", key="contours", bind="query-params")
    shown = _projected(catalog_id, method)
    drawn = maps.drawn(catalog_id, shown, by, beside)
    st.caption(_about(catalog_id, shown, beside))
    key, only = f"map_{catalog_id}", tool_selection.only()
    look = (drawn, labels, contours, only)
    marked, revision = _marks(catalog_id, drawn, key, look)
    figure = figures.tool_map(drawn, marked, contours, labels, only)
    figure.update_layout(selectionrevision=revision)
    picture(
        figure, partial(map_rows, drawn), key, "Map of the tools",
        on_select=lambda: _select(catalog_id, drawn, key), selection_mode=("box", "lasso"),
    )  # fmt: skip
    selected_panel(catalog_id)
    silhouettes_panel(catalog_id)


def silhouettes_panel(catalog_id: int) -> None:
    """Mean silhouettes over numbers of clusters, once they are measured."""
    maps = page_frame.service(Maps)
    st.subheader("How tightly the tools cluster", anchor=False)
    view = maps.silhouettes(catalog_id)
    if view is None:
        _measure(catalog_id)
        return
    if not view.counts:
        st.caption("Too few tools to cluster.")
        return
    st.markdown(view.summary)
    rows = partial(silhouette_rows, view)
    picture(figures.silhouette_chart(view), rows, "silhouettes", "Silhouettes")
    st.caption(
        "Seeded k-means on all dimensions; exact silhouettes of all tools by cosine distance. "
        "The score says how tight and separate clusters are, not whether tools are redundant: a "
        "tidy catalog of distinct families scores high too, and removing any duplicates lowers "
        "it, whether they were rightly merged or not. Compare only the same number of clusters "
        "under the same model; near one cluster for two tools it mostly counts close pairs."
    )


def _variant_panels(catalog_id: int, method: Method, by: str, contours: bool) -> None:
    """The tools where a search sees them: by their own text, with variants, with random words."""
    work = page_frame.service(VariantFigures)
    if refused := page_frame.service(Maps).refusal(catalog_id, method):
        st.info(refused, icon=":material/block:")
        method = "PCA"
    if work.points(catalog_id, method) is None:
        if method != "PCA":
            st.caption(f"{method} takes about {work.seconds(catalog_id, method):,} s, an estimate.")
        variant_job(catalog_id, method)
        method = "PCA"
        if work.points(catalog_id, method) is None:
            return
    drawn = work.drawn(catalog_id, method, by)
    st.caption(
        ABOUT[method]
        if method == "PCA"
        else f"{ABOUT[method]} Each panel is projected by itself and has its own directions."
    )
    key = f"variant_map_{catalog_id}"
    rows = _rows(catalog_id)
    figure = figures.tool_map(drawn, rows, contours, labels=False, only=tool_selection.only())
    picture(
        figure, partial(map_rows, drawn), key, "Map of the document variants",
        on_select=lambda: _select_among(catalog_id, drawn, key, rows),
        selection_mode=("box", "lasso"),
    )  # fmt: skip


def _select_among(catalog_id: int, drawn: ToolMap, key: str, marks: list[int]) -> None:
    points = st.session_state[key]["selection"]["points"]
    if points:
        tools = page_frame.analysis().catalog.tools
        rows = figures.tools_at(drawn, points, marks, tool_selection.only())
        tool_selection.select(catalog_id, (tools[row].id for row in rows), "the map")


def _marks(
    catalog_id: int, drawn: ToolMap, key: str, look: tuple[object, ...]
) -> tuple[list[int], int]:
    """The rows to mark, and a revision that changes when the browser must drop its own marks.

    What the lasso caught in a single panel is marked by the browser already: sending the same
    figure again spares it a full redraw, which takes longer than everything else.
    """
    rows = _rows(catalog_id)
    before, marks, revision = st.session_state.get(MARKED, (None, [], 0))
    points = st.session_state[key]["selection"]["points"] if key in st.session_state else []
    if points:
        same = len(drawn.panels) == 1 and before == look and not tool_selection.only()
        if same and figures.tools_at(drawn, points) == frozenset(rows):
            return marks, revision
        revision += 1
    st.session_state[MARKED] = (look, rows, revision)
    return rows, revision


def _about(catalog_id: int, shown: Method, beside: bool) -> str:
    text = f"{ABOUT[shown]} Labels are the words that set a dense region apart."
    if beside:
        count = page_frame.service(Maps).rewritten(catalog_id)
        text += (
            " *Merged* is the toolset with accepted and safe merges. Merged tools are larger, "
            "at the place of their canonical tool"
        )
        text += f", although {count:,} have a new text." if count else "."
    return text


def _projected(catalog_id: int, method: Method) -> Method:
    """The method that can be shown now; starts the chosen one, once, and shows its progress."""
    maps = page_frame.service(Maps)
    if refused := maps.refusal(catalog_id, method):
        st.info(refused, icon=":material/block:")
        return "PCA"
    if maps.points(catalog_id, method) is not None:
        return method
    seconds = maps.seconds(catalog_id, method)
    job = maps.job(catalog_id, method)
    around = f"{seconds:,} to {2 * seconds:,} s"  # from a quiet machine to a busy one
    label = f"Compute {method} (about {around}, an estimate)"
    if job is not None and not job.live and job.state != "done":
        safe_text.show_error(JobError(job.message))
        if not st.button(label, icon=":material/replay:", key="project"):
            return "PCA"
    elif page_frame.current().tools > UNASKED and not (job is not None and job.live):
        st.info("PCA is shown until then.", icon=":material/scatter_plot:")
        if not st.button(label, icon=":material/play_arrow:", key="project"):
            return "PCA"
    st.info(
        f"Computing {method}, about {around} (estimate). PCA is shown until then.",
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
    """Select the tools inside the lasso or box. A figure that is only redrawn has none: ignored."""
    if st.session_state[key]["selection"]["points"]:
        _, marks, _ = st.session_state[MARKED]
        _select_among(catalog_id, drawn, key, marks)


def _measure(catalog_id: int) -> None:
    maps = page_frame.service(Maps)
    job = maps.job(catalog_id, SILHOUETTES)
    if job is not None and job.live:
        page_frame.job_panel(job.id)
        return
    if job is not None and not job.live and job.state != "done":
        safe_text.show_error(JobError(job.message))
    seconds = maps.silhouette_seconds(catalog_id)
    st.button(
        f"Measure before and after merging (about {seconds:,} s, estimate)",
        icon=":material/play_arrow:",
        key="silhouette",
        on_click=_start,
        args=(catalog_id,),
    )


def _start(catalog_id: int) -> None:
    page_frame.service(Maps).start_silhouettes(catalog_id)

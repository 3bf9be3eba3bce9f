"""The map of the tools before and after merging.

A search marks tools, a click on a tool shows its nearest tools, and a lasso or box selects tools.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from toolscope_core.embedding.projection import SAMPLE
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool, digest
from ui.overlap import map_charts as figures
from ui.overlap import maps, variant_figures
from ui.overlap.collisions import Marks, ToolMap, map_rows
from ui.overlap.curve_panel import variant_job
from ui.shared import data_tables, page_frame, pictures, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column, Columns
from ui.shared.services import toolsets
from ui.shared.snapshot import Snapshot
from ui.shared.tools import catalog_tables, tool_parts, tool_selection

_COLUMNS: Columns[catalog_tables.ToolRow] = [
    Column("name"),
    Column("server"),
    Column("description"),
    Column("tokens"),
    Column("findings"),
]


_clicks = st.components.v2.component(
    "toolscope_map_clicks",
    html="<i></i>",
    js=Path(__file__).with_name("map_clicks.js").read_text("utf-8"),
)


def selected_panel(snapshot: Snapshot) -> None:
    """Draw the selected tools as a table. The buttons act on the ticked tools; at first, all are
    ticked.
    """
    decision_buttons.notice(snapshot)
    selection = tool_selection.selected(snapshot)
    if selection is None:
        return
    rows = [row for row in catalog_tables.tools(snapshot) if row.id in selection.tool_ids]
    st.markdown(f"**{quantity(len(rows), 'tool')} selected**")
    if len(rows) > pictures.ROWS:
        st.caption(f"Showing the first {pictures.ROWS:,}.")
    ticked_tools = data_tables.ticked_rows(
        rows[: pictures.ROWS],
        _COLUMNS,
        "The selected tools",
        most=320,
        key=f"chosen_{digest(sorted(selection.tool_ids))[:12]}",
    )
    is_all = len(ticked_tools) == min(len(rows), pictures.ROWS)
    _buttons(snapshot, rows if is_all else ticked_tools, len(rows))


def _buttons(snapshot: Snapshot, rows: list[catalog_tables.ToolRow], total: int) -> None:
    ids = tuple(row.id for row in rows)
    version = toolsets.version(snapshot, ids) if len(ids) <= toolsets.MOST_APART else ""
    tools = data_tables.which_in_words(len(ids), total)
    card = toolsets.card(snapshot, ids) if 1 < len(ids) <= toolsets.MOST_ON_A_CARD else None
    with st.container(horizontal=True, vertical_alignment="center"):
        button = partial(
            decision_buttons.set_button,
            snapshot,
            ids=ids,
            version=version,
            names=quantity(len(ids), "tool"),
            disabled=len(ids) < 2,
            as_batch=True,
        )
        if card is not None:
            page_frame.page_link("review", "Open in Review", cluster=card.id)
        else:
            label, about = f"Propose {tools} as a cluster", decision_buttons.PROPOSES
            button("propose", label=label, key=f"propose_{version[:12]}", help=about)
        about = "Keeps these tools apart, whatever the judge says, until you undo the decision."
        button("keep_apart", label=f"Keep {tools} apart", key=f"never_{version[:12]}", help=about)
        tool_parts.move_link(snapshot, ids)
        if len(ids) == 1:
            tool_parts.open_button(snapshot.analysis.catalog.by_id[ids[0]], "map")
        st.caption("The buttons apply to ticked rows.", width="content")


TWO_PANELS = 300
"""Up to this many tools, the merged toolset is shown beside the map by default.

A browser takes longer to draw two panels, and draws them again for each selection: 0.5 to 0.6 s for
527 tools, but 0.3 to 0.4 s for one panel with 4,076 tools.
"""

MARKED = "map_marked"
"""Session key for how the map on the screen was drawn and what it marks."""

ABOUT_PANELS = (
    "Three panels, one for each text that a search compares: the tools' own text, that text with "
    "the accepted variants, and that text padded with random words to the same length."
)

_ABOUT: dict[maps.Method, str] = {
    "PCA": "Two principal components: directions are accurate, but most distances are not.",
    "UMAP": "Neighbours stay close; distances between groups and sizes of groups mean little.",
    "t-SNE": "Neighbours stay close; distances between groups and sizes of groups mean nothing.",
}


def map_panel(snapshot: Snapshot) -> None:
    """Draw the map with its search and switches, the selected tools, and further options."""
    st.markdown(
        "**Which tools lie close together?** Click a tool to see its nearest neighbours, drag the "
        "lasso around several to select them, or hover over one to read about it."
    )
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    find = bar.text_input(
        "Search", type="search", key="map_find", bind="query-params", width=260,
        placeholder="name, server, description",
    )  # fmt: skip
    colouring = bar.selectbox(
        "Colour by", maps.colours(snapshot), key="colour", bind="query-params", width=220,
        format_func=lambda name: maps.colouring(name).label,
    )  # fmt: skip
    method = bar.segmented_control(
        "Projection", maps.METHODS, default=maps.METHODS[0], required=True, key="method",
        bind="query-params",
    )  # fmt: skip
    is_small = snapshot.record.tools <= TWO_PANELS
    compare = bar.toggle("Compare with merged", is_small, key="map_beside", bind="query-params")
    place = st.container()
    with pictures.more("map_more"), st.container(horizontal=True):
        labels = st.toggle("Names of regions", True, key="words", bind="query-params")
        has_variants = variant_figures.has_any(snapshot)
        variants = has_variants and st.toggle(
            "Compare document variants", key="compare_variants", bind="query-params",
            help=ABOUT_PANELS,
        )  # fmt: skip
    with place:
        if variants:
            _variant_panels(snapshot, method, colouring)
        else:
            projection, by_sample = _projected(snapshot, method)
            tool_map = maps.map_of(snapshot, projection, colouring, compare, by_sample)
            st.caption(_about(snapshot, projection, compare))
            _map(snapshot, tool_map, _ringed(snapshot, find), labels)
        selected_panel(snapshot)


def _map(snapshot: Snapshot, tool_map: ToolMap, matches: tuple[int, ...], labels: bool) -> None:
    """Draw the map with its highlights, and name the tools nearest to the chosen one."""
    key, rows = f"map_{snapshot.id}", _rows(snapshot)
    single = next((some[0] for some in (rows, matches) if len(some) == 1), None)
    near = maps.nearest(snapshot, single) if single is not None else {}
    if tool_selection.only(snapshot):
        marks = Marks(rows, only=True)
    else:
        marks = Marks(rows, ringed=matches, near=(single, *near) if single is not None else ())
    marks, revision = _kept_marks(tool_map, key, (tool_map, labels), marks)
    figure = figures.tool_map(tool_map, marks, labels)
    figure.update_layout(selectionrevision=revision)
    if single is not None:
        tools = snapshot.analysis.catalog.tools
        nearest = (f"{_named(tools[row])} ({value:.2f})" for row, value in near.items())
        st.markdown(f"Nearest to {_named(tools[single], '**')}: {', '.join(nearest)}.")
    pictures.picture(
        figure, partial(map_rows, tool_map), key, "Map of the tools",
        on_select=lambda: _select(snapshot, tool_map, key, st.session_state[MARKED][1]),
        selection_mode=("points", "box", "lasso"),
    )  # fmt: skip
    _select_clicked(snapshot, tool_map, key, marks)


def _named(tool: Tool, bold: str = "") -> str:
    """The name of a tool with its server."""
    server = f" :gray[· {safe_text.untrusted(tool.owner)}]" if tool.owner else ""
    return f"{bold}{safe_text.untrusted(tool.name)}{bold}{server}"


def _ringed(snapshot: Snapshot, find: str) -> tuple[int, ...]:
    """The rows that a search finds. Draws how many there are, with a button to select them."""
    if not find.strip():
        return ()
    places = snapshot.analysis.rows
    ids = [row.id for row in catalog_tables.tools(snapshot, find)]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Marked with a ring: **{quantity(len(ids), 'tool')}**.", width="content")
        if ids:
            tool_selection.select_button(snapshot, ids, "the map", "select_found", "Select them")
    return tuple(places[one] for one in ids)


def _variant_panels(snapshot: Snapshot, method: maps.Method, colouring: str) -> None:
    """Draw the tools as a search sees them: with their own text, with variants, and with random
    words.
    """
    if refused := maps.refusal(snapshot, method):
        st.info(refused, icon=":material/block:")
        method = "PCA"
    if variant_figures.points(snapshot, method) is None:
        if method != "PCA":
            seconds = variant_figures.seconds(snapshot, method)
            st.caption(f"{method} takes about {seconds:,} s.")
        variant_job(snapshot, method)
        method = "PCA"
        if variant_figures.points(snapshot, method) is None:
            return
    tool_map = variant_figures.map_of(snapshot, method, colouring)
    st.caption(
        _ABOUT[method]
        if method == "PCA"
        else f"{_ABOUT[method]} Each panel is projected separately and has its own directions."
    )
    key = f"variant_map_{snapshot.id}"
    marks = Marks(_rows(snapshot), tool_selection.only(snapshot))
    figure = figures.tool_map(tool_map, marks, labels=False)
    pictures.picture(
        figure, partial(map_rows, tool_map), key, "Map of the document variants",
        on_select=lambda: _select(snapshot, tool_map, key, marks),
        selection_mode=("points", "box", "lasso"),
    )  # fmt: skip
    _select_clicked(snapshot, tool_map, key, marks)


def _select(snapshot: Snapshot, tool_map: ToolMap, key: str, marks: Marks) -> None:
    """Select the tools inside the lasso or box.

    A figure that was drawn again reports no selection, which is ignored.
    """
    points = st.session_state[key]["selection"]["points"]
    if points:
        _select_points(snapshot, tool_map, points, marks)


def _select_clicked(snapshot: Snapshot, tool_map: ToolMap, key: str, marks: Marks) -> None:
    """Select the clicked dot even though the mouse is set to draw a lasso or a box."""
    name = f"{key}_clicks"

    def clicked() -> None:
        if (point := st.session_state[name]["clicked"]) is not None:
            _select_points(snapshot, tool_map, [point], marks)

    _clicks(key=name, data={"chart": f"st-key-{key}"}, on_clicked_change=clicked)


def _select_points(
    snapshot: Snapshot, tool_map: ToolMap, points: Sequence[Mapping[str, Any]], marks: Marks
) -> None:
    tools = snapshot.analysis.catalog.tools
    rows = figures.tools_at(tool_map, points, marks)
    tool_selection.select(snapshot, (tools[row].id for row in rows), "the map")


def _kept_marks(
    tool_map: ToolMap, key: str, look: tuple[object, ...], marks: Marks
) -> tuple[Marks, int]:
    """The marks to draw, and a revision. A new revision makes the browser drop its own marks.

    In a single panel, the browser has already marked the points inside a lasso. The same figure is
    then sent again, because drawing a new one would take longer than everything else.
    """
    before, marks_before, revision = st.session_state.get(MARKED, (None, figures.NO_MARKS, 0))
    points = st.session_state[key]["selection"]["points"] if key in st.session_state else []
    if points:
        others_same = replace(marks_before, picked=marks.picked) == marks
        same = len(tool_map.panels) == 1 and before == look and others_same and not marks.only
        if same and figures.tools_at(tool_map, points) == frozenset(marks.picked):
            return marks_before, revision
        revision += 1
    st.session_state[MARKED] = (look, marks, revision)
    return marks, revision


def _about(snapshot: Snapshot, method: maps.Method, compare: bool) -> str:
    text = (
        f"{_ABOUT[method]} A region is named after what its tools have in common, if anything. "
        "Tools at the same place are fanned out."
    )
    if compare:
        count = maps.rewritten(snapshot)
        text += (
            " *Merged* is the toolset with accepted and safe merges. Merged tools are drawn "
            "larger, at the place of their canonical tool"
        )
        text += f", although {count:,} have a new text." if count else "."
    return text


def _projected(snapshot: Snapshot, method: maps.Method) -> tuple[maps.Method, bool]:
    """The method that can be shown now, and whether only a sample of the tools is projected.

    The chosen method is started once, and its progress is drawn.
    """
    if refused := maps.refusal(snapshot, method):
        st.info(refused, icon=":material/block:")
        return "PCA", False
    if maps.points(snapshot, method) is not None:
        return method, False
    seconds = maps.seconds(snapshot, method)
    job = snapshot.job(method)
    label = f"Compute {method} (about {seconds:,} s)"
    if job is not None and page_frame.has_failed(job):
        safe_text.show_error(JobError(job.message))
        if not st.button(label, icon=":material/replay:", key="project"):
            return "PCA", False
    elif snapshot.record.tools > maps.UNASKED and not (job is not None and job.live):
        st.info(f"PCA is shown until {method} is computed.", icon=":material/scatter_plot:")
        if not st.button(label, icon=":material/play_arrow:", key="project"):
            return "PCA", False

    def sample_is_there() -> bool:
        return maps.points(snapshot, method, by_sample=True) is not None

    by_sample = sample_is_there()
    shown = "PCA is shown until then"
    if by_sample:
        shown = (
            f"until then, the map is computed from {SAMPLE:,} tools, and every other tool lies "
            "between the nearest of them"
        )
    st.info(f"{method} of all tools is being computed; {shown}.", icon=":material/hourglass_empty:")
    ready = None if by_sample else sample_is_there
    page_frame.job_panel(maps.start(snapshot, method), seconds, ready)
    return (method, True) if by_sample else ("PCA", False)


def _rows(snapshot: Snapshot) -> tuple[int, ...]:
    """The catalog rows of the selected tools."""
    selection = tool_selection.selected(snapshot)
    rows = snapshot.analysis.rows
    return tuple(rows[i] for i in selection.tool_ids if i in rows) if selection else ()

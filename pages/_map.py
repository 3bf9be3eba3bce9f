"""The map of the tools: where they lie before and after merging, and what to say of a group."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages import _decisions, _drawer, _selection, _ui
from pages._picture import ROWS, picture
from toolscope_core.datamodel import Decision, digest
from toolscope_core.errors import JobError
from toolscope_core.figures import maps as figures
from toolscope_core.figures import tables
from toolscope_core.figures.views import ToolMap
from toolscope_core.workspace.collisions import CLUSTERS, SERVERS
from toolscope_core.workspace.listing import ToolRow
from toolscope_core.workspace.maps import METHODS, SILHOUETTES, STATES, UNASKED, Method
from toolscope_core.workspace.toolsets import MOST_APART, MOST_ON_A_CARD

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
    maps = _ui.workspace().maps
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    method = bar.segmented_control(
        "Map by", METHODS, default=METHODS[0], required=True, key="method", bind="query-params",
    )  # fmt: skip
    by = bar.selectbox(
        "Colour", maps.colours(catalog_id), key="colour", bind="query-params", width=220,
        format_func=lambda name: COLOURS.get(name, f"field “{name}”"),
    )  # fmt: skip
    few = _ui.current().tools <= figures.MANY
    beside = bar.toggle("Merged beside it", few, key="beside", bind="query-params")
    labels = bar.toggle("Words", True, key="words", bind="query-params")
    contours = bar.toggle("Contours", key="contours", bind="query-params")
    shown = _projected(catalog_id, method)
    drawn = maps.drawn(catalog_id, shown, by, beside)
    st.caption(_about(catalog_id, shown, beside))
    picked = _rows(catalog_id)
    dimmed = 0.0 if _selection.only() else figures.DIMMED
    key = f"map_{catalog_id}"
    picture(
        figures.tool_map(drawn, picked, contours, labels, dimmed), partial(tables.map_rows, drawn),
        key, "Map of the tools", on_select=lambda: _select(catalog_id, drawn, key),
        selection_mode=("box", "lasso"),
    )  # fmt: skip
    _selected(catalog_id)
    _silhouettes(catalog_id)


def _about(catalog_id: int, shown: Method, beside: bool) -> str:
    said = f"{ABOUT[shown]} Words tell the tools of a crowded place from the rest."
    if beside:
        count = _ui.workspace().maps.rewritten(catalog_id)
        said += (
            " *Merged* is the toolset with what people accepted and what is safe to accept. A "
            "merged tool is larger and stands where its canonical stood"
        )
        said += f", though {count:,} have another text now." if count else "."
    return said


def _projected(catalog_id: int, method: Method) -> Method:
    """The method that can be shown now; starts the wanted one, once, and says how far it is."""
    maps = _ui.workspace().maps
    if refused := maps.refusal(catalog_id, method):
        st.info(refused, icon=":material/block:")
        return "PCA"
    if maps.points(catalog_id, method) is not None:
        return method
    seconds = maps.seconds(catalog_id, method)
    job = maps.job(catalog_id, method)
    asked = f"Compute {method} (about {seconds:,} s, an estimate)"
    if job is not None and not job.live and job.state != "done":
        _ui.show_error(JobError(job.message))
        if not st.button(asked, icon=":material/replay:", key="project"):
            return "PCA"
    elif _ui.current().tools > UNASKED and not (job is not None and job.live):
        st.info("Principal components are shown until then.", icon=":material/scatter_plot:")
        if not st.button(asked, icon=":material/play_arrow:", key="project"):
            return "PCA"
    st.info(
        f"{method} is being computed, about {seconds:,} s by estimate; principal components are "
        "shown until then.",
        icon=":material/hourglass_empty:",
    )
    _ui.job_panel(maps.start(catalog_id, method))
    return "PCA"


def _rows(catalog_id: int) -> list[int]:
    """The selected tools as rows of the catalog."""
    chosen = _selection.selected(catalog_id)
    rows = _ui.analysis().rows
    return [rows[i] for i in chosen.tool_ids if i in rows] if chosen else []


def _select(catalog_id: int, drawn: ToolMap, key: str) -> None:
    """What was drawn round becomes the selection. That a redrawn figure has none is no wish."""
    points = st.session_state[key]["selection"]["points"]
    if points:
        tools = _ui.analysis().catalog.tools
        ids = (tools[row].id for row in figures.chosen(drawn, points))
        _selection.select(catalog_id, ids, "the map")


def _selected(catalog_id: int) -> None:
    """The selected tools, and what to say of them."""
    _decisions.notice()
    chosen = _selection.selected(catalog_id)
    if chosen is None:
        st.caption("Draw round tools with the lasso, or a box, to select them.")
        return
    rows = [row for row in _ui.workspace().explore.tools(catalog_id) if row.id in chosen.tool_ids]
    st.markdown(f"**{len(rows):,} {'tool' if len(rows) == 1 else 'tools'} selected**")
    if len(rows) > ROWS:
        st.caption(f"The first {ROWS:,} are listed.")
    key = f"chosen_{digest(sorted(chosen.tool_ids))[:12]}"
    state = st.dataframe(
        rows[:ROWS],
        key=key,
        on_select="rerun",
        selection_mode="multi-row",
        hide_index=True,
        height=min(320, 38 + 35 * len(rows)),
        column_order=("name", "server", "description", "tokens", "findings"),
        alt="The selected tools",
    )
    ticked = [rows[at] for at in state["selection"]["rows"] if at < len(rows)]
    _buttons(catalog_id, ticked or rows, bool(ticked))


def _buttons(catalog_id: int, rows: list[ToolRow], ticked: bool) -> None:
    sets, ids = _ui.workspace().toolsets, tuple(row.id for row in rows)
    version = sets.version(catalog_id, ids) if len(ids) <= MOST_APART else ""
    which = f"the {len(ids):,} ticked" if ticked else f"all {len(ids):,}"
    card = sets.card(catalog_id, ids) if 1 < len(ids) <= MOST_ON_A_CARD else None
    with st.container(horizontal=True, vertical_alignment="center"):
        if card is not None:
            st.page_link(
                "pages/review.py",
                label="Open their card",
                icon=":material/rule:",
                query_params={"cluster": card.id},
            )
        else:
            st.button(
                f"Propose {which} as a cluster",
                icon=":material/outbox:",
                key=f"propose_{version[:12]}",
                disabled=len(ids) < 2,
                help="Makes a card of them, which a person accepts or rejects. Merges nothing.",
                on_click=_say,
                args=(catalog_id, ids, version, "propose"),
            )
        st.button(
            f"Never merge {which}",
            icon=":material/block:",
            key=f"never_{version[:12]}",
            disabled=len(ids) < 2,
            help="Keeps each apart from each, whatever the judge says, until somebody undoes it.",
            on_click=_say,
            args=(catalog_id, ids, version, "reject"),
        )
        if len(ids) == 1:
            _drawer.open_button(_ui.analysis().catalog.by_id[ids[0]], "map")
        st.caption("Tick rows to mean only those.", width="content")


def _say(catalog_id: int, ids: tuple[str, ...], version: str, action: str) -> None:
    sets, made = _ui.workspace().toolsets, list[Decision]()
    does = sets.never_merge if action == "reject" else sets.send_to_review
    said = f"{_decisions.DONE[action]}: {len(ids):,} tools"
    st.session_state.pop("batch", None)
    if _decisions.attempt(
        lambda: made.append(does(catalog_id, ids, version, _ui.reviewer())), said
    ):
        st.session_state["batch"] = tuple(decision.seq for decision in made)


def _silhouettes(catalog_id: int) -> None:
    """How tightly tools cluster, before and after merging."""
    maps = _ui.workspace().maps
    st.subheader("How tightly the tools cluster", anchor=False)
    view = maps.silhouettes(catalog_id)
    if view is None:
        _measure(catalog_id)
        return
    if not view.counts:
        st.caption("There are too few tools to cluster.")
        return
    st.markdown(view.reading)
    rows = partial(tables.silhouette_rows, view)
    picture(figures.silhouettes(view), rows, "silhouettes", "Silhouettes")
    st.caption(
        "k-means on all dimensions, seeded; silhouettes by cosine distance, exact, of all tools. "
        "The score says how tight and separate clusters are, not whether tools are redundant: a "
        "tidy catalog of distinct families scores high too, and taking out any copies lowers it, "
        "rightly merged or not. Compare only the same number of clusters under the same model; "
        "near one cluster for two tools it mostly counts close pairs."
    )


def _measure(catalog_id: int) -> None:
    maps = _ui.workspace().maps
    job = maps.job(catalog_id, SILHOUETTES)
    if job is not None and job.live:
        _ui.job_panel(job.id)
        return
    if job is not None and not job.live and job.state != "done":
        _ui.show_error(JobError(job.message))
    seconds = maps.silhouette_seconds(catalog_id)
    st.button(
        f"Measure before and after merging (about {seconds:,} s, an estimate)",
        icon=":material/play_arrow:",
        key="silhouette",
        on_click=maps.start_silhouettes,
        args=(catalog_id,),
    )

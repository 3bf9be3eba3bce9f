"""How tightly the tools cluster, before and after merging."""

from __future__ import annotations

from functools import partial

import streamlit as st

from toolscope_core.model.errors import JobError
from ui.overlap import map_charts as figures
from ui.overlap.figures import silhouette_rows
from ui.overlap.maps import SILHOUETTES, Maps
from ui.shared import page_frame, safe_text
from ui.shared.charts.pictures import picture


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

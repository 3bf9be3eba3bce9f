"""The collision curve: how many pairs are how close, before and after the merge."""

from dataclasses import replace

import streamlit as st

from ui.overlap import curve_charts, curves, variant_figures
from ui.overlap.figures import Curve, curve_rows
from ui.overlap.maps import Method
from ui.shared import page_frame
from ui.shared.charts.pictures import picture
from ui.shared.snapshot import Snapshot


def merge_curve(snapshot: Snapshot, similarity: float) -> None:
    """The curve of the toolset with and without the merge, the threshold ``similarity`` marked;
    while pairs are being counted, the progress.
    """
    view = replace(curves.curve(snapshot), floor=similarity)
    if view.waiting:
        page_frame.job_started_once(
            snapshot.job(curves.KIND),
            lambda: curves.start(snapshot),
            f"Counting all pairs of the {' and the '.join(view.waiting)} toolset. This takes a few "
            "seconds, once.",
            "count",
        )
    if view.variants:
        st.markdown(
            "**How many pairs of tools are how close?** All pairs are counted; *merged* is the "
            "toolset with what is accepted and what is safe to merge. Pairs at "
            f"{curve_charts.CRITICAL:.2f} or more are hard to tell apart for any semantic search."
        )
        _drawn(view, "Collision curve")


def variant_curve(snapshot: Snapshot) -> None:
    """The curve of the document variants; while they are embedded, the progress."""
    view = variant_figures.curve(snapshot)
    if view is None or view.waiting:
        variant_job(snapshot)
        return
    st.markdown(
        "**Do the document variants set the tools apart?** *Own text* is the description with the "
        "arguments; *with variants* reads the accepted expanded descriptions and questions too; "
        "*with random words* is as long as that and says nothing more: what length alone does."
    )
    _drawn(view, "Collision curve of the document variants")


def variant_job(snapshot: Snapshot, method: Method = "PCA") -> None:
    """Start the embedding, counting and projecting of the variants once; after a failure only when
    asked.
    """
    page_frame.job_started_once(
        snapshot.job(variant_figures.kind_of(method)),
        lambda: variant_figures.start(snapshot, method),
        "Embedding the tools with their variants and with random words, once.",
        "variant_figures",
    )


def _drawn(view: Curve, title: str) -> None:
    key = title.lower().replace(" ", "_")
    picture(curve_charts.collision_curve(view), lambda: curve_rows(view), key, title)

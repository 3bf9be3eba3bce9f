"""The collision curve: how many pairs are how close, before and after the merge."""

from __future__ import annotations

import streamlit as st

from ui.overlap import curve_charts
from ui.overlap.curves import Curves
from ui.overlap.figures import Curve, curve_rows
from ui.overlap.maps import Method
from ui.overlap.variant_figures import VariantFigures
from ui.shared import page_frame
from ui.shared.charts.pictures import picture

MARKS = (0.70, 0.80, 0.85, 0.90, 0.95)


MERGE, VARIANTS = "the merge", "document variants"
ABOUT_VARIANTS = (
    "Exact counts over all pairs of what a search compares. *Own text* is the description with the "
    "arguments; *with variants* reads the accepted expanded descriptions and questions too; *with "
    "random words* is as long as that and says nothing more, so it shows what length alone does. "
    f"Pairs at {curve_charts.CRITICAL:.2f} or more are hard to tell apart."
)


def curve_panel(catalog_id: int) -> None:
    """The curve of the merge or of the document variants, by choice where there are some."""
    if not page_frame.service(VariantFigures).has_any(catalog_id):
        _merge_curve(catalog_id)
        return
    of = st.segmented_control(
        "Effect of", [MERGE, VARIANTS], default=MERGE, required=True, key="effect",
        bind="query-params",
    )  # fmt: skip
    if of == MERGE:
        _merge_curve(catalog_id)
    else:
        _variant_curve(catalog_id)


def _variant_curve(catalog_id: int) -> None:
    view = page_frame.service(VariantFigures).curve(catalog_id)
    if view is None or view.waiting:
        variant_job(catalog_id)
        return
    st.caption(ABOUT_VARIANTS)
    _drawn(view, "Collision curve of the document variants")


def variant_job(catalog_id: int, method: Method = "PCA") -> None:
    """Start the embedding, counting and projecting of the variants once; after a failure only when
    asked.
    """
    work = page_frame.service(VariantFigures)
    page_frame.job_started_once(
        work.job(catalog_id),
        lambda: work.start(catalog_id, method),
        "Embedding the tools with their variants and with random words, once.",
        "variant_figures",
    )


def _merge_curve(catalog_id: int) -> None:
    """The curve with its table; while pairs are being counted, the progress."""
    view = page_frame.service(Curves).curve(catalog_id)
    if view.waiting:
        _counting(catalog_id, view)
    if not view.variants:
        return
    st.caption(
        "Exact counts over all pairs of tools. *Merged* is the toolset with accepted and safe "
        f"merges. Pairs at {curve_charts.CRITICAL:.2f} or more are hard to tell apart for any "
        "semantic search."
    )
    _drawn(view, "Collision curve")


def _drawn(view: Curve, title: str) -> None:
    rows = curve_rows(view)
    marked = [row for row in rows if row["from"] in MARKS]
    st.dataframe(
        marked,
        hide_index=True,
        column_config={"from": "similarity ≥"},
        alt="Pairs at five similarity thresholds",
    )
    picture(curve_charts.collision_curve(view), lambda: rows, "curve", title)


def _counting(catalog_id: int, view: Curve) -> None:
    """Start the counting once; after a failure only when asked."""
    work, waiting = page_frame.service(Curves), " and the ".join(view.waiting)
    page_frame.job_started_once(
        work.job(catalog_id),
        lambda: work.start(catalog_id),
        f"Counting all pairs of the {waiting} toolset. This takes a few seconds, once.",
        "count",
    )

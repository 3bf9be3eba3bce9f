"""The collision curve: the number of pairs at each similarity, before and after the merge."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from ui.overlap import curves, variant_figures
from ui.overlap.collisions import Curve, curve_rows
from ui.overlap.maps import Method
from ui.shared import page_frame, pictures
from ui.shared.snapshot import Snapshot


def merge_curve(snapshot: Snapshot, similarity: float) -> None:
    """Draw the curve of the toolset with and without the merge, and mark the threshold
    ``similarity``.

    While pairs are being counted, the progress is drawn.
    """
    view = replace(curves.curve(snapshot), floor=similarity)
    if view.uncounted:
        page_frame.job_started_once(
            snapshot.job(curves.KIND),
            lambda: curves.start(snapshot),
            f"Counting all pairs in the {' and the '.join(view.uncounted)} toolset. This takes a "
            "few seconds, only once.",
            "count",
        )
    if view.variants:
        st.markdown(
            "**How similar are the pairs of tools?** All pairs are counted; *merged* is the "
            f"toolset with accepted and safe merges. Pairs at {CRITICAL:.2f} or more are hard "
            "to tell apart for any semantic search."
        )
        _curve_chart(view, "Collision curve")


def variant_curve(snapshot: Snapshot) -> None:
    """Draw the curve of the document variants. While the variants are embedded, the progress is
    drawn.
    """
    view = variant_figures.curve(snapshot)
    if view is None or view.uncounted:
        variant_job(snapshot)
        return
    st.markdown(
        "**Do the document variants set the tools apart?** *Own text* is the description with "
        "the arguments; *with variants* also reads the accepted expanded descriptions and "
        "questions; *with random words* is padded to the same length, so it shows what length "
        "alone does."
    )
    _curve_chart(view, "Collision curve of the document variants")


def variant_job(snapshot: Snapshot, method: Method = "PCA") -> None:
    """Start embedding, counting and projecting the variants, but only once. After a failure, the
    work starts only on request.
    """
    page_frame.job_started_once(
        snapshot.job(variant_figures.kind_of(method)),
        lambda: variant_figures.start(snapshot, method),
        "Embedding the tools with their variants and with random words, only once.",
        "variant_figures",
    )


def _curve_chart(view: Curve, title: str) -> None:
    key = title.lower().replace(" ", "_")
    pictures.picture(collision_curve(view), lambda: curve_rows(view), key, title)


CRITICAL = 0.85
"""The cosine above which a retriever can hardly distinguish two tools (the marked zone in RPS, Fig.
4).
"""

ZONE = "rgba(230,159,0,0.16)"
LOOKS = (("circle", "solid"), ("diamond", "dash"), ("square", "dot"))


def collision_curve(view: Curve) -> go.Figure:
    """The number of pairs at or above each threshold, on a log scale. Below it is the change for
    each further variant.

    The critical zone and the threshold are marked. The log scale leaves out thresholds without
    pairs.
    """
    changes = [_change(view, place) for place in range(1, len(view.variants))]
    figure = pictures.figure(
        [*(_pairs(view, place) for place in range(len(view.variants))), *changes],
        height=540 if changes else 400,
    )
    lower = 0.34 if changes else 0.0
    figure.update_layout(
        yaxis={
            "type": "log",
            "title": "pairs of tools",
            "domain": [lower, 1.0],
            "dtick": 1,
            "tickformat": ",",
        },
        xaxis={"title": "similarity (cosine) of at least", "anchor": "y2" if changes else "y"},
        legend={"orientation": "h", "y": -0.16 if changes else -0.2, "yanchor": "top"},
        margin={"b": 72},
    )
    if changes:
        scale = {"title": "change", "domain": [0.0, 0.26], "tickformat": "+.0%"}
        margin = 0.05 + max(abs(y) for line in changes for y in [*line.y, 0.0] if y is not None)
        figure.update_layout(yaxis2={**pictures.AXIS, **scale, "range": [-margin, margin]})
    _mark(figure, view)
    return figure


def _pairs(view: Curve, place: int) -> go.Scatter:
    variant = view.variants[place]
    pairs = variant.pairs.astype(np.float64)
    symbol, dash = LOOKS[place % len(LOOKS)]
    return go.Scatter(
        x=list(view.thresholds),
        y=pictures.rounded(np.where(pairs > 0, pairs, np.nan)),
        name=f"{pictures.label(variant.name)}, {variant.tools:,} tools",
        mode="lines+markers",
        line={"color": pictures.PALETTE[place % len(pictures.PALETTE)], "dash": dash, "width": 2},
        marker={"symbol": symbol, "size": 5},
        hovertemplate="%{y:,} pairs at %{x:.2f} or more<extra>%{fullData.name}</extra>",
    )


def _change(view: Curve, place: int) -> go.Scatter:
    variant = view.variants[place]
    return go.Scatter(
        x=list(view.thresholds),
        y=pictures.rounded(view.change(variant)),
        name=f"change, {pictures.label(variant.name)}",
        mode="lines",
        line={"color": pictures.PALETTE[place % len(pictures.PALETTE)], "width": 2},
        fill="tozeroy",
        yaxis="y2",
        showlegend=False,
        hovertemplate="%{y:+.1%} from %{x:.2f} on<extra></extra>",
    )


def _mark(figure: go.Figure, view: Curve) -> None:
    zone = {"x0": CRITICAL, "x1": view.thresholds[-1], "y0": 0, "y1": 1, "yref": "paper"}
    figure.add_shape(type="rect", **zone, fillcolor=ZONE, line={"width": 0}, layer="below")
    floor = {"x0": view.floor, "x1": view.floor, "y0": 0, "y1": 1, "yref": "paper"}
    figure.add_shape(type="line", **floor, line={"dash": "dash", "color": pictures.GREY})
    threshold = (view.floor, 1, f"threshold {view.floor:.2f}")
    for at, up, text in (threshold, (CRITICAL, 0.95, "critical zone")):
        place = {"x": at, "y": up, "yref": "paper", "xanchor": "left", "yanchor": "top"}
        figure.add_annotation(text=text, showarrow=False, **place)

"""Before and after one change: the requests that it wins and loses, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from toolscope_core.evaluation.change_effects import ToolsetChange
from toolscope_core.evaluation.intervals import effect_text, rate_text
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from ui.shared import page_frame, safe_text
from ui.shared.services.measured_changes import MeasuredChanges

ABOUT = (
    "A request is right where no tool that it does not need stands above one that it needs. "
    "Searched are the requests of all query sets, in the catalog as it is and with this change "
    "alone. *p* is exact (McNemar). Where many changes are tried, some seem to help by chance: "
    "Holm's correction counts them all."
)


def merge_effect(catalog_id: int, cluster: Cluster) -> None:
    """What the merge of a cluster does, as one of those in the plan."""
    merges = len(page_frame.workspace().review.plan(catalog_id).clusters)
    change = page_frame.service(MeasuredChanges).merge(catalog_id, cluster)
    change_effect(catalog_id, change, merges)


def rewrite_effect(
    catalog_id: int, pair: Pair, descriptions: Mapping[str, str], pairs: int
) -> None:
    """What other descriptions of two tools do, as one of so many pairs."""
    change = page_frame.service(MeasuredChanges).rewrite(catalog_id, pair, descriptions)
    change_effect(catalog_id, change, pairs)


def change_effect(catalog_id: int, change: ToolsetChange, changes: int) -> None:
    """What a change does, one of so many that are tried; measured first where that is not done."""
    work = page_frame.service(MeasuredChanges)
    effect = work.effect(catalog_id, change)
    if effect is None:
        page_frame.job_started_once(
            work.job(catalog_id),
            lambda: work.start(catalog_id, change),
            "Measuring: requests before and after this change.",
            "measure_change",
        )
        return
    won, lost = len(effect.won), len(effect.lost)
    joined = f"; {effect.joined:,} of them need two of these tools" if effect.joined else ""
    st.markdown(
        f":material/query_stats: Before and after, {quantity(effect.touched, 'request')} with these"
        f" tools: **{won:,} won, {lost:,} lost**; {effect_text(won, lost, changes)}{joined}.",
        help=ABOUT,
    )
    if effect.touched:
        before, after = (
            rate_text(n, effect.touched) for n in (effect.right, effect.right + effect.gain)
        )
        st.caption(f"Requests that are right: {safe_text.untrusted(f'{before} → {after}')}")
    if won or lost:
        with st.expander("Requests won and lost"):
            st.dataframe(
                [*_rows("won", effect.won), *_rows("lost", effect.lost)],
                hide_index=True,
                alt="Requests that this change wins and loses",
            )


def _rows(outcome: str, queries: Sequence[Query]) -> list[dict[str, str]]:
    return [
        {
            "": outcome,
            "request": one.text,
            "needs": ", ".join(" or ".join(sorted(need)) for need in one.gold),
        }
        for one in queries
    ]

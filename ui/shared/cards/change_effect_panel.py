"""Before and after one change: the requests that it wins and loses, and how sure that is."""

from collections.abc import Mapping, Sequence

import streamlit as st

from toolscope_core.evaluation.change_effects import ToolsetChange
from toolscope_core.evaluation.intervals import effect_text, rate_text
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from ui.shared import data_tables, safe_text
from ui.shared.services import measured_changes
from ui.shared.snapshot import Snapshot

AHEAD = 4
"""Proposals that are measured together: the one on the card and those that come next."""
LOOK_AGAIN = "2s"
ABOUT = (
    "A request is right where no tool that it does not need stands above one that it needs. "
    "Searched are the requests of all query sets, in the catalog as it is and with this change "
    "alone. *p* is exact (McNemar). Where many changes are tried, some seem to help by chance: "
    "Holm's correction counts them all."
)


def merge_effect(snapshot: Snapshot, clusters: Sequence[Cluster]) -> None:
    """What the merge of the first of some clusters does, as one of those in the plan; the others
    are measured after it, since they are looked at next.
    """
    merges = len(snapshot.plan.clusters)
    _shown(snapshot, [measured_changes.merge(snapshot, one) for one in clusters[:AHEAD]], merges)


def rewrite_effect(
    snapshot: Snapshot, pair: Pair, descriptions: Mapping[str, str], pairs: int
) -> None:
    """What other descriptions of two tools do, as one of so many pairs."""
    change = measured_changes.rewrite(snapshot, pair, descriptions)
    _shown(snapshot, [change], pairs)


def _shown(snapshot: Snapshot, wanted: Sequence[ToolsetChange], changes: int) -> None:
    """Draw the first of the changes that are wanted; until it is measured only this looks again, as
    the keys of a page rest while all of it is drawn.
    """
    is_measured = measured_changes.effect(snapshot, wanted[0]) is not None
    st.fragment(_effect, run_every=None if is_measured else LOOK_AGAIN)(snapshot, wanted, changes)


def _effect(snapshot: Snapshot, wanted: Sequence[ToolsetChange], changes: int) -> None:
    """What a change does, one of so many that are tried; measured first where that is not done."""
    effect = measured_changes.effect(snapshot, wanted[0])
    job = snapshot.job(measured_changes.KIND)
    is_failed = job is not None and not job.live and job.state != "done"
    if effect is None and job is not None and is_failed:
        safe_text.show_error(JobError(job.message))
        if not st.button("Retry", icon=":material/replay:", key="measure_change"):
            return
    if effect is None or not (is_failed or measured_changes.are_measured(snapshot, wanted)):
        measured_changes.start(snapshot, wanted)
    if effect is None:
        st.caption(":material/hourglass_empty: Before and after this change: being measured.")
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
            data_tables.draw(
                [*_rows("won", effect.won), *_rows("lost", effect.lost)],
                "Requests that this change wins and loses",
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

"""Many proposals decided at once: safe ones, or those above a bar.

The panel has a table with ticks, and audits of earlier batches.
"""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest
from ui.review import queue_panel
from ui.review.queue_panel import Listing
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.cards.batches import (
    Batch,
    BatchAudit,
    BatchSelection,
    audit_of,
    batches,
    is_untouched,
    sample_size,
    select_batch,
)
from ui.shared.cards.queue import REASON_KINDS, all_members, is_safe
from ui.shared.data_tables import Column
from ui.shared.services import review, toolsets
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts

VIEW = "By merge"
"""The name of this view of the queue."""
SAFE, BAR = "Safe merges", "By weakest pair"
"""The two choices of what is ticked at first."""
ACCEPTABLE = ("Weak pair or chain", "Proposed by a person")
"""The objections that a batch ignores by default."""

_ALL = queue_panel.SHOWN[0]
"""The list of all proposals that wait."""

WIDTHS = {0.05: "± 5 %", 0.1: "± 10 %", 0.15: "± 15 %"}

TABLE_HEIGHT, REASONS_SHOWN = 560, 3


def bulk_panel(snapshot: Snapshot, listing: Listing) -> None:
    """Draw the filtered proposals with those above the bar ticked, the actions on the ticked ones,
    and the audits.
    """
    decision_buttons.notice(snapshot)
    if not listing.clusters:
        waiting_count = review.progress(snapshot).waiting
        queue_panel.nothing_listed(snapshot, listing, waiting_count)
    elif listing.show not in queue_panel.SETTLED:
        _waiting(snapshot, listing)
    else:
        _settled(snapshot, listing)
    _audits(snapshot)
    decision_trail.trail(snapshot)


def show_safe() -> None:
    """Show all safe merges, ticked. Call it before the queue is drawn."""
    queue_panel.clear_filters()
    st.session_state.update(show=_ALL, queue_view=VIEW, bulk_tick=SAFE)


def _waiting(snapshot: Snapshot, listing: Listing) -> None:
    larger = review.larger_gateways(snapshot)
    plain = [one for one in listing.clusters if one.id not in larger]
    tick = st.segmented_control(
        "Preselect", [BAR, SAFE], default=BAR, required=True, key="bulk_tick",
        persist_state="session",
    )  # fmt: skip
    if tick == SAFE:
        st.markdown(decision_buttons.safe_in_words(snapshot))
        at_first = tuple(filter(is_safe, plain))
        safe = review.safe(snapshot).clusters
        show = "" if listing.show == _ALL else listing.show
        queue_panel.say_narrowed(snapshot, len(at_first), len(safe), "safe merge", show, show_safe)
    else:
        at_first = _above_the_bar(plain)
        queue_panel.say_narrowed(snapshot, len(listing.clusters), listing.total, "merge")
    if left := len(listing.clusters) - len(plain):
        st.caption(
            f"Not listed: {quantity(left, 'merge')} that would need a gateway and give agents "
            "more to read. To see them one by one, choose *Larger than its tools* in *Filter*."
        )
    ticked_ids = {one.id for one in at_first}
    clusters = [one for one in plain if is_untouched(one)]
    clusters.sort(key=lambda one: one.id not in ticked_ids)  # ticked ones must be in sight
    if clusters:
        _table_with_buttons(snapshot, listing, clusters, at_first)


def _above_the_bar(clusters: Sequence[Cluster]) -> tuple[Cluster, ...]:
    """Draw the bar. Returns the merges above it."""
    bar, choice = st.columns([4, 8], gap="medium")
    at_least = bar.slider(
        "Tick a merge if its weakest pair is at least", 0.0, 1.0, 0.9, 0.01, key="bulk_at",
        persist_state="session",
    )  # fmt: skip
    without = choice.pills(
        "and none of these reasons speaks against it", list(REASON_KINDS), selection_mode="multi",
        default=[kind for kind in REASON_KINDS if kind not in ACCEPTABLE], key="bulk_without",
        persist_state="session",
    )  # fmt: skip
    rows = select_batch(clusters, at_least, without)
    st.markdown(_in_words(clusters, rows))
    return rows.clusters


def _in_words(clusters: Sequence[Cluster], rows: BatchSelection) -> str:
    """How many merges are above the bar, and how many are not, with the reasons."""
    text = f"Ticked: **{len(rows.clusters):,}** of {quantity(len(clusters), 'cluster')}"
    if rows.clusters:
        text += f": {quantity(rows.tools, 'tool')} become {len(rows.clusters):,}"
    left_out = "; ".join(f"{count:,} ({why[0].lower()}{why[1:]})" for why, count in rows.left_out)
    return f"{text}. Not ticked: {left_out or 'none'}."


def _table(
    snapshot: Snapshot,
    listing: Listing,
    clusters: Sequence[Cluster],
    at_first: Sequence[Cluster],
    key: str,
) -> list[Cluster]:
    """Draw the rows of the queue with their tools and objections. Returns the ticked clusters.

    At first, ``at_first`` are ticked.
    """
    columns = [one for one in queue_panel.columns(snapshot, listing) if one.name != "tools"]
    first = {one.id for one in at_first}
    versions = [one.version for one in clusters]
    return data_tables.ticked_rows(
        clusters,
        [
            *columns,
            Column("tools", lambda one: ", ".join(all_members(one)), width=260),
            Column(
                "reasons against it",
                lambda one: "; ".join(one.reasons[:REASONS_SHOWN]).replace("`", ""),
            ),
        ],
        "Clusters to decide on at once",
        most=TABLE_HEIGHT,
        key=f"{key}_{digest(versions, sorted(first))[:12]}",
        at_first=[at for at, one in enumerate(clusters) if one.id in first],
    )


def _table_with_buttons(
    snapshot: Snapshot, listing: Listing, clusters: Sequence[Cluster], at_first: Sequence[Cluster]
) -> None:
    rows = _table(snapshot, listing, clusters, at_first, "bulk_rows")
    which = data_tables.which_in_words(len(rows), len(clusters))
    key = digest([one.version for one in rows])[:12]
    with st.container(horizontal=True, vertical_alignment="center"):
        for name, label, action in (
            ("accept", f"Accept {which}", "accept"),
            ("keep_apart", f"Keep {which} apart", "keep_apart"),
            ("propose", f"Send {which} to review", "propose"),
        ):
            st.button(
                label,
                key=f"bulk_{name}_{key}",
                type="primary" if name == "accept" else "secondary",
                disabled=not rows,
                help="No accept policy includes merges sent to review; they wait for you."
                if name == "propose"
                else None,
                on_click=decision_buttons.decide_all,
                args=(snapshot, rows, action),
            )
        st.caption(
            "Only ticked rows are decided. A single undo reverts all of them.", width="content"
        )
        if len(rows) == 1:
            page_frame.page_link("review", "Open its card", cluster=rows[0].id)


def _settled(snapshot: Snapshot, listing: Listing) -> None:
    """Draw the clusters that were accepted or kept apart, with a button that
    undoes the decisions.
    """
    queue_panel.say_narrowed(snapshot, len(listing.clusters), listing.total, "merge")
    decided_clusters = review.clusters(snapshot, queue_panel.SETTLED[listing.show])
    by_id = {one.cluster.id: one.decision for one in decided_clusters}
    rows = _table(snapshot, listing, listing.clusters, listing.clusters, "bulk_settled")
    settling = [by_id[one.id] for one in rows]
    seqs = tuple(sorted({one.seq for one in settling if one is not None}))
    which = data_tables.which_in_words(len(rows), len(listing.clusters))
    st.button(
        f"Send {which} back to review", key=f"bulk_back_{digest(seqs)[:12]}", disabled=not seqs,
        on_click=decision_buttons.undo, args=(snapshot, seqs,),
        help="Undoes the decisions, newest first; they stay in the history.",
    )  # fmt: skip


def _audits(snapshot: Snapshot) -> None:
    """Draw the active batches, and a sample to check from the chosen batch."""
    decisions = review.active_decisions(snapshot)[::-1]
    accepts = [batch for batch in batches(decisions) if batch.action == "accept"]
    if not accepts:
        return
    with st.expander(
        f"Audit a batch ({len(accepts):,})", icon=":material/fact_check:", expanded=True
    ):
        names = {batch.key: _batch_in_words(batch) for batch in accepts}
        with st.container(horizontal=True, vertical_alignment="bottom"):
            key = st.selectbox(
                "Batch", list(names), key="audit_batch", format_func=lambda one: names.get(one, one)
            )
            width = st.segmented_control(
                "Interval", list(WIDTHS), default=0.1, required=True, key="audit_width",
                format_func=lambda one: WIDTHS.get(one, str(one)), persist_state="session",
                help="How wide the 95 % interval from the sample may be, if about nine in ten are "
                "right.",
            )  # fmt: skip
        batch = next(one for one in accepts if one.key == key)
        flags = [one for one in decisions if one.action == "flag"]
        size = sample_size(len(batch.decisions), width)
        _audit(snapshot, batch, audit_of(batch, size, flags), flags)


def _batch_in_words(batch: Batch) -> str:
    when = f"{batch.reviewer}, {safe_text.clock(batch.at)}"
    return f"{quantity(len(batch.decisions), 'merge')} accepted at once ({when})"


def _audit(snapshot: Snapshot, batch: Batch, audit: BatchAudit, flags: Sequence[Decision]) -> None:
    """Draw the next decision of the sample, the results so far, and the button that undoes the
    batch.
    """
    answer_count = len(audit.answers)
    st.progress(
        min(answer_count / len(audit.sample), 1.0),
        f"{answer_count:,} of {len(audit.sample):,} reviewed, drawn at random from "
        f"{len(batch.decisions):,}",
    )
    if answer_count:
        st.markdown(
            f"**{audit.wrong:,} of {answer_count:,} wrong**: about {audit.share:.2f} "
            f"[{audit.low:.2f}, {audit.high:.2f}] of the whole batch are right."
        )
    unanswered = [one for one in audit.sample if one.seq not in audit.answers]
    if unanswered:
        _question(snapshot, unanswered[0])
    with st.container(horizontal=True):
        st.button(
            f"Undo the batch ({len(batch.decisions):,})", key=f"audit_undo_{batch.key}",
            on_click=decision_buttons.undo, args=(snapshot, batch.seqs,),
        )  # fmt: skip
        last = next(
            (one for one in flags[::-1] if one.detail.get("audited") in audit.answers), None
        )
        if last is not None:
            st.button(
                "Undo the last answer", key=f"audit_back_{last.seq}",
                on_click=decision_buttons.undo, args=(snapshot, (last.seq,),),
            )  # fmt: skip


def _question(snapshot: Snapshot, decision: Decision) -> None:
    """Draw one merge of the sample, with both answers."""
    tools = snapshot.analysis.catalog.by_id
    for tool in (tools[one] for one in decision.ids if one in tools):
        st.markdown(tool_parts.bullet(tool))
    with st.container(horizontal=True, vertical_alignment="center"):
        for right, label in ((True, "Right"), (False, "Wrong")):
            note = f"Audit of decision {decision.seq}: {label.lower()}"
            decision_buttons.record_button(
                label,
                partial(_answer, snapshot, decision, note, right),
                note,
                key=f"audit_{label.lower()}_{decision.seq}",
            )
        if cluster := review.about(snapshot, decision):
            page_frame.page_link("documents", "Open in full", merge=cluster)


def _answer(snapshot: Snapshot, decision: Decision, note: str, right: bool) -> Decision:
    detail = {"audited": decision.seq, "right": right}
    return toolsets.flag(snapshot, decision.ids, page_frame.reviewer(), note, detail)

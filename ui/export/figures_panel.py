"""What the exported toolset comes to: its figures, and what stays out of it or keeps its form."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.catalog.tokens import KILO, tokenizer
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, safe_text
from ui.shared.cards.queue import cluster_counts
from ui.shared.services.exports import ExportFigures

NAMED = 4


def figures_panel(figures: ExportFigures, unapplied: Sequence[str]) -> None:
    """Tools, tokens, kB and merges, and a notice for each thing that somebody may not expect.
    ``unapplied`` says which edits are not in it.
    """
    plan, size = figures.plan, figures.size
    tokens = f"Tokens per prompt as {size.name} ({tokenizer().label})"
    kilobytes = [round(one.bytes / KILO, 1) for one in (size.before, size.after)]
    rows: tuple[tuple[str, float, float], ...] = (
        ("Tools", len(plan.catalog.tools), len(plan.tools)),
        (tokens, size.before.tokens, size.after.tokens),
        ("kB per prompt", kilobytes[0], kilobytes[1]),
        ("Merges", 0, len(plan.applied)),
    )
    columns = st.columns([2, 3, 2, 2])
    for column, (label, before, after) in zip(columns, rows, strict=True):
        value = f"{before:,} → {after:,}" if before else f"{after:,}"
        change = round(after - before, 1) if before else None
        column.metric(label, value, change, delta_color="inverse")
    if figures.loading:
        eager, deferred = figures.loading
        st.caption(
            f"In every prompt: {eager.tokens:,} tokens of definitions. Left to the client's search:"
            f" {deferred.tokens:,}, of which a prompt holds what the search returned."
        )
    _left_out(figures, unapplied)
    if figures.unreadable:
        rest = len(figures.unreadable) - NAMED
        more = f" And {rest:,} more, listed in README.md." if rest > 0 else ""
        shown = " ".join(map(safe_text.untrusted, figures.unreadable[:NAMED]))
        st.warning(f"{shown}{more}", icon=":material/visibility_off:")
    if figures.hostile:
        st.error(
            "The toolset includes tools that the scan blocks for hidden or hostile text: "
            f"{safe_text.first_few(figures.hostile, NAMED)}. Merge them in Review, or edit them or "
            "leave them out in Documents.",
            icon=":material/gpp_bad:",
        )


def merges_panel(figures: ExportFigures) -> None:
    """The merges, and the descriptions that mention a tool which is gone."""
    st.subheader("Merges", anchor=False)
    plan = figures.plan
    names = {item.tool.id: item.tool.name for item in plan.tools}
    rows = [
        {
            "kept tool": one.canonical,
            "exported name": names[one.canonical],
            "removed tools": [member for member in one.members if member != one.canonical],
            "kind": one.kind,
        }
        for one in plan.applied
    ]
    if rows:
        data_tables.draw(rows, "Merges in the bundle")
    else:
        st.caption("None yet: the toolset is exported unchanged.")
    if plan.dangling:
        title = "Descriptions that mention removed tools"
        st.subheader(title, anchor=False)
        data_tables.draw(plan.dangling, title, {"tool_id": "tool", "now": "renamed to"})


def shared_names_panel(figures: ExportFigures, fix: bool) -> None:
    """The names that tools of several servers have, and what becomes of them."""
    if not figures.shared_names:
        return
    title = "Names that tools of several servers share"
    st.subheader(title, anchor=False)
    if fix:
        st.caption("All tools of such a name are exported with their server's name in front.")
    else:
        st.caption(
            "Turn on *Apply suggested fixes* to put the server's name in front of all of them, or "
            "give them names of your own in Documents."
        )
    names = {"tool_id": "tool", "fixed": "exported name" if fix else "name with the fix"}
    data_tables.draw(figures.shared_names, title, names)


def _left_out(figures: ExportFigures, unapplied: Sequence[str]) -> None:
    """The merges and edits that are not exported, and why."""
    plan, clusters = figures.plan, cluster_counts(figures.plan.clusters)
    if clusters.waiting:
        st.info(
            f"Not merged, as nobody has accepted them: {clusters.waiting_in_words}. What "
            "waits is exported unchanged.",
            icon=":material/hourglass_empty:",
        )
    if figures.withheld:
        merges = quantity(figures.withheld, "merge")
        st.info(f"Not exported, because they need a gateway: {merges}. *Include those* adds them.")
    if plan.removed or plan.edited:
        st.caption(
            f"Left out: {quantity(len(plan.removed), 'tool')}. Edited single tools: "
            f"{len(plan.edited):,}."
        )
    if unapplied:
        st.info(
            f"Edited, but exported in the original form: {safe_text.first_few(unapplied, NAMED)}."
        )

"""The selected tools below the map, and the decisions to take on them."""

from functools import partial

import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.charts.pictures import ROWS
from ui.shared.services import toolsets
from ui.shared.services.toolsets import MOST_APART, MOST_ON_A_CARD
from ui.shared.snapshot import Snapshot
from ui.shared.tools import catalog_tables, tool_parts, tool_selection
from ui.shared.tools.catalog_tables import ToolRow

COLUMNS = ("name", "server", "description", "tokens", "findings")


def selected_panel(snapshot: Snapshot) -> None:
    """The tools as a table; the buttons act on those that are ticked, at first all."""
    decision_buttons.notice(snapshot)
    chosen = tool_selection.selected(snapshot)
    if chosen is None:
        return
    rows = [row for row in catalog_tables.tools(snapshot) if row.id in chosen.tool_ids]
    st.markdown(f"**{len(rows):,} {'tool' if len(rows) == 1 else 'tools'} selected**")
    if len(rows) > ROWS:
        st.caption(f"Showing the first {ROWS:,}.")
    ticked = data_tables.ticked_rows(
        data_tables.columns(rows[:ROWS], COLUMNS),
        "The selected tools",
        most=320,
        key=f"chosen_{digest(sorted(chosen.tool_ids))[:12]}",
    )
    shown = min(len(rows), ROWS)
    _buttons(snapshot, rows if len(ticked) == shown else [rows[row] for row in ticked], len(rows))


def _buttons(snapshot: Snapshot, rows: list[ToolRow], total: int) -> None:
    ids = tuple(row.id for row in rows)
    version = toolsets.version(snapshot, ids) if len(ids) <= MOST_APART else ""
    which = data_tables.which_in_words(len(ids), total)
    card = toolsets.card(snapshot, ids) if 1 < len(ids) <= MOST_ON_A_CARD else None
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
            label, about = f"Propose {which} as a cluster", decision_buttons.PROPOSES
            button("propose", label=label, key=f"propose_{version[:12]}", help=about)
        about = "Keeps all of them apart, whatever the judge says, until the decision is undone."
        button("reject", label=f"Keep apart {which}", key=f"never_{version[:12]}", help=about)
        tool_parts.move_link(snapshot, ids)
        if len(ids) == 1:
            tool_parts.open_button(snapshot.analysis.catalog.by_id[ids[0]], "map")
        st.caption("The buttons act on ticked rows.", width="content")

"""The selected tools below the map, and the decisions to take on them."""

from functools import partial

import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.charts.pictures import ROWS
from ui.shared.services.toolsets import MOST_APART, MOST_ON_A_CARD
from ui.shared.tools import tool_parts, tool_selection
from ui.shared.tools.catalog_tables import CatalogTables, ToolRow

COLUMNS = ("name", "server", "description", "tokens", "findings")


def selected_panel(catalog_id: int) -> None:
    """The tools as a table; the buttons act on those that are ticked, at first all."""
    decision_buttons.notice()
    chosen = tool_selection.selected(catalog_id)
    if chosen is None:
        return
    rows = [
        row
        for row in page_frame.service(CatalogTables).tools(catalog_id)
        if row.id in chosen.tool_ids
    ]
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
    _buttons(catalog_id, rows if len(ticked) == shown else [rows[row] for row in ticked], len(rows))


def _buttons(catalog_id: int, rows: list[ToolRow], total: int) -> None:
    sets, ids = page_frame.workspace().toolsets, tuple(row.id for row in rows)
    version = sets.version(catalog_id, ids) if len(ids) <= MOST_APART else ""
    which = data_tables.which_in_words(len(ids), total)
    card = sets.card(catalog_id, ids) if 1 < len(ids) <= MOST_ON_A_CARD else None
    with st.container(horizontal=True, vertical_alignment="center"):
        button = partial(
            decision_buttons.set_button,
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
        tool_parts.move_link(catalog_id, ids)
        if len(ids) == 1:
            tool_parts.open_button(page_frame.analysis().catalog.by_id[ids[0]], "map")
        st.caption("The buttons act on ticked rows.", width="content")

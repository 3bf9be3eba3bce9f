"""What many places draw of a tool: the button that opens its drawer, its declaration, and its
calls.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import tool_key
from toolscope_core.model.tool import Tool
from toolscope_core.usage.call_counts import tool_count_line
from toolscope_core.wording.tool_text import declared_as
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.data_tables import Column, Row
from ui.shared.services import reshapes, toolsets, usage_evidence
from ui.shared.snapshot import Snapshot

SINGLE = "Single tools"
"""The tab of the Documents page in which any tool can be edited, merged or not."""
LINE_SHOWN = 400
CUT = "cut"
"""The key in an address for the tools to move."""


def open_tool(tool_id: str) -> None:
    """Open the drawer on a tool. Call this in a widget's callback."""
    st.query_params["tool"] = tool_key(tool_id)


def open_button(tool: Tool, place: str) -> None:
    """Draw a button that opens the drawer. ``place`` keeps the widget keys of
    several views apart.
    """
    st.button(
        "Open", key=f"open_{place}_{tool_key(tool.id)}", type="tertiary",
        icon=":material/right_panel_open:", on_click=open_tool, args=(tool.id,),
        help="Shows its definition, similar tools, and decisions.",
    )  # fmt: skip


def owner_badge(tool: Tool) -> None:
    """Show what distinguishes a tool from others with the same name."""
    owner = safe_text.owner(tool.id, tool.name, tool.server)
    st.badge(owner, color="gray", icon=":material/dns:")


def open_tool_column(
    rows: Sequence[Row], tool_id: Callable[[Row], str], key: str, width: int
) -> Column[Row]:
    """A column of buttons. Each button opens the tool of its row."""
    label = ":material/right_panel_open: Open"
    return data_tables.button_column(
        rows, label, lambda row: open_tool(tool_id(row)), key=key, width=width
    )


def bullet(tool: Tool, limit: int = 300) -> str:
    """A tool as a list item, with the beginning of its description. Safe in markdown."""
    owner = safe_text.owner(tool.id, tool.name, tool.server)
    text = safe_text.untrusted(tool.description[:limit])
    return f"- **{safe_text.untrusted(tool.name)}** :gray[{owner}] {text}"


def move_link(snapshot: Snapshot, ids: Sequence[str]) -> None:
    """Draw a link to Review, where these tools can be moved between clusters."""
    home = reshapes.home(snapshot, ids)
    if home is None or len(ids) > reshapes.MOST_TOOLS:
        return
    one_or_more = "this tool" if len(ids) == 1 else "these tools"
    page_frame.page_link(
        "review",
        "Move in Review",
        {"catalog": snapshot.record.name, "cluster": home.id, CUT: " ".join(map(tool_key, ids))},
        icon="move_down",
        about=f"Opens the parts of {safe_text.untrusted(home.document.name)} with {one_or_more} "
        "among them. Accepts nothing.",
    )


def declared_line(tool: Tool) -> None:
    """Draw the tool's declaration in an OpenAPI document, if it says more than the tool's name."""
    if line := operation_line(tool):
        st.caption(f"OpenAPI: {safe_text.untrusted(line)}")


def usage_caption(snapshot: Snapshot, tool: Tool) -> None:
    """Show how often the tool was called, if the catalog has logs."""
    figures = usage_evidence.figures(snapshot)
    if figures.calls:
        st.caption(f":material/call_made: {tool_count_line(figures.of(tool.id))}")


def operation_line(tool: Tool) -> str:
    """The tool's declaration in an OpenAPI document, on one line. Empty if it uses the same words
    as the tool.
    """
    return one_line(declared_as(tool))


def one_line(text: str) -> str:
    """The text on one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_SHOWN else f"{line[: LINE_SHOWN - 1]}…"


def leave_out_panel(snapshot: Snapshot, ids: Sequence[str], place: str) -> None:
    """Draw a button that asks for the reason and leaves the tools out.

    For tools that are already left out, draw who left them out and a button to undo that. ``place``
    keeps the widget keys of several views apart.
    """
    left_out = toolsets.left_out(snapshot)
    decisions = {left_out[tool_id].seq: left_out[tool_id] for tool_id in ids if tool_id in left_out}
    for decision in decisions.values():
        text = f":material/visibility_off: {_in_words(decision)}"
        decision_buttons.undo_line(snapshot, text, decision, f"in_again_{place}")
    staying = tuple(tool_id for tool_id in ids if tool_id not in left_out)
    if not staying:
        return
    label = "Leave out" if len(ids) == 1 else f"Leave out {quantity(len(staying), 'tool')}"
    with st.popover(f"{label}…", icon=":material/visibility_off:", key=f"out_{place}"):
        reason = st.text_input("Reason", key=f"why_{place}", placeholder="never called")
        st.caption(
            "Agents no longer see a tool that is left out, and calls to it have no replacement: "
            "relabelling lists the affected queries. This can be undone."
        )
        decision_buttons.record_button(
            label,
            lambda: toolsets.leave_out(snapshot, staying, page_frame.reviewer(), reason),
            f"Left out: {quantity(len(staying), 'tool')}",
            key=f"leave_{place}",
            type="primary",
            disabled=not reason.strip(),
        )


def _in_words(decision: Decision) -> str:
    """Why tools are left out, and who decided that. Safe in markdown."""
    reason = safe_text.untrusted(str(decision.detail.get("reason", "")))
    return f"Left out: {reason} :gray[({decision_trail.by_whom(decision)})]"

"""What a catalog holds beside its tools: servers, findings, records that could not be read."""

import streamlit as st

from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.model.catalog import Finding
from toolscope_core.model.numbers import quantity
from ui.catalog.implied_panel import implied_panel
from ui.shared import data_tables, safe_text
from ui.shared.snapshot import Snapshot
from ui.shared.tools import catalog_tables, tool_selection
from ui.shared.tools.catalog_tables import (
    finding_kind,
    findings_by_kind,
    ranked_findings,
    rejects_csv,
)

SIGNS = {"block": "✕ block", "warn": "⚠ warn", "info": "ℹ info"}
ICONS = {"block": ":red[:material/block:]", "warn": ":orange[:material/warning:]"}


def servers_table(snapshot: Snapshot) -> None:
    """The servers with what they cost, and those that names imply."""
    rows = catalog_tables.servers(snapshot)
    if not rows:
        st.info("The tools of this catalog name no servers.", icon=":material/dns:")
        implied_panel(snapshot)
        return
    st.caption(
        "What does each server cost in every prompt? Tokens: "
        f"{tokenizer().label}, as {snapshot.shape}."
    )
    data_tables.draw(
        data_tables.columns(rows, ["name", "tools", "tokens", "description"])
        | {"select": [tool_selection.SELECT_TOOLS] * len(rows)},
        "Servers",
        {
            "name": st.column_config.TextColumn("server", width=220, pinned=True),
            "tokens": st.column_config.NumberColumn("tokens ≈", format="localized"),
            "select": tool_selection.server_column(
                snapshot, [row.name for row in rows], "select_server"
            ),
        },
        column_order=("name", "select", "tools", "tokens", "description"),
    )
    implied_panel(snapshot)


def findings_panel(snapshot: Snapshot) -> None:
    """The records that could not be read, and what the scan found in the texts of the others."""
    _unread(snapshot)
    catalog = snapshot.catalog
    kinds = findings_by_kind(catalog)
    if not kinds:
        st.success("No suspicious text was found in these tools.", icon=":material/verified:")
        return
    st.caption(
        "Which texts hide something or speak to the model? *block*: the tool is never "
        "canonical, and its merges are never accepted automatically. "
        "*warn* and *info* block nothing."
    )
    chosen = st.pills(
        "Kind of finding",
        list(kinds),
        key="kind",
        format_func=lambda key: _kind_label(key, len(kinds[key])),
    )
    shown = ranked_findings(catalog) if chosen is None else kinds[chosen]
    st.caption(f"{len(shown):,} of {len(catalog.findings):,} findings. Select a row for details.")
    picked = data_tables.chosen_row(
        shown,
        {
            "severity": [SIGNS[one.severity] for one in shown],
            "kind": [finding_kind(one) for one in shown],
            "tool": [one.subject for one in shown],
            "place": [one.field for one in shown],
            **data_tables.columns(shown, ["message", "excerpt"]),
        },
        "Findings in the tools' texts",
        {"severity": 80, "kind": 210, "tool": 190, "place": 110, "message": 420, "excerpt": 320},
        key=f"findings_{chosen}",
    )
    if picked is not None:
        _one_finding(snapshot, picked)


def _kind_label(key: str, count: int) -> str:
    return f"{ICONS.get(key.partition(':')[0], ':material/info:')} {key} ({count:,})"


def _one_finding(snapshot: Snapshot, finding: Finding) -> None:
    """The finding in full, and a button that shows its tool."""
    with st.container(border=True):
        st.markdown(f"**{SIGNS[finding.severity]}** · {safe_text.untrusted(finding.subject)}")
        st.text(finding.message)
        st.code(finding.excerpt, language=None, wrap_lines=True)
        if finding.tool_id:
            st.button(
                "Show tool in table",
                icon=":material/table_rows:",
                key="show_tool",
                on_click=_go_to,
                args=(snapshot, finding.tool_id),
            )


def _go_to(snapshot: Snapshot, tool_id: str) -> None:
    """Open the Tools tab with only this tool's server and name."""
    tool = snapshot.catalog.by_id[tool_id]
    st.session_state["part"] = "Tools"
    st.session_state["catalog_find"] = tool.name
    st.session_state["on"] = tool.server or None


def _unread(snapshot: Snapshot) -> None:
    problems = snapshot.catalog.problems
    if not problems:
        return
    with st.container(border=True):
        count = quantity(len(problems), "record")
        st.markdown(f"**{count} could not be read**; everything else was.")
        data_tables.draw(problems, "Records that could not be read")
        st.download_button(
            "Download as CSV", rejects_csv(problems), "not-read.csv", "text/csv", key="rejects"
        )

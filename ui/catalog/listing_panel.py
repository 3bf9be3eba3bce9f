"""What a catalog contains besides its tools: implied servers, findings and unread records."""

from collections.abc import Sequence

import streamlit as st

from toolscope_core.judging.implied_servers import present_servers
from toolscope_core.model.catalog import Finding, ImpliedServer, Problem, worst_first
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, page_frame, pictures, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column, Columns
from ui.shared.kept import kept
from ui.shared.services import review
from ui.shared.snapshot import Snapshot
from ui.shared.tools import catalog_tables


def implied_panel(snapshot: Snapshot) -> None:
    """Draw the implied servers of the catalog, and a form to change one. Nothing is drawn if there
    are none.
    """
    servers = of(snapshot)
    if not servers:
        return
    st.subheader(f"Implied servers: {len(servers):,}", anchor=False)
    st.caption(
        "Which tools belong together although they name no server? Their names suggest a server. "
        "Merges across two of these servers always need review, and the heatmap can group by them. "
        "Ids, names and exports stay the same."
    )
    columns: Columns[ImpliedServer] = [
        Column("implied server", lambda one: one.name),
        Column("tools", lambda one: len(one.tools)),
        Column("why", lambda one: one.reason.replace("`", "")),
    ]
    data_tables.draw(servers, columns, "Implied servers", width="stretch")
    _change(snapshot, servers)
    decision_buttons.notice(snapshot)


def _change(snapshot: Snapshot, servers: Sequence[ImpliedServer]) -> None:
    by_name = {one.name: one for one in servers}
    server = by_name[
        st.selectbox("Change", list(by_name), key="implied_server", help="An implied server")
    ]
    names = snapshot.catalog.by_id
    tool_ids = st.multiselect(
        "Only some of its tools",
        server.tools,
        key=f"implied_tools_{server.name}_{len(server.tools)}",
        format_func=lambda tool_id: f"{names[tool_id].name} ({tool_id})",
        placeholder=f"all {len(server.tools):,}",
        help="Choose tools to split them off; choose none to include all.",
    )
    tools = tool_ids or server.tools
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", server.name, key=f"implied_name_{server.name}").strip()
        count = quantity(len(tools), "tool")
        decision_buttons.record_button(
            "Split" if len(tools) < len(server.tools) else "Rename",
            lambda: change(snapshot, tools, name, page_frame.reviewer()),
            f"{count}: {name}",
            key="implied_rename",
            disabled=not name or name == server.name,
        )
        decision_buttons.record_button(
            "No server",
            lambda: change(snapshot, tools, "", page_frame.reviewer()),
            f"{count}: no implied server",
            key="implied_dismiss",
            help="These tools belong to no implied server.",
        )


@kept()
def of(snapshot: Snapshot) -> tuple[ImpliedServer, ...]:
    """The implied servers that the judge uses, sorted by name, each with the reason for it."""
    return present_servers(snapshot.catalog.tools, snapshot.owners)


def change(snapshot: Snapshot, ids: Sequence[str], owner: str, reviewer: str) -> Decision:
    """Assign these tools to ``owner``, or to no server if ``owner`` is empty.

    Assigning all tools of a server renames or removes that server; assigning some of them splits
    it. Raises ``DecisionError``.
    """
    return review.say(snapshot, "owner", ids, reviewer, {"owner": owner.strip()})


PROBLEMS: Columns[Problem] = [Column("position"), Column("reason"), Column("raw")]
SIGNS = {"block": "✕ block", "warn": "⚠ warn", "info": "ℹ info"}
_ICONS = {"block": ":red[:material/block:]", "warn": ":orange[:material/warning:]"}


def findings_panel(snapshot: Snapshot) -> None:
    """Draw the records that could not be read, and the scan's findings in the others."""
    _unread(snapshot)
    catalog = snapshot.catalog
    kinds = catalog_tables.findings_by_kind(catalog)
    if not kinds:
        st.success("No suspicious text was found in these tools.", icon=":material/verified:")
        return
    st.caption(
        "Which texts hide something or address the model? *block*: the tool is never "
        "canonical, and its merges are never accepted automatically. *warn* and *info* block "
        "nothing."
    )
    shown_kind = st.pills(
        "Kind of finding",
        list(kinds),
        key="kind",
        format_func=lambda kind: f"{_icon(kind)} {kind} ({len(kinds[kind]):,})",
    )
    listed = worst_first(catalog.findings) if shown_kind is None else kinds[shown_kind]
    st.caption(f"{len(listed):,} of {len(catalog.findings):,} findings. Select a row for details.")
    columns: Columns[Finding] = [
        Column("severity", lambda one: SIGNS[one.severity], width=80),
        Column("kind", catalog_tables.finding_kind, width=210),
        Column("tool", lambda one: one.subject, width=190),
        Column("place", lambda one: one.field, width=110),
        Column("message", width=420),
        Column("excerpt", width=320),
    ]
    finding = data_tables.chosen_row(
        listed, columns, "Findings in the tools' texts", key=f"findings_{shown_kind}"
    )
    if finding is not None:
        _one_finding(snapshot, finding)


def _icon(kind: str) -> str:
    return _ICONS.get(kind.partition(":")[0], ":material/info:")


def _one_finding(snapshot: Snapshot, finding: Finding) -> None:
    """Draw the whole finding, and a button that shows the tool."""
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
    """Open the Tools tab filtered by this tool's server and name."""
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
        data_tables.draw(problems, PROBLEMS, "Records that could not be read")
        rejects = pictures.table_csv(data_tables.records(problems, PROBLEMS))
        st.download_button("Download as CSV", rejects, "not-read.csv", "text/csv", key="rejects")

"""The tools that a client's search never returns to its model."""

from collections.abc import Mapping

import streamlit as st

from toolscope_core.evaluation.findability import COMPARED
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, page_frame
from ui.shared.data_tables import Column, Columns
from ui.shared.services import findable_tools
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts

_SIDES = {
    findable_tools.AS_THEY_ARE: "Share of requests that find the tool, averaged over all tools.",
    findable_tools.VARIANTS: (
        "The same share with the accepted document variants, which only ToolScope's own search "
        "reads."
    ),
    findable_tools.DESCRIBED: "The same share with the new descriptions of unmerged tools.",
    findable_tools.MERGED: (
        "The same share with all of these changes and the merges accepted so far; for OpenAI, also "
        "with the namespaces' descriptions."
    ),
}
"""The help text for each column."""


def chosen_search() -> str:
    """The search that was chosen last."""
    return str(st.session_state.get("missed_by", COMPARED[0]))


def found_shares(snapshot: Snapshot) -> Mapping[str, float] | None:
    """For each tool id, the share of the tool's own requests for which the chosen search finds it.

    Until the shares are computed, returns ``None`` and draws the progress.
    """
    if snapshot.analysed is None:
        return None
    search = chosen_search()
    shares = findable_tools.shares(snapshot, search)
    job = snapshot.job(findable_tools.KIND) if shares is None else None
    if shares is None and (job is None or job.live or job.state == "done"):
        page_frame.job_panel(findable_tools.start(snapshot, search))
    return shares


def found_figure(snapshot: Snapshot) -> None:
    """Show how many tools the chosen search finds at all, with a link to the tools it misses."""
    shares = found_shares(snapshot)
    if shares:
        found_count = sum(share > 0 for share in shares.values())
        search = f"The search *{findable_tools.title_of(chosen_search())}*"
        page_frame.page_link(
            "catalog",
            f"{search} finds {found_count:,} of {len(shares):,}",
            {"part": "Cannot be found"},
            icon="search",
            about="With these clients, the model sees only the tools that the search returns. A "
            "tool counts as found if one of its own requests has it among the first five "
            "results.",
        )


def findability_panel(snapshot: Snapshot) -> None:
    """Draw a row for each search, and the tools that the chosen one misses."""
    st.caption(
        "Many clients no longer put every tool into the prompt; the model searches and sees "
        "only what the search returns. Here each tool is searched for by its own requests: "
        "those in your query sets that need only this tool, or else the questions written "
        "about it, or else its name and first sentence. The tool counts as found if it "
        "is among the first five results."
    )
    rows = findable_tools.rows(snapshot)
    if rows is None:
        page_frame.job_started_once(
            snapshot.job(findable_tools.KIND),
            lambda: findable_tools.start(snapshot),
            "Searching for every tool as each client does.",
            "findability",
        )
        return
    columns: Columns[findable_tools.SearchRow] = [
        Column("search", lambda row: row.search + " (approximate)" * row.approximate),
        *(_side_column(side) for side in rows[0].shares),
        Column("never found", lambda row: row.never[findable_tools.AS_THEY_ARE]),
        Column("never found after merging", lambda row: row.never[findable_tools.MERGED]),
    ]
    data_tables.draw(
        rows, columns, "How well each search finds the tools, before and after the merge"
    )
    search = st.selectbox(
        "Tools missed by",
        COMPARED,
        format_func=findable_tools.title_of,
        key="missed_by",
        persist_state="session",
        help="The table of tools and the first page use this search too.",
    )
    missed = findable_tools.tools(snapshot, search)
    if not missed:
        st.success("This search finds every tool for all of its requests.", icon=":material/check:")
        return
    st.write(f"{quantity(len(missed), 'tool')} missed by at least one request, worst first.")
    missed_columns: Columns[findable_tools.ToolShare] = [
        Column("tool", lambda row: row.name),
        tool_parts.open_tool_column(missed, lambda row: row.tool_id, "open_missed", width=45),
        Column("server"),
        Column("found", lambda row: row.share),
        Column("requests from", lambda row: row.requests),
        Column("found instead", lambda row: row.before),
    ]
    data_tables.draw(missed, missed_columns, "The tools that this search misses")


def _side_column(side: str) -> Column[findable_tools.SearchRow]:
    """The column with the mean share found for one side, in percent."""
    return Column(
        side, lambda row: round(100 * row.shares[side]), format="%d %%", help=_SIDES[side]
    )

"""Which tools a client that defers tools would never show its model."""

from __future__ import annotations

import streamlit as st

from toolscope_core.evaluation.findability import COMPARED
from toolscope_core.model.numbers import quantity
from ui.catalog.findable_tools import FindableTools, title_of
from ui.shared import page_frame
from ui.shared.tools import tool_parts


def findability_panel(catalog_id: int) -> None:
    """A row for each search, and the tools that the chosen one misses."""
    st.caption(
        "Many clients no longer put every tool into the prompt: the model searches, and sees only "
        "what the search returns. Here each tool is searched for by its own requests: those of "
        "your query sets that need it alone, else the questions written about it, else its name "
        "and its first sentence. It counts as found among the first five."
    )
    findable = page_frame.service(FindableTools)
    rows = findable.rows(catalog_id)
    if rows is None:
        page_frame.job_started_once(
            findable.job(catalog_id),
            lambda: findable.start(catalog_id),
            "Searching for every tool in the way of each client.",
            "findability",
        )
        return
    st.dataframe(
        [
            {
                "search": f"{row.search} (approximate)" if row.approximate else row.search,
                "found": round(100 * row.share),
                "never found": row.never,
                "found, merged": round(100 * row.share_after),
                "never found, merged": row.never_after,
            }
            for row in rows
        ],
        hide_index=True,
        column_config={
            name: st.column_config.NumberColumn(format="%d %%", help=help_text)
            for name, help_text in (
                ("found", "Mean over tools: the share of their requests that find them."),
                ("found, merged", "The same with the merges that are accepted so far."),
            )
        },
        alt="How well each search finds the tools, before and after the merge",
    )
    search = st.selectbox("Tools missed by", COMPARED, format_func=title_of, key="missed_by")
    missed = findable.tools(catalog_id, search)
    if not missed:
        st.success("This search finds every tool for all its requests.", icon=":material/check:")
        return
    st.write(f"{quantity(len(missed), 'tool')} missed for at least one request, the worst first.")
    ids = [row.tool_id for row in missed]
    st.dataframe(
        [
            {
                "tool": row.name,
                "open": tool_parts.LABEL,
                "server": row.server,
                "found": row.share,
                "requests from": row.requests,
                "found in its place": row.before,
            }
            for row in missed
        ],
        hide_index=True,
        column_config={"open": tool_parts.open_column(ids, "open_missed", width=45)},
        alt="The tools that this search misses",
    )

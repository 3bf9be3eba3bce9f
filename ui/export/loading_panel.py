"""The choice of tools that are in every prompt, for clients whose models search for the other
tools.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from toolscope_core.decisions.constraints import deferrals
from toolscope_core.decisions.forms import BY_SEARCH, IN_EVERY_PROMPT
from toolscope_core.evaluation.findability import COMPARED
from toolscope_core.export import eager_choice
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column, Columns
from ui.shared.services import findable_tools, review, usage_evidence
from ui.shared.services.exports import ExportTarget
from ui.shared.snapshot import Snapshot

_HEIGHT = 300


def loading_panel(snapshot: Snapshot, config: PlanConfig, choice: ExportTarget) -> PlanConfig:
    """Draw the choice and the list to edit. Returns the configuration with the chosen tools."""
    with st.container(border=True):
        if not choice.target.can_defer:
            st.caption(
                f"The file for {choice.target.title} contains every tool, because it cannot leave "
                "some to a search. `serve --search` can do so for any client."
            )
        bar = st.container(horizontal=True, vertical_alignment="bottom")
        budget = bar.number_input(
            "Maximum tokens in every prompt",
            min_value=0,
            value=eager_choice.BUDGET,
            step=500,
            key="eager_tokens",
            help="Every prompt keeps the tools that a search would often miss (calls in the logs, "
            "times the share of their requests that the search misses), then the most called "
            "ones. Choices made by a person come first.",
        )
        search = bar.selectbox(
            "Search used",
            COMPARED,
            format_func=findable_tools.title_of,
            key="searched_by",
            width=260,
        )
        if findable_tools.shares(snapshot, search) is None:
            page_frame.job_started_once(
                snapshot.job(findable_tools.KIND),
                lambda: findable_tools.start(snapshot, search),
                "Searching for every tool. Until this is done, only calls count.",
                "retry_findability",
            )
        rows = tools(snapshot, config, search, budget)
        eager = [row for row in rows if row.is_eager]
        tokens = sum(row.tokens for row in eager)
        st.markdown(
            f"**{quantity(len(eager), 'tool')}** in every prompt, {tokens:,} tokens; "
            f"**{len(rows) - len(eager):,}** left to the search."
        )
        decision_buttons.notice(snapshot)
        _table(snapshot, rows)
    return replace(config, eager=eager_choice.eager_ids(rows))


def _table(snapshot: Snapshot, rows: Sequence[eager_choice.LoadedTool]) -> None:
    """Draw the tools, with ticks to decide on them."""
    columns: Columns[eager_choice.LoadedTool] = [
        Column("prompt", lambda row: row.is_eager, title="in every prompt", width=110),
        Column("name", lambda row: row.tool.name, title="tool", width=240),
        Column("server", lambda row: row.tool.server),
        Column("calls", visible=any(row.calls for row in rows)),
        Column(
            "found",
            lambda row: data_tables.percent(row.share),
            format="%d %%",
            help="The share of the tool's own requests for which the search returns the tool",
        ),
        Column("tokens", title="tokens ≈", format="localized"),
        Column(
            "decided",
            lambda row: "by a person" if row.is_decided else "",
            visible=any(row.is_decided for row in rows),
        ),
    ]
    ticked_tools = data_tables.ticked_rows(
        rows,
        columns,
        "The tools in every prompt and those left to the search",
        height=_HEIGHT,
        key=f"loaded_{snapshot.id}",
        at_first=(),
    )
    ids = [row.tool.id for row in ticked_tools]
    with st.container(horizontal=True):
        for is_eager, label, verb in (
            (True, "Keep in every prompt", "In every prompt"),
            (False, "Leave to the search", "Left to the search"),
        ):
            decision_buttons.record_button(
                label,
                partial(_decide, snapshot, ids, is_eager),
                f"{verb}: {quantity(len(ids), 'tool')}",
                key=f"load_{is_eager}",
                disabled=not ids,
            )
        decisions = review.active_decisions(snapshot)
        decision_buttons.undo_button(snapshot, decisions, by_key=False)


def _decide(snapshot: Snapshot, ids: Sequence[str], is_eager: bool) -> Decision:
    return decide(snapshot, ids, is_eager, page_frame.reviewer())


def tools(
    snapshot: Snapshot, config: PlanConfig, search: str, budget: int
) -> tuple[eager_choice.LoadedTool, ...]:
    """Every outgoing tool, in the order in which tools are chosen.

    How often ``search`` finds a tool is measured on the original tools, without merges.
    """
    plan, calls = snapshot.plan_under(config), usage_evidence.figures(snapshot)
    evidence = eager_choice.LoadingEvidence(
        {tool_id: one.calls for tool_id, one in calls.by_id.items()},
        findable_tools.shares(snapshot, search) or {},
        deferrals(plan.catalog, snapshot.log),
    )
    return eager_choice.loaded_tools(
        plan, evidence, budget, snapshot.work.catalogs.costs, snapshot.format
    )


def decide(snapshot: Snapshot, ids: Sequence[str], eager: bool, reviewer: str) -> Decision:
    """Keep these tools in every prompt, or leave them to the search.

    Raises ``DecisionError`` for the same reasons as ``review.say``.
    """
    way = IN_EVERY_PROMPT if eager else BY_SEARCH
    return review.say(snapshot, "load", ids, reviewer, {"loading": way})

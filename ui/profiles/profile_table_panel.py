"""A table of tools and profiles with ticks, and the current figures of each profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd
import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.profile import Profile
from toolscope_core.profiles.intent_cover import with_choice
from toolscope_core.profiles.profile_effect import client_limits
from toolscope_core.profiles.profile_tools import ProfileTools, profile_tools
from ui.profiles import profile_edits
from ui.shared import data_tables, page_frame
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column
from ui.shared.snapshot import Snapshot


def profile_table_panel(snapshot: Snapshot, toolsets: Mapping[str, ProfileTools]) -> None:
    """Draw the table, the figures of each profile with its current ticks, and the button that
    saves.
    """
    tokens, plan = profile_edits.tokens(snapshot), snapshot.plan
    places = st.container()
    tools = {item.tool.id: item.tool for item in plan.tools}
    used_ids = frozenset().union(*(one.ids for one in toolsets.values()))
    ids = sorted(tools, key=lambda one: (one not in used_ids, one))
    columns = {name: f"in {name}" for name in toolsets}  # a profile may be called "tokens"
    table = pd.DataFrame(
        {
            "tool": [tools[one].name for one in ids],
            "server": [tools[one].owner for one in ids],
            "tokens": [tokens[one] for one in ids],
            **{columns[name]: [tool in one.ids for tool in ids] for name, one in toolsets.items()},
        },
        index=ids,
    )
    seqs = "_".join(str(one.profile.seq) for one in toolsets.values())
    edits = st.data_editor(
        table,
        key=f"ticks_{seqs}_{len(plan.tools)}",
        hide_index=True,
        disabled=["tool", "server", "tokens"],
        height=min(38 + 35 * len(table), 460),
        column_config={
            "tokens": st.column_config.NumberColumn(format="localized"),
            **{
                column: st.column_config.CheckboxColumn(name, help=f"Whether {name} has the tool.")
                for name, column in columns.items()
            },
        },
        alt="Tools and profiles",
    )
    edited, count = {**toolsets}, 0
    for name, column in columns.items():
        ticks = edits[column][table[column] != edits[column]]
        count += len(ticks)
        if len(ticks):
            edited[name] = profile_tools(plan, _with_ticks(plan, toolsets[name].profile, ticks))
    with places:
        _figures(snapshot, edited, sum(tokens.values()))
    with st.container(horizontal=True, vertical_alignment="center"):
        profiles = [one.profile for name, one in edited.items() if one is not toolsets[name]]
        decision_buttons.record_button(
            f"Save {quantity(count, 'tick')}" if count else "Save the ticks",
            lambda: [profile_edits.save(snapshot, one, page_frame.reviewer()) for one in profiles],
            f"Profiles saved: {', '.join(one.name for one in profiles)}",
            key="save_ticks",
            type="primary",
            icon=":material/save:",
            disabled=not count,
        )
        st.caption(
            "Arrow keys move, Enter or Space ticks, Ctrl+F searches. If a rule includes a tool, "
            "clearing its tick excludes it. Saved ticks can be undone in History."
        )


def _with_ticks(plan: MergePlan, profile: Profile, ticks: pd.Series[bool]) -> Profile:
    """The profile after tools (ids) were added or removed by changed ticks."""
    for is_in in (True, False):
        if changed_ids := list(ticks.index[ticks == is_in]):
            profile = with_choice(plan, profile, changed_ids, is_in)
    return profile


def _figures(snapshot: Snapshot, toolsets: Mapping[str, ProfileTools], total: int) -> None:
    def room(limit: int) -> Callable[[tuple[str, ProfileTools]], str]:
        return lambda row: _room(len(row[1].tools), limit)

    sizes = {name: profile_edits.size(snapshot, one) for name, one in toolsets.items()}
    data_tables.draw(
        list(toolsets.items()),
        [
            Column("profile", lambda row: row[0]),
            Column("tools", lambda row: len(row[1].tools)),
            Column("tokens", lambda row: sizes[row[0]], format="localized"),
            Column(
                "of the toolset",
                lambda row: 100 * sizes[row[0]] / max(1, total),
                title="of all tokens",
                format="%.0f %%",
                full=100,
            ),
            *(
                Column(
                    str(limit),
                    room(limit),
                    title=f"limit {limit}",
                    help=f"At most {limit} tools: {who}.",
                )
                for limit, who in client_limits().items()
            ),
            Column(
                "changed",
                lambda row: len(row[1].notes),
                title="changes",
                help="What has changed since the profile was saved.",
            ),
        ],
        "Profiles",
    )


def _room(tools: int, limit: int) -> str:
    return f"{limit - tools:,} left" if tools <= limit else f"{tools - limit:,} too many"

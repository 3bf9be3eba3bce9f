"""The table of tools and profiles, to be ticked, and what each profile comes to meanwhile."""

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


def profile_table_panel(snapshot: Snapshot, chosen: Mapping[str, ProfileTools]) -> None:
    """Draw the table, the figures of each profile as ticked, and the button that saves."""
    tokens, plan = profile_edits.tokens(snapshot), snapshot.plan
    places = st.container()
    tools = {item.tool.id: item.tool for item in plan.tools}
    used = frozenset().union(*(one.ids for one in chosen.values()))
    ids = sorted(tools, key=lambda one: (one not in used, one))
    columns = {name: f"in {name}" for name in chosen}  # a profile may be called tokens
    table = pd.DataFrame(
        {
            "tool": [tools[one].name for one in ids],
            "server": [tools[one].owner for one in ids],
            "tokens": [tokens[one] for one in ids],
            **{columns[name]: [tool in one.ids for tool in ids] for name, one in chosen.items()},
        },
        index=ids,
    )
    seqs = "_".join(str(one.profile.seq) for one in chosen.values())
    ticked = st.data_editor(
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
    now, count = {**chosen}, 0
    for name, column in columns.items():
        ticks = ticked[column][table[column] != ticked[column]]
        count += len(ticks)
        if len(ticks):
            now[name] = profile_tools(plan, _with_ticks(plan, chosen[name].profile, ticks))
    with places:
        _figures(snapshot, now, sum(tokens.values()))
    with st.container(horizontal=True, vertical_alignment="center"):
        changed = [one.profile for name, one in now.items() if one is not chosen[name]]
        decision_buttons.record_button(
            f"Save {quantity(count, 'tick')}" if count else "Save the ticks",
            lambda: [profile_edits.save(snapshot, one, page_frame.reviewer()) for one in changed],
            f"Profiles saved: {', '.join(one.name for one in changed)}",
            key="save_ticks",
            type="primary",
            icon=":material/save:",
            disabled=not count,
        )
        st.caption(
            "Arrows move, Enter or Space ticks, Ctrl+F searches. Where rules take a tool in, a "
            "tick that is taken away keeps it out. History takes back what was saved."
        )


def _with_ticks(plan: MergePlan, profile: Profile, ticks: pd.Series[bool]) -> Profile:
    """The profile with the tools (ids) whose tick was changed put in or out."""
    for is_in in (True, False):
        if moved := list(ticks.index[ticks == is_in]):
            profile = with_choice(plan, profile, moved, is_in)
    return profile


def _figures(snapshot: Snapshot, chosen: Mapping[str, ProfileTools], whole: int) -> None:
    def room(most: int) -> Callable[[tuple[str, ProfileTools]], str]:
        return lambda row: _room(len(row[1].tools), most)

    sizes = {name: profile_edits.size(snapshot, one) for name, one in chosen.items()}
    data_tables.draw(
        list(chosen.items()),
        [
            Column("profile", lambda row: row[0]),
            Column("tools", lambda row: len(row[1].tools)),
            Column("tokens", lambda row: sizes[row[0]], format="localized"),
            Column(
                "of the toolset",
                lambda row: 100 * sizes[row[0]] / max(1, whole),
                title="of all tokens",
                format="%.0f %%",
                full=100,
            ),
            *(
                Column(
                    str(most),
                    room(most),
                    title=f"limit {most}",
                    help=f"At most {most} tools: {who}.",
                )
                for most, who in client_limits().items()
            ),
            Column(
                "changed",
                lambda row: len(row[1].notes),
                title="changes",
                help="What is not as it was when the profile was saved.",
            ),
        ],
        "Profiles",
    )


def _room(tools: int, most: int) -> str:
    return f"{most - tools:,} left" if tools <= most else f"{tools - most:,} too many"

"""One profile: what it serves, similar tools, rules, texts and fixed values, and deletion."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from toolscope_core.decisions.profile_decisions import MOST_INTENTS
from toolscope_core.merging.former_names import served_names
from toolscope_core.model.cluster import RELATIONS
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.profile import Profile, ProfileTool, ToolRule
from toolscope_core.profiles.intent_cover import with_choice
from toolscope_core.profiles.profile_effect import ProfileReport
from toolscope_core.profiles.profile_tools import ProfileTools, profile_tools, profile_words
from ui.profiles import profile_edits
from ui.profiles.make_profile_panel import intents_table, is_searchable, served_in_words
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.data_tables import Column
from ui.shared.services import exports
from ui.shared.snapshot import Snapshot

_CHOSEN = "profile"
"""The widget that says which profile is open."""
_MOST_NAMED = 12
READS = {"read or change": None, "read only": True, "may change something": False}


def chosen_profile(names: Sequence[str]) -> str:
    """Draw the choice of a profile. Returns the name of the chosen profile."""
    if st.session_state.get(_CHOSEN) not in names:
        st.session_state[_CHOSEN] = names[0]
    return st.pills("Profile", names, required=True, key=_CHOSEN) or names[0]


def profile_detail_panel(snapshot: Snapshot, toolset: ProfileTools) -> None:
    """Show what has changed in the profile since it was saved, and the parts of the profile in
    tabs.
    """
    profile = toolset.profile
    if toolset.notes:
        lines = [f"- {safe_text.untrusted(one)}" for one in toolset.notes[:_MOST_NAMED]]
        rest = len(toolset.notes) - len(lines)
        text = "\n".join(
            ["Changed since it was last saved:", *lines, *([f"- {rest:,} more"] if rest else [])]
        )
        st.warning(text, icon=":material/update:")
        _save_button(snapshot, profile, "Save as it is now", "as_is")
    parts = {
        "What the profile serves": partial(_served, toolset=toolset),
        "Confusions": partial(_confusions, toolset=toolset),
        "Rules": partial(_rules, toolset=toolset),
        "Words and fixed values": partial(_words, toolset=toolset),
    }
    page_frame.draw_tabs(snapshot, parts, "profile_part")
    st.caption(
        f"Every export contains the profile in `profiles/{profile.name}`, and `toolscope serve "
        f"BUNDLE --config CLIENT.json --profile {profile.name}` serves it."
    )
    page_frame.page_link("export", "Export it")
    decision_buttons.record_button(
        f"Delete {profile.name}",
        lambda: profile_edits.delete(snapshot, profile, page_frame.reviewer()),
        f"Profile deleted: {profile.name}; undo this in History",
        key=f"delete_profile_{profile.name}_{profile.seq}",
        icon=":material/delete:",
        type="tertiary",
    )


def _report(snapshot: Snapshot, tools: ProfileTools) -> tuple[ProfileReport, Sequence[str]] | None:
    """The report on the profile; ``None`` while the profile's toolset is being indexed."""
    queries = profile_edits.queries(snapshot, tools.profile.intents)
    return profile_edits.report(snapshot, tools) if is_searchable(snapshot, queries) else None


def _served(snapshot: Snapshot, toolset: ProfileTools) -> None:
    profile, key = toolset.profile, f"{toolset.profile.name}_{toolset.profile.seq}"
    if profile.intents and (result := _report(snapshot, toolset)):
        report, effect = result
        st.markdown(f"There are tools for **{served_in_words(report.intents, toolset.ids)}**.")
        tools = [item.tool for item in toolset.tools]
        plan = snapshot.plan
        names = served_names(exports.exported_plan(snapshot, PlanConfig()), tools)
        intents_table(report.intents, toolset.ids, names)
        st.caption("  \n".join(effect))
        if report.unasked:
            unasked = safe_text.first_few([names[one] for one in report.unasked], _MOST_NAMED)
            st.info(f"No request needs {quantity(len(report.unasked), 'tool')}: {unasked}.")
            without = with_choice(plan, profile, report.unasked, is_in=False)
            _save_button(snapshot, without, "Take these tools out", "unasked")
    text = st.text_area(
        "Requests that the agent has to serve, one per line",
        "\n".join(profile.intents),
        key=f"intents_{key}",
        height=140,
    )
    intents = tuple(profile_edits.requests_in(text))[:MOST_INTENTS]
    if intents != profile.intents:
        _save_button(snapshot, replace(profile, intents=intents), "Save the requests", "intents")
    named = dict[str, tuple[str, ...]]()
    for column, kind in zip(st.columns(2, gap="medium"), ("resources", "prompts"), strict=True):
        text = column.text_area(
            f"Names of {kind} that the profile passes on, one per line",
            "\n".join(getattr(profile, kind)),
            key=f"{kind}_{key}",
            placeholder={"resources": "notes+file:///a.txt", "prompts": "notes+greet"}[kind],
            help=f"Write the names as `serve` does, with the server in front. A profile passes "
            f"on no other {kind} from its servers, apart from those that its tools and their "
            "results name.",
        )
        named[kind] = tuple(profile_edits.requests_in(text))
    edited_profile = replace(profile, resources=named["resources"], prompts=named["prompts"])
    if edited_profile != profile:
        _save_button(snapshot, edited_profile, "Save resources and prompts", "passed")


def _confusions(snapshot: Snapshot, toolset: ProfileTools) -> None:
    result = _report(snapshot, toolset)
    if result is None:
        return
    confusions, misses = result[0].confusions, result[0].misses
    if confusions:
        st.markdown("Tools that the judge finds alike:")
        data_tables.draw(
            confusions,
            [
                Column("tool", lambda one: one.pair.left),
                Column("other tool", lambda one: one.pair.right),
                Column("relation", lambda one: RELATIONS[one.relation]),
                Column("same job", lambda one: one.same_job, format="%.2f"),
            ],
            "Tools of the profile that are alike",
        )
    else:
        st.markdown("The judge finds no two tools of the profile alike.")
    if not misses.requests:
        st.caption(
            "No request of the profile has an answer in a query set, so it is unknown whether "
            "another tool of the profile ranks above the right one."
        )
        return
    st.markdown(f"{misses.in_words.capitalize()}.")
    data_tables.draw(
        list(misses.texts.items()),
        [
            Column("asked for", lambda row: row[0].expected),
            Column("ranked above it", lambda row: row[0].actual),
            Column("requests", lambda row: len(row[1])),
            Column("such as", lambda row: row[1][0]),
        ],
        "Tools that rank above the needed tools",
    )


def _rules(snapshot: Snapshot, toolset: ProfileTools) -> None:
    profile, key = toolset.profile, f"{toolset.profile.name}_{toolset.profile.seq}"
    st.caption(
        "Rules also apply to tools that a new version adds; a tool must meet every condition that "
        "is set. Ticks in the table take precedence over rules."
    )
    owners = {tool.owner for tool in snapshot.catalog.tools} - {""}
    rules = []
    for column, (title, rule) in zip(
        st.columns(2, gap="medium"),
        (("Include", profile.include), ("Exclude", profile.exclude)),
        strict=True,
    ):
        with column:
            rules.append(_rule(title, owners, rule, f"{title}_{key}"))
    in_conflict = {server for one in toolset.conflicts for server in one.tools}
    order = profile.precedence
    if in_conflict or order:
        clash = "; ".join(
            f"{', '.join(tool for ids in one.tools.values() for tool in ids)}: "
            f"{one.kept or 'all'} kept"
            for one in toolset.conflicts
        )
        order = tuple(
            st.multiselect(
                "Servers in order of preference",
                [*order, *sorted(in_conflict - set(order))],
                order,
                key=f"precedence_{key}",
                help=(
                    "If several servers have a tool for the same job, the profile keeps the tool "
                    "of the server listed first here."
                ),
            )
        )
        st.caption(f"Tools for the same job: {safe_text.untrusted(clash) or 'none any more'}.")
    edited_profile = replace(profile, include=rules[0], exclude=rules[1], precedence=order)
    if edited_profile != profile:
        count = len(profile_tools(snapshot.plan, edited_profile).tools)
        st.caption(f"With these rules and the ticks, the profile has {quantity(count, 'tool')}.")
        _save_button(snapshot, edited_profile, "Save the rules", "rules")


def _rule(title: str, owners: set[str], rule: ToolRule, key: str) -> ToolRule:
    st.markdown(f"**{title}**")
    servers = st.multiselect(
        "Tools of servers", sorted(owners | set(rule.servers)), rule.servers, key=f"servers_{key}"
    )
    words = st.text_input(
        "With one of these words, separated by commas", ", ".join(rule.words), key=f"words_{key}"
    )
    reads = st.selectbox(
        "Tools that",
        list(READS),
        list(READS.values()).index(rule.read_only),
        key=f"reads_{key}",
        help="Based on readOnlyHint; a tool without this hint may change something.",
    )
    split = tuple(word.strip() for word in words.split(",") if word.strip())
    return ToolRule(tuple(servers), split, READS[reads])


def _words(snapshot: Snapshot, toolset: ProfileTools) -> None:
    st.caption(
        'Empty cells change nothing. A fixed value is JSON, such as `{"repo": "toolscope"}`: '
        "it is sent with every call and is no longer among the arguments that the agent sees, "
        "which requires `serve`."
    )
    profile, plan = toolset.profile, snapshot.plan
    words, names = (
        profile_words(plan, profile),
        {item.tool.id: item.tool.name for item in plan.tools},
    )
    rows = [(item, words.get(item.tool.id, ProfileTool("rule"))) for item in toolset.tools]
    table = pd.DataFrame(
        {
            "tool": [names[item.tool.id] for item, _ in rows],
            "server": [item.tool.owner for item, _ in rows],
            "name here": [own.name for _, own in rows],
            "description here": [own.description for _, own in rows],
            "fixed": [json.dumps(dict(own.fixed)) if own.fixed else "" for _, own in rows],
        }
    )
    cells = st.data_editor(
        table,
        key=f"own_words_{profile.name}_{profile.seq}",
        hide_index=True,
        disabled=["tool", "server"],
        alt="Words and fixed values of the tools in this profile",
    ).fillna("")
    tools = dict(profile.tools)
    try:
        for (item, own), row in zip(rows, cells.to_dict("records"), strict=True):
            reworded = _with_words(own, row)
            if reworded != own:
                tools |= {
                    one: replace(reworded, origin=toolset.ways[item.tool.id])
                    for one in item.members
                }
    except DecisionError as error:
        safe_text.show_error(error)
        return
    if tools != profile.tools:
        edited_profile = replace(profile, tools=tools)
        _save_button(snapshot, edited_profile, "Save words and values", "words")


def _with_words(own: ProfileTool, row: dict[str, str]) -> ProfileTool:
    """A table row turned into a profile's entry for a tool. Raises ``DecisionError`` for invalid
    values.
    """
    try:
        fixed = json.loads(row["fixed"].strip() or "{}")
    except ValueError:
        fixed = None
    if not isinstance(fixed, dict):
        raise DecisionError(
            f"the fixed values of {row['tool']} are {row['fixed'][:60]!r}; use JSON such as "
            '{"repo": "toolscope"}'
        )
    name, description = row["name here"].strip(), row["description here"].strip()
    return replace(own, name=name, description=description, fixed=fixed)


def _save_button(snapshot: Snapshot, profile: Profile, label: str, key: str) -> None:
    decision_buttons.record_button(
        label,
        lambda: profile_edits.save(snapshot, profile, page_frame.reviewer()),
        f"Profile saved: {profile.name}",
        key=f"save_{key}_{profile.name}_{profile.seq}",
        icon=":material/save:",
    )

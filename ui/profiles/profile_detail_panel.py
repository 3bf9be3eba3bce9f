"""One profile: its requests, tools that are alike, servers for one job, rules, words, its end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from toolscope_core.decisions.profile_decisions import MOST_INTENTS
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.model.address_keys import pair_key
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.kinds import RELATIONS
from toolscope_core.model.numbers import quantity
from toolscope_core.model.profile import Profile, ProfileTool, ToolRule
from toolscope_core.model.tool import JsonObject
from toolscope_core.profiles.profile_changes import with_choice
from toolscope_core.profiles.profile_report import ProfileReport
from toolscope_core.profiles.profile_tools import ProfileTools, own_words
from ui.profiles.profile_edits import ProfileEdits
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.pairs.pair_panel import pair_link

MOST_NOTES, MOST_PAIRS = 12, 20
CHOSEN = "profile"
"""The widget that says which profile is looked at."""
READS = {"any": None, "only read": True, "may change something": False}


def profile_detail_panel(catalog_id: int, chosen: ProfileTools) -> None:
    """What has changed in the profile since it was saved, and its parts in tabs."""
    profile = chosen.profile
    if chosen.notes:
        shown = "\n".join(f"- {safe_text.untrusted(one)}" for one in chosen.notes[:MOST_NOTES])
        rest = len(chosen.notes) - MOST_NOTES
        more = f"\n- and {rest:,} more" if rest > 0 else ""
        st.warning(
            f"Not as it was saved:\n{shown}{more}\n\nSaving it again takes it as it is now.",
            icon=":material/update:",
        )
    page_frame.draw_tabs(
        {
            "What it serves": partial(_served, chosen=chosen),
            "Tools that are alike": partial(_alike, chosen=chosen),
            "Which server first": partial(_precedence, chosen=chosen),
            "Rules": partial(_rules, profile=profile),
            "Words and fixed values": partial(_words, chosen=chosen),
        },
        "profile_part",
    )
    with st.container(horizontal=True):
        if chosen.notes:
            _save_button(catalog_id, profile, "Save as it is now", "as_is")
        st.button(
            f"Delete {profile.name}",
            key=f"delete_profile_{profile.name}_{profile.seq}",
            icon=":material/delete:",
            type="tertiary",
            on_click=_delete,
            args=(catalog_id, profile),
        )


def _report(catalog_id: int, chosen: ProfileTools) -> ProfileReport | None:
    """The figures of the profile; ``None`` while its toolset is being indexed."""
    edits = page_frame.service(ProfileEdits)
    if edits.waits(catalog_id, edits.queries(catalog_id, chosen.profile.intents)):
        page_frame.job_started_once(
            edits.job(catalog_id),
            lambda: edits.start(catalog_id),
            "Indexing the toolset, once.",
            "profile_index_again",
        )
        return None
    return edits.report(catalog_id, chosen)


def _served(catalog_id: int, chosen: ProfileTools) -> None:
    profile, report = chosen.profile, _report(catalog_id, chosen)
    if report is None:
        return
    if report.intents:
        served = len(report.intents) - len(report.unserved)
        st.markdown(f"Requests served: **{rate_text(served, len(report.intents))}**.")
        names = {item.tool.id: item.tool.name for item in chosen.tools}
        st.dataframe(
            [
                {
                    "request": one.text,
                    "served": one.is_served_by(chosen.ids),
                    "by": ", ".join(names[tool] for tool in one.tools_of(chosen.ids)),
                    "note": "perhaps no tool does this" if one.is_doubtful else "",
                }
                for one in report.intents
            ],
            hide_index=True,
            alt="Requests and the tools that serve them",
        )
        st.caption(
            "With answers of a query set a request is served by these; else by one of the three "
            "best tools of each of its jobs, by a search."
        )
        effect = page_frame.service(ProfileEdits).effect(catalog_id, chosen)
        st.caption("  \n".join(effect))
        if report.unasked:
            named = safe_text.first_few([names[one] for one in report.unasked], MOST_NOTES)
            st.info(f"Nobody asks for {quantity(len(report.unasked), 'tool')}: {named}.")
            out = with_choice(
                page_frame.service(ProfileEdits).plan(catalog_id), profile, report.unasked, False
            )
            _save_button(catalog_id, out, "Take these out", "unasked")
    text = st.text_area(
        "Requests that its agent has to serve, one in each line",
        "\n".join(profile.intents),
        key=f"intents_{profile.name}_{profile.seq}",
        height=140,
    )
    lines = dict.fromkeys(line.strip() for line in text.splitlines() if line.strip())
    intents = tuple(lines)[:MOST_INTENTS]
    if intents != profile.intents:
        _save_button(catalog_id, replace(profile, intents=intents), "Save the requests", "intents")


def _alike(catalog_id: int, chosen: ProfileTools) -> None:
    report = _report(catalog_id, chosen)
    if report is None:
        return
    names = {item.tool.id: item.tool for item in chosen.tools}
    if not report.confusions:
        st.markdown("No two of its tools are alike for the judge.")
    for one in report.confusions[:MOST_PAIRS]:
        left, right = (names[tool] for tool in (one.pair.left, one.pair.right))
        with st.container(horizontal=True, vertical_alignment="center"):
            ends = " and ".join(
                f"**{safe_text.untrusted(tool.name)}** ({safe_text.untrusted(tool.owner)})"
                for tool in (left, right)
            )
            st.markdown(f"{ends}: {RELATIONS[one.relation]}", width="content")
            pair_link(pair_key(one.pair))
    if len(report.confusions) > MOST_PAIRS:
        st.caption(f"And {len(report.confusions) - MOST_PAIRS:,} more.")


def _precedence(catalog_id: int, chosen: ProfileTools) -> None:
    profile = chosen.profile
    if not chosen.conflicts:
        st.markdown("No two servers have tools for one job in this profile.")
    else:
        st.dataframe(
            [
                {
                    "tools": ", ".join(tool for ids in one.tools.values() for tool in ids),
                    "servers": ", ".join(one.tools),
                    "kept": one.kept or "all",
                }
                for one in chosen.conflicts
            ],
            hide_index=True,
            alt="Servers with tools for one job",
        )
    if not (chosen.conflicts or profile.precedence):
        return
    in_conflict = {server for one in chosen.conflicts for server in one.tools}
    options = [*profile.precedence, *sorted(in_conflict - set(profile.precedence))]
    order = st.multiselect(
        "Servers in the order in which they come first",
        options,
        profile.precedence,
        key=f"precedence_{profile.name}_{profile.seq}",
        help="Where servers have tools for one job, the profile keeps those of the first.",
    )
    if tuple(order) != profile.precedence:
        changed = replace(profile, precedence=tuple(order))
        _save_button(catalog_id, changed, "Save the order", "precedence")


def _rules(catalog_id: int, profile: Profile) -> None:
    st.caption(
        "Rules take in what comes with a new version too; each part that is set has to hold. Ticks "
        "in the table go before them."
    )
    owners = {tool.owner for tool in page_frame.workspace().catalogs.open(catalog_id).tools} - {""}
    include, exclude = st.columns(2, gap="medium")
    with include:
        taken = _rule("Take in", owners, profile.include, f"include_{profile.name}_{profile.seq}")
    with exclude:
        kept_out = _rule(
            "Keep out", owners, profile.exclude, f"exclude_{profile.name}_{profile.seq}"
        )
    changed = replace(profile, include=taken, exclude=kept_out)
    if changed != profile:
        _save_button(catalog_id, changed, "Save the rules", "rules")


def _rule(title: str, owners: set[str], rule: ToolRule, key: str) -> ToolRule:
    st.markdown(f"**{title}**")
    servers = st.multiselect(
        "Tools of servers", sorted(owners | set(rule.servers)), rule.servers, key=f"{key}_servers"
    )
    words = st.text_input(
        "With one of these words, commas between", ", ".join(rule.words), key=f"{key}_words"
    )
    reads = st.selectbox(
        "That",
        list(READS),
        list(READS.values()).index(rule.read_only),
        key=f"{key}_reads",
        help="By the hint readOnlyHint; a tool without it may change something.",
    )
    split = tuple(word.strip() for word in words.split(",") if word.strip())
    return ToolRule(tuple(servers), split, READS[reads])


def _words(catalog_id: int, chosen: ProfileTools) -> None:
    st.caption(
        "What is empty stays as it is. A fixed value is JSON, such as "
        '`{"repo": "toolscope"}`: it is in every call and no longer among the arguments that the '
        "agent sees, which takes `serve`."
    )
    profile, plan = chosen.profile, page_frame.service(ProfileEdits).plan(catalog_id)
    words, names = own_words(plan, profile), {item.tool.id: item.tool.name for item in plan.tools}
    ids = [item.tool.id for item in chosen.tools]
    own = [words.get(one, ProfileTool("hand")) for one in ids]
    table = pd.DataFrame(
        {
            "tool": [names[one] for one in ids],
            "server": [item.tool.owner for item in chosen.tools],
            "name here": [one.name for one in own],
            "description here": [one.description for one in own],
            "fixed": [json.dumps(dict(one.fixed)) if one.fixed else "" for one in own],
        },
        index=ids,
    )
    edited = st.data_editor(
        table,
        key=f"own_words_{profile.name}_{profile.seq}",
        hide_index=True,
        disabled=["tool", "server"],
        alt="Words and fixed values of the tools in this profile",
    ).fillna("")
    if edited.equals(table):
        return
    try:
        changed = _with_words(catalog_id, profile, edited)
    except DecisionError as error:
        safe_text.show_error(error)
    else:
        _save_button(catalog_id, changed, "Save words and values", "words")


def _with_words(catalog_id: int, profile: Profile, edited: pd.DataFrame) -> Profile:
    """The profile as the table has it. Raises ``DecisionError`` for values that are no JSON."""
    plan, tools = page_frame.service(ProfileEdits).plan(catalog_id), dict(profile.tools)
    members = {item.tool.id: item.members for item in plan.tools}
    for tool_id, row in edited.iterrows():
        name, description, fixed = (
            str(row[key]).strip() for key in ("name here", "description here", "fixed")
        )
        values = _values(str(row["tool"]), fixed)
        for member in members[str(tool_id)]:
            before = tools.get(member, ProfileTool("rule"))
            said = replace(before, name=name, description=description, fixed=values)
            if said != before:
                tools[member] = said
    return replace(profile, tools=tools)


def _values(tool: str, text: str) -> JsonObject:
    try:
        values = json.loads(text or "{}")
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise DecisionError(
            f"the fixed values of {tool} are {text[:60]!r}; give JSON such as "
            '{"repo": "toolscope"}'
        )
    return values


def _save_button(catalog_id: int, profile: Profile, label: str, key: str) -> None:
    st.button(
        label,
        key=f"save_{key}_{profile.name}_{profile.seq}",
        icon=":material/save:",
        on_click=_save,
        args=(catalog_id, profile),
    )


def _save(catalog_id: int, profile: Profile) -> None:
    edits = page_frame.service(ProfileEdits)
    decision_buttons.carry_out(
        lambda: edits.save(catalog_id, profile, page_frame.reviewer()),
        f"Profile saved: {profile.name}",
    )


def _delete(catalog_id: int, profile: Profile) -> None:
    edits = page_frame.service(ProfileEdits)
    decision_buttons.carry_out(
        lambda: edits.delete(catalog_id, profile, page_frame.reviewer()),
        f"Profile deleted: {profile.name}; History takes it back",
    )


def chosen_profile(names: Sequence[str]) -> str:
    """Draw the choice of the profile that is looked at; its name."""
    if st.session_state.get(CHOSEN) not in names:
        st.session_state[CHOSEN] = names[0]
    return st.pills("Profile", names, required=True, key=CHOSEN) or names[0]

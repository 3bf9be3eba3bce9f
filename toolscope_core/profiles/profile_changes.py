"""A profile changed by hand, and the decision that saves it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toolscope_core.decisions.profile_decisions import MOST_INTENTS, profile_detail
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.profile import Profile, ProfileTool
from toolscope_core.model.tool import JsonObject
from toolscope_core.profiles.intent_cover import Cover
from toolscope_core.profiles.profile_tools import own_words, profile_tools


def with_choice(plan: MergePlan, profile: Profile, ids: Iterable[str], is_in: bool) -> Profile:
    """The profile with outgoing tools of the plan put in by hand, or out: they are kept out only
    where rules would take them in again.
    """
    wanted, words = set(ids), own_words(plan, profile)
    items = [item for item in plan.tools if item.tool.id in wanted]
    of_these = {member for item in items for member in item.members}
    others = {old: tool for old, tool in profile.tools.items() if old not in of_these}
    if is_in:
        chosen = {
            member: replace(
                words.get(item.tool.id, ProfileTool("hand")), by="hand", called=item.tool.name
            )
            for item in items
            for member in item.members
        }
        return replace(profile, tools={**others, **chosen})
    out = replace(profile, tools=others)
    still = profile_tools(plan, out).ids
    kept_out = {
        member: ProfileTool("kept out")
        for item in items
        if item.tool.id in still
        for member in item.members
    }
    return replace(profile, tools={**others, **kept_out})


def with_cover(plan: MergePlan, profile: Profile, cover: Cover) -> Profile:
    """The profile with the tools of a cover as those chosen by hand, and its intents."""
    chosen, taken = with_choice(plan, profile, cover.ids, is_in=True), set(cover.ids)
    tools = {
        old: tool
        for old, tool in chosen.tools.items()
        if tool.by != "hand" or plan.phi.get(old) in taken
    }
    intents = tuple(dict.fromkeys(one.text for one in cover.intents))
    return replace(chosen, tools=tools, intents=intents[:MOST_INTENTS])


def profile_row(plan: MergePlan, profile: Profile) -> JsonObject:
    """The decision that saves a profile, as a row without reviewer: its tools as they are called
    now, and those that were chosen by hand or kept out and are not among them, without a name.
    """
    chosen, words = profile_tools(plan, profile), own_words(plan, profile)
    called = {member: item.tool.name for item in plan.tools for member in item.members}
    tools = {
        member: replace(
            words.get(item.tool.id, ProfileTool("rule")),
            by=chosen.ways[item.tool.id],
            called=called[member],
        )
        for item in chosen.tools
        for member in item.members
    }
    for old, tool in profile.tools.items():
        if tool.by != "rule" and old in called:
            tools.setdefault(old, replace(tool, called=""))
    ids = sorted(tools)
    return {
        "action": "profile",
        "ids": ids,
        "detail": profile_detail(profile, [tools[one] for one in ids]),
    }

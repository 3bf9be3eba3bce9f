"""Prepares merged tools for the search of a client, which reads only the exported text."""

import re
from collections.abc import Iterable
from dataclasses import replace

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.merging.former_names import with_tools
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import source_text, tool_name_words
from toolscope_core.wording.words import sentences

_WORD = re.compile(r"\w+")


def with_member_words(plan: MergePlan) -> MergePlan:
    """The plan with words of members added to the descriptions of merged tools that are searched
    for.

    If no tools are left to a search, the plan is unchanged.
    """
    if plan.eager is None:
        return plan
    originals, blocked = plan.catalog.by_id, plan.catalog.blocked
    changed = {}
    for item in plan.tools:
        members = [originals[one] for one in item.members if one not in blocked]
        text = _searched_text(item.tool, members)
        if len(item.members) > 1 and item.tool.id not in plan.eager and text:
            changed[item.tool.id] = replace(item.tool, description=text)
    return with_tools(plan, changed) if changed else plan


def _searched_text(tool: Tool, members: Iterable[Tool]) -> str:
    """The description, followed by each member's name in words and first sentence if they add new
    words.

    Empty if no member adds a word.
    """
    said = _words(" ".join((*tool_name_words(tool), tool.description)))
    notes = []
    for member in members:
        name = " ".join(tool_name_words(member))
        first = next(iter(sentences(without_hidden(source_text(member)))), "").rstrip(".")
        new = [part for part in (name, first) if not _words(part) <= said]
        said = said.union(*map(_words, new))
        notes += [f"{': '.join(new)}."] if new else []
    return " ".join([tool.description.rstrip(), *notes]).strip() if notes else ""


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))

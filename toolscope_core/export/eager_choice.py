"""Chooses the tools that stay in every prompt when a client's model searches for the others, and
prepares those that are left to the search, which reads only the exported text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.catalog.tokens import Costs, Size
from toolscope_core.merging.former_names import with_tools
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import source_text, tool_name_words
from toolscope_core.wording.words import sentences

BUDGET = 2_000
"""The default token budget of tools in every prompt."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class LoadingEvidence:
    """The data on which the choice is based.

    ``calls`` are counted by the id of the input tool. ``shares`` has, by the id of the outgoing
    tool, the share of the tool's own requests for which the search returns the tool. ``deferrals``
    are people's decisions, by the id of the input tool.
    """

    calls: Mapping[str, int] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    deferrals: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoadedTool:
    """An outgoing tool and how clients load it.

    ``calls`` is the number of calls to all tools that it replaces. ``share`` is ``None`` if it was
    not measured. ``is_eager`` says whether the tool is in every prompt, and ``is_decided`` whether
    a person decided this.
    """

    tool: Tool
    tokens: int
    calls: int
    share: float | None
    is_eager: bool
    is_decided: bool

    @property
    def lost_calls(self) -> float:
        """The expected number of calls that a search would lose, assuming one more call than was
        made.

        0 if the share was not measured.
        """
        return (self.calls + 1) * (1 - self.share) if self.share is not None else 0.0


def loaded_tools(
    plan: MergePlan,
    evidence: LoadingEvidence,
    budget: int,
    costs: Costs,
    format: str = PROMPT_FORMATS[0],
) -> tuple[LoadedTool, ...]:
    """All outgoing tools, sorted by the calls that a search would lose, then by calls, both
    descending.

    Tools are put in every prompt in this order until ``budget`` tokens are used. A tool without
    calls that the search never misses is left to the search, and so is a tool that the scan blocks.
    People's decisions come first, whatever the size of their tools.
    """
    deferrals, rows = evidence.deferrals, []
    for item in plan.tools:
        own = item.tool.id
        decided_ids = [one for one in (own, *item.members) if one in deferrals]
        rows.append(
            LoadedTool(
                tool=item.tool,
                tokens=costs.of(item.tool, format),
                calls=sum(evidence.calls.get(one, 0) for one in item.members),
                share=evidence.shares.get(own),
                is_eager=bool(decided_ids) and not deferrals[decided_ids[0]],
                is_decided=bool(decided_ids),
            )
        )
    remaining = budget - sum(row.tokens for row in rows if row.is_eager)
    ordered = sorted(rows, key=lambda one: (-one.lost_calls, -one.calls, one.tool.id))
    for place, row in enumerate(ordered):
        is_useful = (row.calls or row.lost_calls) and row.tool.id not in plan.catalog.blocked
        if is_useful and not row.is_decided and row.tokens <= remaining:
            remaining -= row.tokens
            ordered[place] = replace(row, is_eager=True)
    return tuple(ordered)


def eager_ids(rows: Sequence[LoadedTool]) -> tuple[str, ...]:
    """The sorted ids of the tools that are in every prompt."""
    return tuple(sorted(row.tool.id for row in rows if row.is_eager))


def loading_sizes(plan: MergePlan, costs: Costs, format: str) -> tuple[Size, Size]:
    """The size of the outgoing tools in every prompt, and of all tools that a search can return
    together.

    Only definitions count, without the search tool and the text in it about the other tools.
    """
    sizes = [Size(), Size()]
    for item in plan.tools:
        is_deferred = plan.eager is not None and item.tool.id not in plan.eager
        sizes[is_deferred] += costs.size(item.tool, format)
    return sizes[0], sizes[1]


def with_member_words(plan: MergePlan) -> MergePlan:
    """The plan with members' words in the descriptions of merged tools that are left to a search.

    If no tool is left to a search, the plan is unchanged.
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
    """The description, then each member's name in words and first sentence if they add a new word.

    Empty if none of them adds one.
    """
    words = _words(" ".join((*tool_name_words(tool), tool.description)))
    notes = []
    for member in members:
        name = " ".join(tool_name_words(member))
        first = next(iter(sentences(without_hidden(source_text(member)))), "").rstrip(".")
        new = [part for part in (name, first) if not _words(part) <= words]
        words = words.union(*map(_words, new))
        notes += [f"{': '.join(new)}."] if new else []
    return " ".join([tool.description.rstrip(), *notes]).strip() if notes else ""


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))

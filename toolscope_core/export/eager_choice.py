"""Chooses the tools that stay in every prompt when a client's model searches for the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import Costs, Size
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool

BUDGET = 2_000
"""The default token budget of tools in every prompt."""


@dataclass(frozen=True, slots=True)
class LoadingEvidence:
    """The data for the choice.

    ``calls`` are by input tool id. ``shares`` has, by outgoing tool id, the share of the tool's own
    requests for which the search returns it. ``deferrals`` are people's decisions by input tool id.
    """

    calls: Mapping[str, int] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    deferrals: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoadedTool:
    """An outgoing tool and how it is loaded.

    ``calls`` are those of all tools it replaces; ``share`` is ``None`` if not measured;
    ``is_eager`` says whether it is in every prompt, ``is_decided`` whether a person decided that.
    """

    tool: Tool
    tokens: int
    calls: int
    share: float | None
    is_eager: bool
    is_decided: bool

    @property
    def lost_calls(self) -> float:
        """The expected number of calls lost by searching, counting one call more than were made."""
        return (self.calls + 1) * (1 - self.share) if self.share is not None else 0.0


def loaded_tools(
    plan: MergePlan,
    evidence: LoadingEvidence,
    budget: int,
    costs: Costs,
    format: str = PROMPT_FORMATS[0],
) -> tuple[LoadedTool, ...]:
    """Every outgoing tool, first those whose calls the search would lose most, then the most
    called.

    In this order tools are put in every prompt until ``budget`` tokens are used. Uncalled tools
    that the search never misses are left to it, and so are tools that the scan blocks. People's
    decisions come first, whatever their size.
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
    """The ids of the tools in every prompt, sorted."""
    return tuple(sorted(row.tool.id for row in rows if row.is_eager))


def loading_sizes(plan: MergePlan, costs: Costs, format: str) -> tuple[Size, Size]:
    """The size of the outgoing tools in every prompt, and of those that a search returns, all
    together.

    Only definitions count, without the search tool and its text about the others.
    """
    sizes = [Size(), Size()]
    for item in plan.tools:
        is_deferred = plan.eager is not None and item.tool.id not in plan.eager
        sizes[is_deferred] += costs.size(item.tool, format)
    return sizes[0], sizes[1]

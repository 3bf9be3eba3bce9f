"""Subsets: within a larger group, the tools of which any two could be merged unseen.

A group of three may hold two that say the same in other words and a third that a person must look
at. The two are offered by themselves then, and the third waits until they are one.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

from toolscope_core.model.cluster import Group

Clean = Callable[[tuple[str, ...]], bool]
"""Whether nothing but its probability speaks against merging these tools (ids, sorted) unseen."""

Weakest = Callable[[tuple[str, ...]], float]
"""The lowest probability of the same job over all pairs of these tools."""

_LARGEST = 12
"""Larger groups are left to people as they are: their pairs are many."""


def with_safe_subsets(
    groups: Sequence[Group], is_clean: Clean, weakest: Weakest, auto_at: float
) -> tuple[Group, ...]:
    """The groups, those that are not clean divided into their subsets and the rest, sorted.

    Groups that people decided on, or put forward, stay; so does one without a subset. A rest of one
    tool is in no group.
    """
    parts = [part for group in groups for part in _divided(group, is_clean, weakest, auto_at)]
    return tuple(sorted(parts, key=lambda group: group.members))


def _divided(group: Group, is_clean: Clean, weakest: Weakest, auto_at: float) -> list[Group]:
    ids = group.members
    if group.decided or group.put_forward or not 2 < len(ids) <= _LARGEST or is_clean(ids):
        return [group]
    clean = {pair for pair in combinations(ids, 2) if is_clean(pair) and weakest(pair) >= auto_at}
    subsets: list[list[str]] = []
    for tool in ids:
        home = next(
            (subset for subset in subsets if all((one, tool) in clean for one in subset)), None
        )
        if home is None:
            subsets.append([tool])
        else:
            home.append(tool)
    parts = [tuple(subset) for subset in subsets if len(subset) > 1]
    if not parts:
        return [group]
    taken = {tool for part in parts for tool in part}
    rest = tuple(tool for tool in ids if tool not in taken)
    parts += [rest] if len(rest) > 1 else []
    return [
        replace(group, members=part, weakest_edge=weakest(part), split=True, intransitive=False)
        for part in parts
    ]

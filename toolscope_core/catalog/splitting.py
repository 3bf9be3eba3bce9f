"""Splits a toolset into parts that fit a client's limit on tools, and keeps servers together."""

from collections.abc import Sequence

from toolscope_core.model.cluster import grouped
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import sorted_ids

_NAMED = 4

ToolsetPart = tuple[MergedTool, ...]


def split(tools: Sequence[MergedTool], most: int | None) -> tuple[ToolsetPart, ...]:
    """Parts of at most ``most`` tools (one part for ``None``), each sorted by id; every tool is in
    one.

    Servers are taken in the order of their names, and each goes as a whole into the first part that
    has room. Only a server with more than ``most`` tools is cut, by id. The given order does not
    matter.
    """
    if most is None or len(tools) <= most:
        return (tuple(sorted(tools, key=_id)),)
    by_server = grouped(sorted(tools, key=_id), lambda item: item.tool.server)
    parts: list[list[MergedTool]] = []
    for _, group in sorted(by_server.items()):
        for start in range(0, len(group), most):
            piece = group[start : start + most]
            room = next((part for part in parts if len(part) + len(piece) <= most), None)
            if room is None:
                parts.append(piece)
            else:
                room += piece
    return tuple(tuple(sorted(part, key=_id)) for part in parts)


def servers_of(part: ToolsetPart) -> tuple[str, ...]:
    """The servers of a part that have a name, sorted by name."""
    return tuple(name for name in sorted_ids(item.tool.server for item in part) if name)


def parts_in_words(parts: Sequence[ToolsetPart]) -> str:
    """The parts in words: the servers in the first four parts, and how many tools each part has."""
    words = [
        f"{', '.join(servers_of(part)[:_NAMED]) or 'tools'}"
        f"{' …' if len(servers_of(part)) > _NAMED else ''} ({len(part)})"
        for part in parts[:_NAMED]
    ]
    more = len(parts) - len(words)
    return "; ".join(words) + (f"; and {more} more" if more else "")


def _id(item: MergedTool) -> str:
    return item.tool.id

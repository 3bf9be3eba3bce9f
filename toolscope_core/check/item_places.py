"""Finds the lines of a check's cases in the files, and suggests repairs."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core.catalog.scan.hidden import HIDDEN, cleaned, for_terminal
from toolscope_core.catalog.source_lines import RecordLine, SourceLines, nearest_place
from toolscope_core.check.comparison_report import CHECKS, Fix, GateItem
from toolscope_core.check.policy import fingerprint_of
from toolscope_core.model.catalog import Catalog

_LONGEST_LINE = 1_000
"""A longer suggestion would be unreadable."""
_PLAIN_NAME = re.compile(r"[\w./:-]+")
_ESCAPE = re.compile(r"(?<!\\)\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class ItemPlaces:
    """The places of cases in files.

    A case is located through ``parts`` (by its fingerprint), otherwise through ``tools`` (by a
    tool's id), and otherwise at the first line of ``file``.
    """

    file: Path
    tools: Mapping[str, RecordLine] = field(default_factory=dict)
    parts: Mapping[str, RecordLine] = field(default_factory=dict)

    def of(self, item: GateItem) -> list[RecordLine]:
        """The place of a case, followed by the places of its other tools."""
        places = [self.tools[one] for one in item.tools if one in self.tools]
        first = item.source or self.parts.get(item.fingerprint)
        if first:
            is_tool = bool(item.tools) and item.tools[0] in self.tools
            return [first, *places[is_tool:]]
        return places or [RecordLine(self.file, 1)]


def item_places(
    catalog: Catalog, items: Sequence[GateItem], lines: SourceLines, file: Path
) -> ItemPlaces:
    """The places of the cases in a catalog's files; ``file`` is the first of these files.

    A removed tool gets the place of a neighbour.
    """
    named = {name for item in items for name in item.tools}
    by_name = {for_terminal(tool.id): tool for tool in catalog.tools}
    is_any_gone = any(item.check == "breaking" and item.tools[0] not in by_name for item in items)
    by_id = lines.tools(tool for name, tool in by_name.items() if name in named or is_any_gone)
    tools = {name: by_id[tool.id] for name, tool in by_name.items() if tool.id in by_id}
    parts = {}
    for item in items:
        name = item.tools[0] if item.tools else ""
        if name in tools:
            tool, place = by_name[name], tools[name]
            if item.fix and item.fix.old:
                parts[item.fingerprint] = lines.mention(tool, place, item.fix.old)
            elif item.place:
                parts[item.fingerprint] = lines.part(tool, place, item.place)
        elif item.check == "breaking" and (neighbour := nearest_place(name, tools)):
            parts[item.fingerprint] = neighbour
    return ItemPlaces(file, tools, parts)


def review_suggestions(items: Iterable[GateItem], places: ItemPlaces, lines: SourceLines) -> str:
    """Repairs that can be applied without further thought, as comments for a GitHub review.

    Each line is the JSON of one comment with ``path``, ``line`` and a ``body`` with the whole new
    line. The body begins with a mark in an HTML comment; equal suggestions have the same mark.
    """
    return "".join(
        f"{json.dumps(one, ensure_ascii=False)}\n" for one in _suggestions(items, places, lines)
    )


def _suggestions(
    items: Iterable[GateItem], places: ItemPlaces, lines: SourceLines
) -> Iterator[Mapping[str, str | int]]:
    titles = {one.name: one.title for one in CHECKS}
    mended: dict[RecordLine, tuple[str, list[str]]] = {}
    for item in items:
        place = places.of(item)[0]
        before, says = mended.get(place, (lines.text(place), []))
        after = before if item.fix is None else _mended(before, item.fix)
        if after != before and len(after) <= _LONGEST_LINE:
            mended[place] = after, [*says, f"{titles[item.check]}: {item.summary}."]
    for place, (line, says) in mended.items():
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", line)), default=0))
        text = f"{' '.join(dict.fromkeys(says))}\n\n{fence}suggestion\n{line}\n{fence}"
        path = place.file.as_posix()
        mark = f"<!-- toolscope {fingerprint_of(path, text)} -->"
        yield {"body": f"{mark}\n{text}", "path": path, "line": place.line, "side": "RIGHT"}


def _mended(line: str, fix: Fix) -> str:
    """The line after the fix: with the name replaced, or without hidden characters."""
    if fix.old:
        if not _PLAIN_NAME.fullmatch(fix.new):
            return line
        return re.sub(rf"(?<![\w-]){re.escape(fix.old)}(?![\w-])", lambda _: fix.new, line)
    return cleaned(_ESCAPE.sub(_as_hidden, line))


def _as_hidden(escape: re.Match[str]) -> str:
    """The hidden character of a JSON escape, or the escape itself."""
    char = chr(int(escape[1], 16))
    return char if HIDDEN.fullmatch(char) else escape[0]

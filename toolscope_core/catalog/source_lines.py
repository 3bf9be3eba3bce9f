"""Finds the lines in a catalog's files where its tools and their parts are defined."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from toolscope_core.catalog.flaws import MAX_DEPTH
from toolscope_core.catalog.values import LOADER, SPELLINGS
from toolscope_core.model.tool import JsonObject, Tool

_MOST_PLACES = 200
_MOST_LEVELS = 8
_LONGEST_RECORD = 200_000
_LONGEST_FILE = 4_000_000
"""In a file with more characters than this, parts of tools are not searched for."""
_RESULTS = frozenset(SPELLINGS["returns"].split())


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A place in a file; ``line`` is counted from 1."""

    file: Path
    line: int


@dataclass(slots=True)
class _Node:
    """A value, the line of its key (counted from 0), and the parts of the value by key.

    In a list, the key of a part is its text or its ``name``.
    """

    line: int
    text: str = ""
    parts: list[tuple[str, "_Node"]] = field(default_factory=list)
    is_mapping: bool = False


class SourceLines:
    """The lines of files, made from the files' bytes, which are given by path."""

    def __init__(self, files: Mapping[Path, bytes]) -> None:
        self._texts = {
            path: content.decode("utf-8-sig", "replace") for path, content in files.items()
        }
        self._trees: dict[Path, _Node] = {}

    def text(self, place: RecordLine) -> str:
        """The text of the line, without the line end."""
        lines = self._texts.get(place.file, "").split("\n")
        return lines[place.line - 1].removesuffix("\r") if place.line <= len(lines) else ""

    def tools(self, tools: Iterable[Tool]) -> dict[str, RecordLine]:
        """The line with each tool's name, by tool id; a tool that is not found is left out.

        If several tools have the name, the line is in the tool's own record. In a file that is not
        JSON, it is the first line with the name.
        """
        lines = {}
        for tool in tools:
            places = [(path, at) for path, text in self._texts.items() for at in _named(text, tool)]
            if not places:
                texts = self._texts.items()
                places = [(path, at) for path, text in texts for at in _said(text, tool)]
            own = (
                (path, at)
                for path, at in places
                if len(places) > 1 and tool.raw in _objects_around(self._texts[path], at)
            )
            if places:
                path, at = next(own, places[0])
                lines[tool.id] = RecordLine(path, self._texts[path].count("\n", 0, at) + 1)
        return lines

    def part(self, tool: Tool, place: RecordLine, path: str) -> RecordLine:
        """The line of a part of the tool whose name is at ``place``.

        If the part is gone, the result is the line of the nearest part around it. ``path`` is a
        path as in findings: ``schema/properties/x``.
        """
        record = _record(self._tree(place.file), tool.name, place.line - 1)
        if record is None:
            return place
        root, *keys = path.split("/")
        node, is_result = record, root == "returns"
        for key in keys if root in ("schema", "returns", "raw", "annotations") else [root, *keys]:
            node = _below(node, key, is_result if node is record else None) or node
        return place if node is record else RecordLine(place.file, node.line + 1)

    def mention(self, tool: Tool, place: RecordLine, name: str) -> RecordLine:
        """The first line in the tool's record that has a text with the name, or else ``place``
        itself.
        """
        record = _record(self._tree(place.file), tool.name, place.line - 1)
        lines = self._texts[place.file].split("\n")
        stack = [] if record is None else [part for _, part in reversed(record.parts)]
        while stack:
            node = stack.pop()
            if name in node.text:  # finds the right line if the text has several
                near = range(node.line, min(len(lines), node.line + _MOST_PLACES))
                at = next((number for number in near if name in lines[number]), node.line)
                return RecordLine(place.file, at + 1)
            stack += [part for _, part in reversed(node.parts)]
        return place

    def _tree(self, path: Path) -> _Node:
        if path not in self._trees:
            text = self._texts[path]
            self._trees[path] = _parsed(text) if len(text) <= _LONGEST_FILE else _Node(0)
        return self._trees[path]


def nearest_place(gone: str, places: Mapping[str, RecordLine]) -> RecordLine | None:
    """The place of a removed tool's neighbour by id: the tool before it, or else the tool after it.

    Tools on the same server are preferred.
    """
    server = gone.rpartition("/")[0]
    own = [one for one in places if one.rpartition("/")[0] == server]
    ids = sorted(own or places)
    return places[ids[max(0, bisect_left(ids, gone) - 1)]] if ids else None


def _parsed(text: str) -> _Node:
    """The tree of a JSON or YAML text, as far as it can be read. JSON is valid YAML, except for
    tabs.
    """
    root = _Node(0)
    stack, keys = [root], list[_Node | None]([None])
    try:
        for event in yaml.parse(text.replace("\t", " "), Loader=LOADER):
            if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                stack.pop()
                keys.pop()
            elif isinstance(event, yaml.NodeEvent):
                around, key = stack[-1], keys[-1]
                node = _Node(event.start_mark.line, getattr(event, "value", ""))
                if around.is_mapping and key is None:
                    keys[-1] = node
                else:
                    node.line = node.line if key is None else key.line
                    around.parts.append((node.text if key is None else key.text, node))
                    keys[-1] = None
                if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                    node.is_mapping = isinstance(event, yaml.MappingStartEvent)
                    stack.append(node)
                    keys.append(None)
                if len(stack) > MAX_DEPTH + 1:
                    return root
    except yaml.YAMLError:  # JSON Lines, or a table: everything read up to here counts
        pass
    return root


def _record(tree: _Node, name: str, line: int) -> _Node | None:
    """The object that has, on this line, a member with the name as its value."""
    stack = [tree]
    while stack:
        node = stack.pop()
        inner = [part for _, part in node.parts]
        if node.is_mapping and any(one.line == line and one.text == name for one in inner):
            return node
        stack += reversed(inner)
    return None


def _below(node: _Node, key: str, is_result: bool | None) -> _Node | None:
    """The nearest part below a node that has this key.

    ``is_result`` says whether to look only inside, or only outside, the description of results.
    """
    level = [
        part
        for part in node.parts
        if is_result is None or (re.sub(r"[\W_]", "", part[0].lower()) in _RESULTS) == is_result
    ]
    while level:
        for name, part in level:
            if key == (name or next((one.text for n, one in part.parts if n == "name"), "")):
                return part
        level = [inner for _, part in level for inner in part.parts]
    return None


def _named(text: str, tool: Tool) -> Iterator[int]:
    """The places where a member of a JSON object has the tool's name as its value."""
    forms = {json.dumps(tool.name), json.dumps(tool.name, ensure_ascii=False)}
    member = re.compile(rf"\"[\w$-]+\"\s*:\s*(?:{'|'.join(map(re.escape, sorted(forms)))})")
    for number, match in enumerate(member.finditer(text)):
        if number < _MOST_PLACES:
            yield match.start()


def _said(text: str, tool: Tool) -> Iterator[int]:
    """The first place in a text where the tool's name is a value, or else a word; nothing if
    there is none.
    """
    name = re.escape(tool.name)
    match = re.search(rf"(?m)(?<=: )[\"']?{name}[\"']?\s*$", text)
    match = match or re.search(rf"(?<![\w-]){name}(?![\w-])", text)
    if match and tool.name:
        yield match.start()


def _objects_around(text: str, at: int) -> Iterator[JsonObject]:
    decoder = json.JSONDecoder()
    for _ in range(_MOST_LEVELS):
        at = text.rfind("{", max(0, at - _LONGEST_RECORD), at)
        if at < 0:
            return
        try:
            yield decoder.raw_decode(text[at : at + _LONGEST_RECORD])[0]
        except (ValueError, RecursionError):
            continue

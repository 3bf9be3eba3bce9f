"""The line of a file on which a tool stands."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolscope_core.model.tool import JsonObject, Tool

_MOST_PLACES = 200
_MOST_LEVELS = 8
_LONGEST_RECORD = 200_000


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A place in a file; ``line`` counts from 1."""

    file: Path
    line: int


def record_lines(tools: Iterable[Tool], files: Mapping[Path, bytes]) -> dict[str, RecordLine]:
    """By tool id the line of its name. Where several tools have the name, that of the record which
    is the tool's own; in a file that is no JSON the first that holds the name. A tool that stands
    nowhere is left out.
    """
    texts = {path: content.decode("utf-8-sig", "replace") for path, content in files.items()}
    lines = {}
    for tool in tools:
        places = [(path, text, at) for path, text in texts.items() for at in _named(text, tool)]
        if not places:
            places = [(path, text, at) for path, text in texts.items() for at in _said(text, tool)]
        own = (
            place for place in places if len(places) > 1 and tool.raw in _objects_around(*place[1:])
        )
        if places:
            path, text, at = next(own, places[0])
            lines[tool.id] = RecordLine(path, text.count("\n", 0, at) + 1)
    return lines


def _named(text: str, tool: Tool) -> Iterator[int]:
    """Where a JSON member has the tool's name as its value."""
    forms = {json.dumps(tool.name), json.dumps(tool.name, ensure_ascii=False)}
    member = re.compile(rf"\"[\w$-]+\"\s*:\s*(?:{'|'.join(map(re.escape, sorted(forms)))})")
    for number, match in enumerate(member.finditer(text)):
        if number < _MOST_PLACES:
            yield match.start()


def _said(text: str, tool: Tool) -> Iterator[int]:
    """Where a text first has the tool's name as a word, if it does."""
    match = re.search(rf"(?<![\w-]){re.escape(tool.name)}(?![\w-])", text)
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

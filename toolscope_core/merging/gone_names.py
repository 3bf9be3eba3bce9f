"""Names of tools that are gone, in lines of text and in the values of a JSON document.

A tool may be called like a word that people use (``search``), so where a name stands decides. One
that no plain word looks like (``fetch_tide``, ``getTide``, ``saw.get``, ``mcp__harbor__search``)
counts wherever it stands as a word of its own. A plain word counts where only a name does: in
backticks and before a bracket; in a value of a document also as all of it, as the key of an object
or a list, quoted beside a colon, and behind *tool*, *function*, *action* or *name* with a colon.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolscope_core.model.groups import grouped
from toolscope_core.model.plan import Relabel

_WORD = re.compile(r"\w[\w.\-/:]*")
_MARKED = re.compile(r"`([^`\s]{1,128})`|\b(\w{1,128})\(")
_IN_CODE = re.compile(
    r"[\"']([^\"'\s\\]{1,128})\\*[\"'](?=\s*:)|[:=]\s*\\*[\"']([^\"'\s\\]{1,128})\\*[\"']"
    r"|\b(?:tool|function|action|name)(?:\s*[:=]\s*|\s+name=)([^\s<>,;\"'`]{1,128})",
    re.IGNORECASE,
)
_BORDER = re.compile(r"[^\W_][\W_]+[^\W_]|[a-z][A-Z]|[^\W\d]\d")
"""What a name has that no plain word has."""
_BETWEEN = ("/", ".", "__", ":", "_")
"""What clients and files put between a server and a tool."""


@dataclass(frozen=True, slots=True)
class LeftName:
    """A name that is gone and still stands in a value: at which JSON pointer, also through JSON
    that a text holds, and what it is called now, empty for a tool that was left out.
    """

    path: str
    name: str
    now: str


def gone_names(relabels: Iterable[Relabel], still: Iterable[str]) -> dict[str, str]:
    """Old name → new names of the tools that are gone, and the name with its server, as clients
    write it, → the new id. A bare name that a tool ``still`` has is none.
    """
    rows = _changed(relabels)
    names = set(still)
    gone = {
        old: " or ".join(sorted({row.new_name for row in group if row.new_name}))
        for old, group in grouped(rows, lambda row: row.old_name).items()
        if old not in names
    }
    for row in rows:
        if row.server:
            gone[f"mcp__{_plain(row.server)}__{row.old_name}"] = row.new_id or ""
    return gone


def gone_forms(relabels: Sequence[Relabel]) -> dict[str, str]:
    """The names and ids that a relabel mapping takes away, in every form in which files write them
    → the new name; none that means a tool of the merged toolset.
    """
    kept = [row for row in relabels if row.new_id == row.old_id]
    alive = {form for row in kept for form in _forms(row.old_id, row.server, row.new_name or "")}
    gone = {
        form: row.new_name or ""
        for row in _changed(relabels)
        for form in _forms(row.old_id, row.server, row.old_name)
    }
    return {form: now for form, now in gone.items() if form.strip() and form not in alive}


def names_in(line: str, gone: Mapping[str, str]) -> set[str]:
    """The names in a line of text that are ``gone``."""
    whole = [word.rstrip(".-/:") for word in _WORD.findall(line)]
    words = {*whole, *(part for word in whole for part in re.split("[/:]", word))}
    marked = {one or other for one, other in _MARKED.findall(line)}
    clear = {word for word in words & gone.keys() if _BORDER.search(word)}
    return clear | (marked & gone.keys())


def left_names(value: Any, gone: Mapping[str, str], said: Collection[str]) -> Iterator[LeftName]:
    """The names in the texts and keys of a JSON value that are ``gone`` (``gone_forms``), in their
    order; not at the pointers of which it is ``said`` already what became of them.
    """
    odd = [name for name in gone if not _WORD.fullmatch(name) and re.search(r"\w", name)]
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, inner = waiting.pop()
        inner = _parsed(inner)
        if isinstance(inner, dict):
            waiting += [(f"{path}/{_escaped(key)}", sub) for key, sub in inner.items()][::-1]
            for key, sub in inner.items():
                own = _in_text(key, gone, odd, is_name=isinstance(sub, (dict, list)))
                yield from (LeftName(f"{path}/{_escaped(key)}", name, gone[name]) for name in own)
        elif isinstance(inner, list):
            waiting += [(f"{path}/{row}", sub) for row, sub in enumerate(inner)][::-1]
        elif isinstance(inner, str) and path not in said:
            found = _in_text(inner, gone, odd, is_name=True)
            yield from (LeftName(path, name, gone[name]) for name in found)


def _changed(relabels: Iterable[Relabel]) -> list[Relabel]:
    return [row for row in relabels if row.new_id != row.old_id or row.new_name != row.old_name]


def _forms(tool_id: str, server: str, name: str) -> set[str]:
    """What a tool is called: by id, and by name with and without its server."""
    names = {name, _plain(name)}
    if not server:
        return {tool_id, *names}
    servers = {server, _plain(server)}
    fronts = {f"{one}{mark}" for one in servers for mark in _BETWEEN}
    fronts |= {
        f"{front}{one}{mark}" for one in servers for front, mark in (("mcp__", "__"), ("mcp_", "_"))
    }
    return {tool_id, *names, *(front + own for front in fronts for own in names)}


def _plain(name: str) -> str:
    """The name as clients send it that take no other characters."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)


def _in_text(text: str, gone: Mapping[str, str], odd: Iterable[str], *, is_name: bool) -> list[str]:
    """The gone names in a text of a document, sorted, none that is only a part of another one;
    ``is_name``: the text may be nothing but a name.
    """
    found = names_in(text, gone)
    found |= {part for marks in _IN_CODE.findall(text) for part in marks} & gone.keys()
    found |= {one for word in _WORD.findall(text) for one in _tails(word) if one in gone}
    found |= {one for one in odd if one in text and _stands_alone(one, text)}
    if is_name and text.strip() in gone:
        found.add(text.strip())
    return sorted(one for one in found if not any(one != other and one in other for other in found))


def _tails(word: str) -> Iterator[str]:
    """What stands behind each mark that may follow a server, if no plain word looks like it."""
    for mark in re.finditer(r"__|[./:]", word):
        tail = word[mark.end() :].rstrip(".-/:")
        if _BORDER.search(tail):
            yield tail


def _stands_alone(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _parsed(value: Any) -> Any:
    """The object or list that a text holds as JSON, also as the JSON of a text; else the value."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        inside = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return _parsed(inside)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")

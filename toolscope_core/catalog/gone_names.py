"""Finds names of removed tools in lines of text and in JSON values.

A tool may share its name with an ordinary word (``search``), so the position of the name decides.

A name that does not look like a plain word (``fetch_tide``, ``getTide``, ``saw.get``,
``mcp__harbor__search``) counts as a separate word in any case, between marks (``fetch_tide.json``)
or after a server. A longer identifier (``call_fetch_tide``, ``my-fetch_tide``) is another name.

A plain word counts, as spelled, only in a position for names: in backticks and before a bracket. In
a value of a document it also counts as the whole text, quoted beside a colon or in a list, after
*tool*, *function*, *action* or *name*, beside an arrow, and as a key of an object or list. As the
key of a number or truth value it counts only among other tool names, and never in the arguments of
a call. As the key of a text it does not count, because it may be the name of an argument.
"""

import html
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.model.cluster import grouped
from toolscope_core.model.plan import Relabel
from toolscope_core.model.unicode_forms import normalise, plain_name

_WORD = re.compile(r"\w[\w.\-/:]*")
_MARKED = re.compile(r"`\s{0,9}([^`\s]{1,128})\s{0,9}`|\b(\w{1,128})(?:\(|\s?\(?\{\s{0,9}[\"'}])")
_NAME = r"[^\s<>,;|&\"'`*()\[\]{}]{1,128}"
_TOOLS = r"(?:tool|function|action)"
_MARK = r"[\s\"'`*>(\[-]{0,40}"
_IN_CODE = re.compile(
    rf"[\"']({_NAME})[\"'](?=\s*:)|[:=]\s{{0,9}}[\"']({_NAME})[\"']"
    rf"|[\[,]\s{{0,9}}[\"']({_NAME})[\"'](?=\s{{0,9}}[\],])"
    rf"|(?:(?:\b|_){_TOOLS}s?(?:[_ -]?(?:name|call|id))?|\bname)"
    rf"[\"'`*]{{0,3}}\s{{0,9}}(?:[:=>]|\sname=){_MARK}({_NAME})"
    rf"|\b(?:tools?|functions?)[./]({_NAME})"
    rf"|(?:{_TOOLS}|call|invoke|run)\w{{0,40}}\(\s{{0,9}}[\"']({_NAME})[\"']"
    rf"|\b(\w{{1,128}})(?=\s{{0,9}}(?:->|=>|→))|(?:->|=>|→)\s{{0,9}}(\w{{1,128}})",
    re.IGNORECASE,
)
_LISTED = re.compile(
    rf"\b{_TOOLS}s\s{{0,9}}[:=][ \t]{{0,40}}\[?"
    rf"((?:[ \t]{{0,40}}\n?[ \t]{{0,40}}[,-]?[ \t]{{0,9}}{_NAME}(?=[ \t]{{0,9}}(?:[,\n\]]|$)))+)",
    re.IGNORECASE,
)
_BORDER = re.compile(r"[^\W_][\W_]+[^\W_]|[a-z][A-Z]|[^\W\d]\d")
"""Matches a border between words, which a name may contain but a plain word does not."""
_BETWEEN = ("/", ".", "__", ":", "_", "::", "-", "--")
"""The characters that clients and files write between a server and a tool."""
_LONGEST = 512
_ARGUMENTS = frozenset(("arguments", "args", "kwargs", "input", "parameters", "params"))


@dataclass(frozen=True, slots=True)
class _SharedName:
    """A name that tools on several servers had, and that some of them still have.

    Words in a row decide which is meant: ``living_words`` point to a tool that still has the name,
    ``gone_words`` to a tool that no longer has it.
    """

    living_words: frozenset[str]
    gone_words: frozenset[str]


@dataclass(frozen=True, slots=True)
class GoneNames:
    """A mapping from each removed name to the new name, which is empty for a tool that was left
    out.

    ``alive`` are the names of existing tools. A name in ``shared_names`` is in both; the row
    decides which tool is meant.
    """

    new_names: Mapping[str, str]
    alive: frozenset[str] = frozenset()
    shared_names: Mapping[str, _SharedName] = field(default_factory=dict)
    _clear: Mapping[str, str] = field(init=False)
    _odd: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        alive = {name.casefold() for name in self.alive}
        clear = {name.strip("_"): name for name in self.new_names if _BORDER.search(name)}
        other = {_readable(own).casefold(): name for own, name in clear.items()}
        odd = (old for old in self.new_names if not _WORD.fullmatch(old) and re.search(r"\w", old))
        by_spelling = {own: name for own, name in other.items() if own not in alive} | clear
        object.__setattr__(self, "_clear", by_spelling)
        object.__setattr__(self, "_odd", tuple(odd))

    def in_words(self, text: str) -> set[str]:
        """The removed names in a readable text, except names that look like plain words."""
        names = {name for name in self._odd if name in text and _stands_alone(name, text)}
        for word in map(_stripped, _WORD.findall(text)):
            tail = next((one for one in _tails(word) if self._of(one) or one in self.alive), "")
            parts = (one.strip("_") for one in re.split(r"__|[./:]+", word.removesuffix(tail)))
            names |= {self._of(one) for one in (tail, *parts)}
        return names - {""}

    def _of(self, word: str) -> str:
        if not is_clear_name(word):
            return ""
        return self._clear.get(word, self._clear.get(word.casefold(), ""))


@dataclass(frozen=True, slots=True)
class LeftName:
    """A removed name that still occurs in a value.

    ``path`` is its JSON pointer, which may lead through JSON inside a text. ``new_name`` is empty
    for a tool that was left out.
    """

    path: str
    name: str
    new_name: str


def gone_names(relabels: Iterable[Relabel], still: Iterable[str]) -> GoneNames:
    """The names of removed tools: old name → new name, and server and name as clients write them →
    new id.

    A name without a server is left out if a tool in ``still`` has it.
    """
    rows = _changed_rows(relabels)
    alive = frozenset(still)
    new_names = {
        old: _either(row.new_name for row in group)
        for old, group in grouped(rows, lambda row: row.old_name).items()
        if old not in alive
    }
    for row in rows:
        if row.server:
            new_names[f"mcp__{plain_name(row.server)}__{row.old_name}"] = row.new_id or ""
    return GoneNames(new_names, alive)


def gone_forms(relabels: Sequence[Relabel]) -> GoneNames:
    """The names and ids that a relabel mapping removes, in every form that files use.

    No form of an existing tool is included, except in ``shared_names``, which has the bare names
    that an existing and a removed tool share.
    """
    changed, same = _changed_rows(relabels), [row for row in relabels if row.new_id == row.old_id]
    living = {form for row in same for form in _forms(row.old_id, row.server, row.new_name or "")}
    names = {
        form: row.new_name or ""
        for row in changed
        for form in _forms(row.old_id, row.server, row.old_name)
    }
    ids = {row.old_id for row in same}
    lost = grouped(
        (row for row in changed if row.new_name != row.old_name), lambda row: row.old_name
    )
    living_by_name = grouped(same, lambda row: row.new_name or "")
    shared_names = {
        name: _SharedName(_row_words(living_by_name[name]), _row_words(lost[name]))
        for name in lost.keys() & living_by_name.keys() - ids
    }
    names |= {name: _either((*(row.new_name for row in lost[name]), name)) for name in shared_names}
    living -= shared_names.keys()
    return GoneNames(
        {form: new for form, new in names.items() if form.strip() and form not in living},
        frozenset(living),
        shared_names,
    )


def is_clear_name(name: str) -> bool:
    """Whether the name cannot be mistaken for a plain word."""
    return _BORDER.search(name) is not None


def gone_names_in(line: str, gone: GoneNames) -> set[str]:
    """The names of removed tools in a line of text."""
    text = _readable(line)
    return gone.in_words(text) | (_matches(_MARKED, text) & gone.new_names.keys())


def left_names(value: Any, gone: GoneNames, exempt: Collection[str]) -> Iterator[LeftName]:
    """The removed names (``gone_forms``) in the texts and keys of a row, in order.

    ``exempt`` pointers are skipped, because it is known what happened to them. A shared name counts
    only if the row does not point to a tool that still has the name.
    """
    leftovers = [*_places(value, gone, exempt)]
    words = _words_of(value) if any(one.name in gone.shared_names for one in leftovers) else set()
    for one in leftovers:
        shared = gone.shared_names.get(one.name)
        if shared is None or not words & shared.living_words or words & shared.gone_words:
            yield one


def _places(value: Any, gone: GoneNames, exempt: Collection[str]) -> Iterator[LeftName]:
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        path, inner = stack.pop()
        inner = _parsed(inner)
        names: Iterable[tuple[str, str]] = ()
        if isinstance(inner, dict):
            stack += [(f"{path}/{_escaped(key)}", sub) for key, sub in inner.items()][::-1]
            is_listing = _is_listing(path, inner, gone)
            names = (
                (f"{path}/{_escaped(key)}", name)
                for key, sub in inner.items()
                for name in _in_text(key, gone, is_name=is_listing or isinstance(sub, (dict, list)))
            )
        elif isinstance(inner, list):
            stack += [(f"{path}/{row}", sub) for row, sub in enumerate(inner)][::-1]
        elif isinstance(inner, str) and path not in exempt:
            names = ((path, name) for name in _in_text(inner, gone, is_name=True))
        yield from (LeftName(at, name, gone.new_names[name]) for at, name in names)


def _is_listing(path: str, inner: Mapping[str, Any], gone: GoneNames) -> bool:
    """Whether an object only lists tools: their names are its keys, with numbers or truth
    values.
    """
    return _ARGUMENTS.isdisjoint(path.split("/")) and all(
        (key in gone.new_names or key in gone.alive) and isinstance(sub, (int, float))
        for key, sub in inner.items()
    )


def _words_of(value: Any) -> set[str]:
    """The texts and keys in a value, and those of their words that do not look like plain words."""
    words, stack = set[str](), [value]
    while stack:
        inner = _parsed(stack.pop())
        if isinstance(inner, dict):
            stack += [*inner.keys(), *inner.values()]
        elif isinstance(inner, list):
            stack += inner
        elif isinstance(inner, str):
            own = map(_stripped, _WORD.findall(_readable(inner)))
            words |= {inner.strip(), *(word for word in own if _BORDER.search(word))}
    return words


def _changed_rows(relabels: Iterable[Relabel]) -> list[Relabel]:
    return [row for row in relabels if row.new_id != row.old_id or row.new_name != row.old_name]


def _either(names: Iterable[str | None]) -> str:
    return " or ".join(sorted({name for name in names if name}))


def _row_words(rows: Iterable[Relabel]) -> frozenset[str]:
    """The words that point to one of the tools in ``rows``, and not to another of the same name."""
    return frozenset(
        word
        for row in rows
        for word in (row.server, row.new_id or "", *_forms(row.old_id, row.server, row.old_name))
        if word and word not in (row.old_name, plain_name(row.old_name))
    )


def called_names(relabels: Sequence[Relabel]) -> dict[str, tuple[str, str | None]]:
    """Each name that clients and files use for a tool, with and without server → (old id, new
    name).

    The new name has the same form; it is ``None`` for a tool that was left out. A name that several
    tools have is not included.
    """
    servers = {row.new_id: row.server for row in relabels if row.new_id == row.old_id}
    names: dict[str, tuple[str, str | None]] = {}
    shared = set[str]()
    for row in relabels:
        own: dict[str, tuple[str, str | None]] = {}
        fronts = _fronts(row.server)
        new_fronts = fronts
        if row.server and row.new_id is not None:
            new_fronts = _fronts(servers.get(row.new_id, row.server))
        olds = [front + name for front in fronts for name in _spellings(row.old_name)]
        news = [front + name for front in new_fronts for name in _spellings(row.new_name or "")]
        for old, new in zip(olds, news, strict=True):
            own.setdefault(old, (row.old_id, None if row.new_name is None else new))
        shared |= own.keys() & names.keys()
        names |= own
    return {name: tool for name, tool in names.items() if name.strip() and name not in shared}


def _forms(tool_id: str, server: str, name: str) -> set[str]:
    """The forms of a tool's name: the tool's id, and the name with and without the server."""
    return {tool_id, *(front + own for front in _fronts(server) for own in _spellings(name))}


def _fronts(server: str) -> list[str]:
    """The prefixes that clients and files put before a tool's name, always in the same order.

    They are the empty prefix, and one for each way to write the server. For a tool without a
    server, all are empty.
    """
    fronts = [""]
    for one in (server, plain_name(server)):
        fronts += [one + mark for mark in _BETWEEN]
        fronts += [f"{front}{one}{mark}" for front, mark in (("mcp__", "__"), ("mcp_", "_"))]
    return fronts if server else [""] * len(fronts)


def _spellings(name: str) -> tuple[str, str]:
    return name, plain_name(name)


def _readable(text: str) -> str:
    """The text with entities, percent signs and escapes decoded, and without hidden characters.

    If a backslash and a letter may either be an escape or precede a name, both readings are
    included.
    """
    text = unquote(html.unescape(text))
    if not text.isascii():
        text = normalise("NFKC", without_hidden(text))
    if "\\" not in text:
        return text
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    text = re.sub(r"\\+(?=[^\w\s]|_)", "", text)
    return "\n".join(re.sub(escape, " ", text) for escape in (r"\\+[nrtbf]", r"\\+"))


def _in_text(text: str, gone: GoneNames, *, is_name: bool) -> list[str]:
    """The removed names in a document's text, sorted, without names that are part of another one.

    ``is_name`` says that the whole text may be a name.
    """
    readable = _readable(text)
    marked = _matches(_IN_CODE, readable) | _matches(_MARKED, readable)
    marked |= {word for run in _LISTED.findall(readable) for word in re.split(r"[\s,-]+", run)}
    if is_name:
        marked |= {text.strip(), readable.strip()}
    names = gone.in_words(readable) | (marked & gone.new_names.keys())
    return sorted(one for one in names if not any(one != other and one in other for other in names))


def _matches(pattern: re.Pattern[str], text: str) -> set[str]:
    """The groups of all matches, both with and without surrounding punctuation."""
    groups = {group for match in pattern.findall(text) for group in match if group}
    return groups | set(map(_stripped, groups))


def _stripped(word: str) -> str:
    return word.rstrip(".-/:").strip("_")


def _tails(word: str) -> Iterator[str]:
    """The word, and each part that follows a mark which may come after a server."""
    yield word
    for mark in re.finditer(r"__|[./:]", word):
        if len(word) - mark.end() <= _LONGEST:
            yield word[mark.end() :]


def _stands_alone(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _parsed(value: Any) -> Any:
    """The object or list in a JSON text, even if it was encoded twice; otherwise the value."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        inside = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return _parsed(inside)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")

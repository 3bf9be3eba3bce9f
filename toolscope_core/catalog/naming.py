"""Gives ids to tools and names to the sources of a catalog, whatever the order of the input."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from toolscope_core.catalog.scan.lookalikes import SEPARATORS, name_key, plain_text
from toolscope_core.catalog.sources import Source
from toolscope_core.model.catalog import Finding
from toolscope_core.model.cluster import grouped
from toolscope_core.model.tool import Tool, canonical_json, digest
from toolscope_core.model.unicode_forms import plain_name

_DIGITS = 6
_HASH_DIGITS = 64
REPEAT = "exact-repeat"
FOLDED = "one-name-in-a-client"


def assign_ids(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools, sorted by id and each with a unique id.

    Tools come with the id from their record. If several tools share an id, each gets ``~`` and the
    first 6 hex digits of its fingerprint. More digits are used if different tools have the same
    digits, or if the result is taken. Among tools with the same fingerprint, the second gets ``-2``
    in addition, the third ``-3``, and so on.
    """
    groups = grouped(tools, lambda tool: tool.id)
    identified = [group[0] for group in groups.values() if len(group) == 1]
    used_ids = {tool.id for tool in identified}
    for own_id in sorted(groups):
        if len(groups[own_id]) > 1:
            ids = _distinct_ids(groups[own_id], used_ids)
            used_ids.update(ids)
            group = sorted(groups[own_id], key=_content_order)
            identified += [replace(tool, id=id_) for tool, id_ in zip(group, ids, strict=True)]
    return tuple(sorted(identified, key=lambda tool: tool.id))


def ids_by_name(tools: Sequence[Tool]) -> dict[str, str]:
    """Tool ids by the names that may be used for them: the id itself, or a name that only one
    tool has.
    """
    uses = Counter(tool.name for tool in tools)
    names = {tool.name: tool.id for tool in tools if uses[tool.name] == 1}
    return names | {tool.id: tool.id for tool in tools}


def find_repeats(tools: Sequence[Tool]) -> tuple[Finding, ...]:
    """An ``info`` finding for each tool whose server, name and definition are the same as
    another tool's.
    """
    first: dict[str, str] = {}
    findings = []
    for tool in sorted(tools, key=lambda tool: (len(tool.id), tool.id)):
        original = first.setdefault(tool.fingerprint, tool.id)
        if original != tool.id:
            message = f"This tool is an exact copy of {original!r}; keep only one of them."
            findings.append(Finding(tool.id, "info", REPEAT, "name", message, tool.name))
    return tuple(findings)


def find_folded(tools: Sequence[Tool]) -> tuple[Finding, ...]:
    """A *warn* finding for each tool that a client calls by the same name as another tool.

    Claude Code writes ``_`` in place of every other mark in the names of servers and tools.
    """
    called = grouped(
        (tool for tool in tools if tool.server and re.search(r"[a-zA-Z0-9]", tool.name)),
        lambda tool: f"mcp__{plain_name(tool.server)}__{plain_name(tool.name)}",
    )
    findings = []
    for name, group in called.items():
        owners = {(tool.server, tool.name): tool.id for tool in reversed(group)}
        for tool in group if len(owners) > 1 else ():
            other = min(owners[key] for key in owners.keys() - {(tool.server, tool.name)})
            message = (
                f"Claude Code uses the same name, {name}, for this tool and {other!r}; rename "
                "one of them on its server."
            )
            findings.append(Finding(tool.id, "warn", FOLDED, "name", message, tool.name))
    return tuple(findings)


def source_names(sources: Sequence[Source]) -> tuple[str, ...]:
    """One name for each source, in order: the stem of the label, with folders if stems are equal.

    If the labels of sources are equal, their names also contain a hash of their content.
    """
    spellings: tuple[Callable[[Source], str], ...] = (
        lambda source: PurePosixPath(source.label).stem,
        lambda source: source.label.removesuffix(PurePosixPath(source.label).suffix),
        lambda source: source.label,
        lambda source: f"{source.label}~{digest(source.data.hex())[:_DIGITS]}",
    )
    names = [""] * len(sources)
    for spell in spellings:
        candidates = [spell(source) for source in sources]
        counts = Counter(candidates)
        last = spell is spellings[-1]
        names = [
            name or (other if last or counts[other] == 1 else "")
            for name, other in zip(names, candidates, strict=True)
        ]
    return tuple(names)


def _distinct_ids(tools: Sequence[Tool], used_ids: set[str]) -> list[str]:
    """Ids for tools that share an id, in the order of ``_content_order``."""
    prints = sorted(tool.fingerprint for tool in tools)
    suffixes = [
        f"-{copy}" if copy > 1 else ""
        for _, repeats in itertools.groupby(prints)
        for copy, _ in enumerate(repeats, 1)
    ]
    ids: list[str] = []
    for length in itertools.count(_DIGITS):
        mark = "~" * max(1, length - _HASH_DIGITS + 1)
        stems = [f"{tools[0].id}{mark}{print_[:length]}" for print_ in prints]
        ids = [stem + suffix for stem, suffix in zip(stems, suffixes, strict=True)]
        if len(set(ids)) == len(ids) and used_ids.isdisjoint(ids):
            break
    return ids


def _content_order(tool: Tool) -> tuple[str, str]:
    return tool.fingerprint, canonical_json(tool.raw)


_INNER_BORDER = re.compile(r"[^\W_][\W_]+[^\W_]|[a-z][A-Z]")
"""Matches a border between words, which a name of several words contains but a plain word does
not.
"""
_KINDS = r"(?:tool|function|api|endpoint|method|command|operation)s?"


def mentioned_names(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that the text contains in any spelling, in the order of ``names``.

    A name of several words counts if its words follow each other, whatever is between them:
    ``send_mail`` is found in *sendMail*, *Send-Mail* and *send mail*. A single word may be ordinary
    prose, so it counts only in backticks, before ``()``, and beside a word such as *tool*.
    """
    plain = plain_text(text).casefold()
    words = [word for word in SEPARATORS.split(plain) if word]
    return tuple(
        name
        for name in names
        if (key := name_key(name))
        and (_in_a_row(key, words) if _INNER_BORDER.search(name) else _is_marked(key, plain))
    )


def identifier_keys(names: Iterable[str]) -> dict[str, str]:
    """The names that have several words, each under a key that all its spellings share."""
    return {name_key(name): name for name in names if _INNER_BORDER.search(name)}


def cited_identifiers(text: str, keys: Mapping[str, str]) -> tuple[str, ...]:
    """The names in ``keys`` (``identifier_keys``) that occur in the text as identifiers, in text
    order.

    Identifiers are forms such as ``sendMail`` or ``send-mail``. With spaces, the words are ordinary
    words.
    """
    names = (keys.get(key) for key in _identifiers(plain_text(text)))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _in_a_row(key: str, words: list[str]) -> bool:
    """Whether consecutive words, joined together, equal the key."""
    for start in range(len(words)):
        joined = ""
        for word in words[start:]:
            joined += word
            if joined == key:
                return True
            if not key.startswith(joined):
                break
    return False


def _is_marked(key: str, plain: str) -> bool:
    """Whether a single word occurs in a position for names."""
    word = re.escape(key)
    marked = rf"`{word}`|\b{word}\(\)|\b{word} {_KINDS}\b|\b{_KINDS} [`\"'“‘]?{word}\b"
    return re.search(marked, plain) is not None


def _identifiers(text: str) -> Iterator[str]:
    """The keys of identifiers, which are written in one piece but have a border between words."""
    for piece in (*text.split(), *re.findall(r"\w+(?:[.\-]\w+)*", text)):
        if _INNER_BORDER.search(piece):
            yield name_key(piece)

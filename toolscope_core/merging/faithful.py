"""Checks whether a model's text may replace the texts of a cluster's members.

Objections are listed; until a person overrides them, the offline document stays. A model misled by
a tool's text is stopped here too: anything that the offline document lacks (a link, an address, a
tool name, text that addresses models) is a violation.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from toolscope_core.catalog.scan.hidden import passages
from toolscope_core.catalog.scan.scanner import ORDER_LIKE, scan_tool
from toolscope_core.decisions.document_rules import document_problems
from toolscope_core.judging.guards import safety_notes, unshared_notes, whole_text
from toolscope_core.merging.clusters import documented
from toolscope_core.merging.synthesis import Synthesis, edited_arguments
from toolscope_core.model.cluster import Document
from toolscope_core.model.numbers import listed
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import read_tool
from toolscope_core.wording.vocabulary import action_classes
from toolscope_core.wording.wordnet import is_word
from toolscope_core.wording.words import STOP_WORDS, WordKeys, is_filler, keys_of, words_of

Code = Literal[
    "invalid",
    "lossy",
    "parameter",
    "ability",
    "address",
    "tool",
    "invented",
    "safety",
    "hostile",
    "long",
]

_MOST_TIMES = 3
"""A description that is longer than the longest replaced text times this factor says more than its
sources.
"""
_SHORT = 400
_WORD = re.compile(r"\w+(?:[.\-]\w+)*")
_IDENTIFIER = re.compile(r"[^\W_]_\w|[a-z][A-Z]|\w-\w+-\w")
_QUOTED = re.compile(r"`([^`\s]{1,80})`")
_ADDRESSES = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s<>\"'`)\]]+|\bwww\.[^\s<>\"'`)\]]+|[\w.+-]+@[\w-]+\.[\w.-]*\w"
    r"|\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|ai|co|me|xyz|ru|cn|info|sh|cc|tk|top)\b"
    r"(?:/[^\s<>\"'`)\]]*)?|\b\d{1,3}(?:\.\d{1,3}){3}\b",
    re.IGNORECASE,
)


_CERTAIN_ADDRESS = re.compile(r"[/@]|^www\.|^[\d.]+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Violation:
    """An objection to a written document, as a sentence.

    ``excerpt`` is untrusted text: part of the document, or the note that the document dropped.
    """

    code: Code
    message: str
    excerpt: str = ""

    @property
    def sentence(self) -> str:
        """The message, followed by the excerpt unless the message contains it."""
        return self.message if self.excerpt in self.message else f"{self.message}: {self.excerpt}"


@dataclass(frozen=True, slots=True)
class Change:
    """A text in the written document that replaces another; ``place`` says where."""

    place: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """The context for checking a document.

    ``names`` are those of the catalog's other tools. ``suspicious_ids`` are the members whose text
    addresses models, so that none of it has to be kept.
    """

    names: frozenset[str] = frozenset()
    suspicious_ids: frozenset[str] = frozenset()


def violations(
    document: Document, synthesis: Synthesis, members: Sequence[Tool], context: DocumentContext
) -> tuple[Violation, ...]:
    """The objections to ``document`` as a replacement for the document of the ``synthesis``; empty
    if there are none.
    """
    canonical = next(tool for tool in members if tool.id == synthesis.canonical)
    before, after = (
        whole_text(documented(canonical, one)) for one in (synthesis.document, document)
    )
    speaking = members if synthesis.kind == "gateway" else (canonical,)
    trusted = [tool for tool in speaking if tool.id not in context.suspicious_ids]
    name = without_addresses(document.name)  # the model is asked for this in a gateway tool
    allowed = "\n".join([before, name, *_dotted_words(trusted)])
    return (
        *(
            Violation("invalid", text)
            for text in document_problems(document, synthesis.document, context.names)
        ),
        *_lost(document, synthesis, members),
        *_of_others(document, synthesis, members, context.suspicious_ids),
        *invented(allowed, after, members, context),
        *_dropped(after, members, context),
        *hostile(documented(canonical, synthesis.document), documented(canonical, document)),
        *_overlong(document, members),
    )


def text_changes(before: Document, after: Document) -> tuple[Change, ...]:
    """The texts that differ: name, description, descriptions of parameters, in that order."""
    old, new = (Tool("", d.name, d.description, schema=d.schema) for d in (before, after))
    rows = [
        Change("name", old.name, new.name),
        Change("description", old.description, new.description),
    ]
    descriptions = {parameter.name: parameter.description for parameter in old.parameters}
    rows += [Change(p.name, descriptions.get(p.name, ""), p.description) for p in new.parameters]
    return tuple(row for row in rows if row.before != row.after)


def _lost(document: Document, synthesis: Synthesis, members: Sequence[Tool]) -> Iterator[Violation]:
    """Violations if α is no longer lossless, or the parameters are not those of the synthesis."""
    schema, own = document.schema or {}, synthesis.document.schema or {}
    for name in sorted(set(schema.get("properties") or {}) - set(own.get("properties") or {})):
        yield Violation("parameter", f"it declares `{name}`, which no member takes", name)
    new_maps = edited_arguments(members, synthesis.canonical, schema, synthesis.arguments)
    for before, alpha in zip(synthesis.arguments, new_maps, strict=True):
        if before.lossless and not alpha.lossless:
            why = [*alpha.lossy, *alpha.dropped.values()]
            yield Violation("lossy", f"calls to {alpha.tool_id} would lose something: {why[0]}")


def _of_others(
    document: Document, synthesis: Synthesis, members: Sequence[Tool], suspects: frozenset[str]
) -> Iterator[Violation]:
    """Words of a drop-in's description about things that only the switched-off tools do.

    The kept tool does not express them in any form, nor does an argument that it takes, nor a
    warning.
    """
    if synthesis.kind != "drop_in":
        return
    stays = next(tool for tool in members if tool.id == synthesis.canonical)
    sources = (move.source for alpha in synthesis.arguments for move in alpha.moves)
    notes = (note for tool in members if tool.id not in suspects for note in safety_notes(tool))
    own = _keys((*_texts(stays), *sources, *notes))
    acts = read_tool(stays).classes
    words = [
        word
        for word in _plain_words(document.description)
        if own.isdisjoint(keys_of(word)) and acts.isdisjoint(action_classes(word))
    ]
    for tool in members:
        theirs = _keys(_texts(tool))
        promised = [word for word in words if not theirs.isdisjoint(keys_of(word))]
        if promised:
            yield Violation("ability", f"it mentions {listed(promised)}, as only {tool.id} does")


def invented(
    before: str, after: str, members: Sequence[Tool], context: DocumentContext
) -> Iterator[Violation]:
    """Addresses, tool names and unknown names in ``after`` that neither ``before`` nor the members'
    words contain.
    """
    suspects = context.suspicious_ids
    sources = {word.casefold() for tool in members for word in _words_of(tool, tool.id in suspects)}
    cited = {address.casefold() for address in _ADDRESSES.findall(before)}
    for address in dict.fromkeys(_ADDRESSES.findall(after)):
        if address.casefold() not in cited:
            yield Violation(
                "address",
                f"it cites {address!r}, which the original text does not contain",
                address,
            )
    names = set(_names(before))
    others = context.names | {tool.name for tool in members}
    for name in _names(after):
        if name in names:
            continue
        if name in others:
            yield Violation("tool", f"it names `{name}`, another tool", name)
        elif name.casefold() not in sources and not _is_phrase(name):
            yield Violation("invented", f"it names `{name}`, which no member mentions", name)


def _dropped(after: str, members: Sequence[Tool], context: DocumentContext) -> Iterator[Violation]:
    """Members' sentences on dangers or prohibitions that no sentence repeats."""
    trusted = [tool for tool in members if tool.id not in context.suspicious_ids]
    for tool, note in unshared_notes(trusted, after):
        yield Violation("safety", f"a safety note of {tool.id} is missing", note)


def hostile(before: Tool, after: Tool, is_request: bool = False) -> Iterator[Violation]:
    """The findings that the scan would report in ``after`` but not in ``before``.

    With ``is_request`` the text is a request to an agent, which may read like an order.
    """
    codes = {finding.code for finding in scan_tool(replace(before, raw={}))}
    codes |= {ORDER_LIKE} if is_request else set()
    for finding in scan_tool(replace(after, raw={})):
        if finding.severity != "info" and finding.code not in codes:
            yield Violation("hostile", finding.message, finding.excerpt)


def _overlong(document: Document, members: Sequence[Tool]) -> Iterator[Violation]:
    most = max(_SHORT, _MOST_TIMES * max(len(tool.description) for tool in members))
    length = len(document.description)
    if length > most:
        yield Violation("long", f"the description has {length:,} characters (limit: {most:,})")


def _words_of(tool: Tool, is_suspicious: bool) -> Iterator[str]:
    """The words that may be cited for a tool.

    These are all of its words, or only declared names if its text addresses models.
    """
    declared = (tool.name, *(parameter.name for parameter in tool.parameters))
    for text in declared if is_suspicious else _texts(tool):
        yield from _WORD.findall(text)


def _plain_words(text: str) -> list[str]:
    """The informative words, without repeats and identifiers, in lower case."""
    return [word for word in dict.fromkeys(words_of(text)) if len(word) > 1 and not is_filler(word)]


def _keys(texts: Iterable[str]) -> WordKeys:
    """The keys by which the words may be recognised; two consecutive words also count as one."""
    words = [word for text in texts for word in words_of(text)]
    compounds = {first + second for first, second in pairwise(words)}
    return frozenset(key for word in (*words, *compounds) for key in keys_of(word))


def _texts(tool: Tool) -> Iterator[str]:
    return (passage.text for passage in passages(tool))


def _dotted_words(tools: Iterable[Tool]) -> Iterator[str]:
    """Words of the tools that look like a host but need not be one: *cs.AI*."""
    for tool in tools:
        for text in _texts(tool):
            addresses = _ADDRESSES.findall(text)
            yield from (one for one in addresses if not _CERTAIN_ADDRESS.search(one))


def _is_phrase(name: str) -> bool:
    """Whether the name consists of plain words with hyphens: *point-to-point*."""
    parts = name.split("-")
    return len(parts) > 1 and all(is_word(one) or one in STOP_WORDS for one in parts)


def without_addresses(text: str) -> str:
    """The text with each link, host and mail address replaced by a word."""
    return _ADDRESSES.sub("address", text)


def _names(text: str) -> list[str]:
    """Words that cannot be plain words, and words in backticks, in order."""
    bare = _ADDRESSES.sub(" ", text)
    identifiers = [word for word in _WORD.findall(bare) if _IDENTIFIER.search(word)]
    return list(dict.fromkeys([*identifiers, *_QUOTED.findall(bare)]))

"""Finds hostile text in tools and servers of a catalog, and tools that interfere with others.

*block*: hidden characters, names in disguise, text that redefines another tool or takes a secret
without the user's knowledge, and shadowing. *warn*: wording that addresses the model, names of
other tools, secrets, markup, and over-long text. *info*: anything else that is good to know. The
sentences of a finding say what was found, where, and what to do.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from toolscope_core.catalog.scan import suspicious_wording
from toolscope_core.catalog.scan.hidden import (
    Passage,
    find_hidden,
    passages,
    server_passages,
    visible,
)
from toolscope_core.catalog.scan.lookalikes import find_lookalikes, name_key, plain_text
from toolscope_core.catalog.scan.orders import TextOrder, reads_like_order
from toolscope_core.catalog.tokens import estimate_tokens
from toolscope_core.model.catalog import Finding, Server
from toolscope_core.model.cluster import grouped
from toolscope_core.model.tool import Tool

TOKEN = re.compile(r"\w+(?:[.\-]\w+)*")
_IDENTIFIER = re.compile(r"[^\W_][_.]\w|\w-\w+-\w|[a-z][A-Z]|[A-Za-z]{2}\d")
QUOTED = re.compile(r"`([^`\s]{2,80})`|\b(\w{2,80})\(\)")
SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_SHORTEST = 4

_CITED = "citedtool"
REDEFINES = re.compile(
    rf"\b(?:instead\W+of|in\W+place\W+of|rather\W+than|replac(?!ing)\w+|supersed\w+|overrid\w+|redefin\w+"
    rf"|supplant\w*|shadow\w*|deprecat\w+)\s+\W?{suspicious_wording.FEW}\W?{_CITED}"
    rf"|{_CITED}\W+{suspicious_wording.FEW}(?:deprecated|broken|obsolete|disabled|outdated|unsafe|insecure|removed|"
    rf"replaced|superseded|compromised|unreliable|retired|no\W+longer|(?:does|do|must|should|can|"
    rf"will)\W*(?:not|n['’]t|never))\b"
    rf"|\b(?:do\W+not|don['’]?t|never|stop|avoid|ignore|disregard)\W+{suspicious_wording.FEW}\W?{_CITED}"
    rf"|\b(?:when|whenever|before|after|while|if|once|(?:each|every|any)\W+time|prior\W+to|for|with)"
    rf"\W+{suspicious_wording.FEW}(?:us(?:e|es|ed|ing)|call(?:s|ed|ing)?|invok(?:e|es|ed|ing)|run(?:s|ning)?|call\W+to|"
    rf"calls\W+to)?\W*{suspicious_wording.FEW}{_CITED}[^\n]*\b(?:must|always|never|should|shall|has\W+to|have\W+to|"
    rf"need\w*\W+to|first|instead|change|set|bcc|replace|append|redirect)\b"
    rf"|{_CITED}\W+{suspicious_wording.FEW}(?:must|always|never|should|shall|now|has\W+to|needs?\W+to)\W+{suspicious_wording.FEW}\w",
    re.IGNORECASE,
)
COMES_FIRST = re.compile(
    rf"\b(?:before|prior\W+to)\W+{suspicious_wording.FEW}{_CITED}", re.IGNORECASE
)
"""Matches text saying that another tool comes after this one, which is normal on one server."""


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of all tools, each with its servers.

    ``rare`` are names that prose does not contain by chance: ``get_user``, ``getUser``,
    ``get-user-name``.
    """

    owners: Mapping[str, set[str]]
    rare: frozenset[str]

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> "ToolNames":
        owners: defaultdict[str, set[str]] = defaultdict(set)
        for tool in tools:
            owners[tool.name].add(tool.server)
        rare = (name for name in owners if len(name) >= _SHORTEST and _IDENTIFIER.search(name))
        return cls(dict(owners), frozenset(rare))


_NAMES = frozenset(("name", "server", "raw/id"))
"""Fields that do not contain prose."""


def find_citations(tool: Tool, texts: Sequence[Passage], names: ToolNames) -> Iterator[Finding]:
    """Findings on a tool whose ``texts`` name other tools, each at the first place.

    There is one finding for tools on the same server and one for the rest. Rare names count
    anywhere; plain words count only in backticks or before ``()``.
    """
    own = {plain_text(tool.name), tool.name}
    reported: set[tuple[str, str]] = set()
    for passage in texts:
        if " " not in passage.text or passage.path in _NAMES:
            continue  # names, keys and types are not prose
        text = plain_text(passage.text)
        for name in sorted(_cited(text, names) - own):
            finding = _citation(tool, passage, text, name, names)
            if (finding.code, finding.severity) not in reported:
                reported.add((finding.code, finding.severity))
                yield finding


def _cites_tools(tool: Tool, texts: Sequence[Passage], names: ToolNames) -> bool:
    prose = (passage.text for passage in texts if passage.path not in _NAMES)
    return any(_cited(text, names) - {tool.name} for text in prose)


def _cited(text: str, names: ToolNames) -> set[str]:
    names_found = {*names.rare.intersection(TOKEN.findall(text))}
    if "`" in text or "()" in text:
        marked = (one or other for one, other in QUOTED.findall(text))
        names_found.update(name for name in marked if name in names.owners)
    return names_found


def _citation(tool: Tool, passage: Passage, text: str, name: str, names: ToolNames) -> Finding:
    owners = names.owners[name]
    at = text.find(name)
    plain = Passage(passage.path, text)
    label = visible(name).replace("{", "{{").replace("}", "}}")
    sentences = [*_sentences(text, name)]
    redefines = name in names.rare and any(map(REDEFINES.search, sentences))
    is_one_list = not tool.server and owners == {""}
    if not is_one_list:
        redefines = redefines or any(map(COMES_FIRST.search, sentences))
    if tool.server and tool.server in owners and len(owners) > 1 and redefines:
        message = (
            f"The {{field}} says how to use {label!r}, a name that other servers have too; "
            "make sure that it means its own tool."
        )
        return plain.finding(tool.id, "warn", "cites-tool", message, at)
    if tool.server and tool.server in owners:
        message = (
            f"The {{field}} names {label!r} of the same server; if you merge that tool, "
            "change the name here too."
        )
        return plain.finding(tool.id, "info", "cites-tool", message, at)
    if redefines:
        message = (
            f"The {{field}} says how to use {label!r}, a tool of another server; leave this "
            "tool out, or have that text removed."
        )
        return plain.finding(tool.id, "block", "redefines-tool", message, at)
    message = (
        f"The {{field}} names {label!r}, which may be a tool of another server; check what it says."
    )
    return plain.finding(tool.id, "warn", "cites-tool", message, at)


def _sentences(text: str, name: str) -> Iterator[str]:
    """The sentences that contain the name, with a mark in place of the name."""
    pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?!\w)")
    marked = pattern.sub(_CITED, text)
    for sentence in SENTENCE.split(marked):
        if _CITED in sentence:
            yield sentence


_BORDER = re.compile(r"[\W_]|[a-z][A-Z]")
"""Matches a border between the words of a name; many tools may have a name of a single word."""
ADDED = {
    "hidden-unicode": "hidden characters",
    "redefines-tool": "rules for other tools",
    "instruction-like": "instructions to the model",
    "insists": "pressure to use it",
    "ordering-claim": "a claim to be used before other tools",
    "asks-context": "a request for the conversation or the prompt",
    "encoded-order": "encoded orders",
    "secret-path": "a path where secrets are kept",
    "active-markup": "images, links or scripts",
    "padding": "text pushed out of view",
}
MILD = {"insists", "active-markup", "secret-path", "ordering-claim"}
"""Findings that prove nothing if only the names match, because tools with the same job have them
too.
"""
COPIED = 0.85
IN_ORDER = 0.4
LONGER = 3
"""A text that is this many times as long as another contains the other's words by chance. It
counts as a copy only if enough neighbouring words of the short text are side by side in it.
"""
FEWEST_WORDS = 8
_KEYS = 3


def find_shadowing(tools: Sequence[Tool], findings: Sequence[Finding]) -> Iterator[Finding]:
    """A *block* finding on each tool that copies a tool of another server and adds something in
    ``ADDED`` that the original does not contain.

    ``findings`` are those on all tools. A copy has nearly all words of the original's description.
    It may instead have the original's name, if both tools have a named server and the addition is
    more than ``MILD``. A tool without a named server counts as one of another server.
    """
    added: defaultdict[str, dict[str, Finding]] = defaultdict(dict)
    for finding in findings:
        if finding.code in ADDED and finding.severity != "info":
            added[finding.tool_id].setdefault(finding.code, finding)
    if not added:
        return
    originals = _Originals([tool for tool in tools if tool.id not in added])
    for tool in tools:
        codes = added.get(tool.id, {})
        if not codes:
            continue
        if original := originals.copied_by(tool):
            yield _shadowing(tool, f"copies {visible(original.id)!r}", codes)
        elif not codes.keys() <= MILD and (original := originals.namesake_of(tool)):
            yield _shadowing(tool, f"has the name of {visible(original.id)!r}", codes)


class _Originals:
    """Finds the original of a copied tool by its name and by the rarest words of descriptions."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._by_name = grouped(tools, lambda tool: name_key(tool.name))
        self._by_word: defaultdict[str, list[Tool]] = defaultdict(list)
        self._texts = {tool.id: _text(tool) for tool in tools}
        self._words = {tool_id: frozenset(text) for tool_id, text in self._texts.items()}
        common = Counter(word for words in self._words.values() for word in words)
        for tool in tools:
            words = self._words[tool.id]
            if len(words) >= FEWEST_WORDS:
                for word in sorted(words, key=lambda word: (common[word], word))[:_KEYS]:
                    self._by_word[word].append(tool)

    def namesake_of(self, tool: Tool) -> Tool | None:
        """The first tool on another server with the same name, if the name has several words."""
        if not tool.server or not _BORDER.search(tool.name):
            return None
        others = self._by_name.get(name_key(tool.name), ())
        return next((one for one in others if one.server not in ("", tool.server)), None)

    def copied_by(self, tool: Tool) -> Tool | None:
        """The first original, by id, whose words the tool copies."""
        text = _text(tool)
        words = frozenset(text)
        near = {other.id: other for word in words for other in self._by_word.get(word, ())}
        copied = (
            other
            for _, other in sorted(near.items())
            if not (tool.server and tool.server == other.server)
            and len(words & self._words[other.id]) >= COPIED * len(self._words[other.id])
            and self._is_in_order(text, other.id)
        )
        return next(copied, None)

    def _is_in_order(self, text: Sequence[str], other: str) -> bool:
        original = self._texts[other]
        if len(text) <= LONGER * len(original):
            return True
        pairs, own = {*pairwise(original)}, {*pairwise(text)}
        return len(pairs & own) >= IN_ORDER * len(pairs)


def _text(tool: Tool) -> Sequence[str]:
    return TOKEN.findall(plain_text(tool.description).casefold())


def _shadowing(tool: Tool, likeness: str, added: Mapping[str, Finding]) -> Finding:
    extras = " and ".join(ADDED[code] for code in added)
    message = f"This tool {likeness} and adds {extras}; keep the original and leave this one out."
    first = next(iter(added.values()))
    return Finding(tool.id, "block", "shadowing", first.field, message, first.excerpt)


WINDOW = 256

FindIn = Callable[[Sequence[Tool]], list[Finding]]
Scanned = Callable[[FindIn, Sequence[Tool]], list[Finding]]
"""How tools are handed to a function that finds something in each of them: at once or in parts."""


def at_once(find: FindIn, tools: Sequence[Tool]) -> list[Finding]:
    """The findings in all tools."""
    return find(tools)


def scan_catalog(
    tools: Sequence[Tool],
    servers: Sequence[Server] = (),
    scanned: Scanned = at_once,
    suspicious: Collection[str] | None = None,
) -> tuple[Finding, ...]:
    """All findings on the tools, in their order, then those on the texts of the servers.

    These are the findings on each tool by itself (``scan_tool``), and findings that depend on other
    tools: names in disguise, citations, secrets that no sibling asks for, and shadowing. If nothing
    was found in most tools when they were scanned among others, ``suspicious`` are the ids of the
    rest. Of the former, only those that name another tool are scanned by themselves again.
    """
    names = ToolNames.of(tools)
    texts = {tool.id: passages(tool) for tool in tools}

    def scan(part: Sequence[Tool]) -> list[Finding]:
        clean: set[str] = set()
        return [item for tool in part for item in _scan(tool, texts[tool.id], clean, names)]

    changed = tools
    if suspicious is not None:
        changed = [
            tool
            for tool in tools
            if tool.id in suspicious or _cites_tools(tool, texts[tool.id], names)
        ]
    findings = scanned(scan, changed)
    findings += find_lookalikes(tools)
    findings += suspicious_wording.find_requested_secrets(tools)
    findings += [one for tool in tools for one in find_citations(tool, texts[tool.id], names)]
    findings += find_shadowing(tools, findings)
    of_tool = grouped(findings, lambda finding: finding.tool_id)
    return (
        *(finding for tool in tools for finding in of_tool.get(tool.id, ())),
        *(finding for server in servers for finding in scan_server(server, names)),
    )


def scan_server(server: Server, names: ToolNames) -> tuple[Finding, ...]:
    """The findings on a server's text about itself, which agents read before any tool.

    They are the same as on the texts of a tool, plus *block* for orders, because the text is shown
    beside the orders of the agent's owner.
    """
    author = Tool("", "", server=server.name)
    texts = server_passages(server)
    findings = [finding for passage in texts for finding in _scan_text("", passage, names)]
    findings += filter(None, (suspicious_wording.find_order(passage) for passage in texts))
    findings += find_citations(author, texts, names)
    return tuple(replace(finding, server=server.name) for finding in findings)


def scan_words(tool: Tool, names: ToolNames) -> tuple[Finding, ...]:
    """The findings on a name and description that somebody gave to a tool, beside other tools."""
    texts = [Passage("name", tool.name), Passage("description", tool.description)]
    findings = [finding for passage in texts for finding in _scan_text(tool.id, passage, names)]
    return (*findings, *find_citations(tool, texts, names))


def scan_tool(tool: Tool) -> tuple[Finding, ...]:
    """The findings on a tool by itself: hidden characters, wording and length.

    Keys and unknown fields of the record are included. ``field`` is the path of the text
    (``schema/properties/x/description``); the paths of texts that only the record contains begin
    with ``raw``.
    """
    return tuple(_scan(tool, passages(tool), set(), ToolNames.of(())))


def _scan(
    tool: Tool, texts: Sequence[Passage], clean: set[str], names: ToolNames
) -> Iterator[Finding]:
    """The findings on each text that is not in ``clean``; texts without findings are added to
    ``clean``.
    """
    for passage in texts:
        # names have other rules
        if passage.text in clean and passage.path not in _NAMES:
            continue
        findings = [*_scan_text(tool.id, passage, names)]
        yield from findings
        if not findings and passage.path not in _NAMES:
            clean.add(passage.text)
    if len(tool.description) > WINDOW and estimate_tokens(tool.description) > WINDOW:
        yield _past_window(tool)


def _scan_text(tool_id: str, passage: Passage, names: ToolNames) -> Iterator[Finding]:
    hidden = find_hidden(tool_id, passage.path, passage.text)
    if hidden:
        yield hidden
    wording = suspicious_wording.read_wording(_as_words(passage))
    yield from wording.findings(tool_id, passage.path)
    is_plain = any(hit.code == "instruction-like" for hit in wording.hits)
    if wording.orders and not is_plain and passage.path not in _NAMES:
        yield from _order(tool_id, Passage(passage.path, wording.plain), wording.orders, names)
    over = suspicious_wording.find_length(tool_id, passage)
    if over:
        yield over


ORDER_LIKE = "order-like"
"""The code of the finding on a sentence that reads like an order, as each request to an agent
does.
"""
_CITING = 3
"""A sentence that names tools of the catalog must weigh this many times as much as an order,
because ``find_citations`` judges such sentences.
"""


def _order(
    tool_id: str, passage: Passage, orders: Sequence[TextOrder], names: ToolNames
) -> Iterator[Finding]:
    """A finding on the first order. Names of tools of the catalog count neither for nor against
    it.
    """
    for order in orders:
        sentence = passage.text[order.start : order.end]
        cited = _cited(sentence, names)
        for name in cited:
            sentence = sentence.replace(name, "")
        if not cited or reads_like_order(sentence, _CITING):
            words = suspicious_wording.quotation(passage.text[order.start : order.end])
            message = (
                f"The {{field}} “{words}” reads like an order, or like something beyond the job; "
                "read it before agents do."
            )
            yield passage.finding(tool_id, "warn", ORDER_LIKE, message, order.start)
            return


def _as_words(passage: Passage) -> str:
    """The text of a passage; a long name among allowed values is turned into a sentence."""
    text = passage.text
    is_value = _VALUE.search(passage.path) and text.count("_") >= _FEWEST_PARTS
    return text.replace("_", " ") if is_value and text.isidentifier() else text


_VALUE = re.compile(r"/(?:enum/\d+|default|const)$")
_FEWEST_PARTS = 3


def _past_window(tool: Tool) -> Finding:
    message = (
        f"The {{field}} has about {estimate_tokens(tool.description)} tokens. The embedding "
        f"model reads only {WINDOW}, so overlap is judged by the beginning; put what matters "
        "first."
    )
    passage = Passage("description", tool.description)
    return passage.finding(tool.id, "info", "past-window", message)


@dataclass(frozen=True, slots=True)
class WordedTool:
    """A tool with new words, and the findings on these words."""

    tool: Tool
    findings: tuple[Finding, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the tool kept some of its own words, one sentence for each."""
        blocked = {one.field: one.message for one in self.findings if one.severity == "block"}
        return tuple(f"{self.tool.id} keeps its {field}: {why}" for field, why in blocked.items())


def with_own_words(tool: Tool, name: str, description: str, names: ToolNames) -> WordedTool:
    """The tool with this name and description, or with its own if the given one is empty or
    blocked.

    ``names`` are the names of the tools beside it.
    """
    candidate = replace(tool, name=name or tool.name, description=description)
    findings = tuple(one for one in scan_words(candidate, names) if name or one.field != "name")
    blocked = {one.field for one in findings if one.severity == "block"}
    name = tool.name if not name or "name" in blocked else name
    is_own = not description or "description" in blocked
    description = tool.description if is_own else description
    return WordedTool(replace(tool, name=name, description=description), findings)

"""Tools and servers whose text names other tools, or even redefines them.

Only the server of a tool may describe it. A server that cites its own tools explains how they
work together (*info*); a text on another server, or in a catalog that names no servers, is
*warn*, and *block* where it says what the cited tool must do or that it is to be avoided. That one
tool comes before another is none of this in a list without servers.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.catalog.scan.hidden import visible
from toolscope_core.catalog.scan.lookalikes import plain_text
from toolscope_core.catalog.scan.passages import Passage
from toolscope_core.catalog.scan.suspicious_wording import FEW
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import Tool

TOKEN = re.compile(r"\w+(?:[.\-]\w+)*")
IDENTIFIER = re.compile(r"[^\W_][_.]\w|\w-\w+-\w|[a-z][A-Z]|[A-Za-z]{2}\d")
QUOTED = re.compile(r"`([^`\s]{2,80})`|\b(\w{2,80})\(\)")
SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
SHORTEST = 4

_CITED = "citedtool"
REDEFINES = re.compile(
    rf"\b(?:instead\W+of|in\W+place\W+of|rather\W+than|replac\w+|supersed\w+|overrid\w+|redefin\w+"
    rf"|supplant\w*|shadow\w*|deprecat\w+)\s+\W?{FEW}\W?{_CITED}"
    rf"|{_CITED}\W+{FEW}(?:deprecated|broken|obsolete|disabled|outdated|unsafe|insecure|removed|"
    rf"replaced|superseded|compromised|unreliable|retired|no\W+longer|(?:does|do|must|should|can|"
    rf"will)\W*(?:not|n['’]t|never))\b"
    rf"|\b(?:do\W+not|don['’]?t|never|stop|avoid|ignore|disregard)\W+{FEW}\W?{_CITED}"
    rf"|\b(?:when|whenever|before|after|while|if|once|(?:each|every|any)\W+time|prior\W+to|for|with)"
    rf"\W+{FEW}(?:us(?:e|es|ed|ing)|call(?:s|ed|ing)?|invok(?:e|es|ed|ing)|run(?:s|ning)?|call\W+to|"
    rf"calls\W+to)?\W*{FEW}{_CITED}[^\n]*\b(?:must|always|never|should|shall|has\W+to|have\W+to|"
    rf"need\w*\W+to|first|instead|change|set|bcc|replace|append|redirect)\b"
    rf"|{_CITED}\W+{FEW}(?:must|always|never|should|shall|now|has\W+to|needs?\W+to)\W+{FEW}\w",
    re.IGNORECASE,
)
COMES_FIRST = re.compile(rf"\b(?:before|prior\W+to)\W+{FEW}{_CITED}", re.IGNORECASE)
"""That another tool comes after this one, which a list of one server may well say."""


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of all tools, each with its servers; the ``rare`` ones no prose holds by chance:
    ``get_user``, ``getUser``, ``get-user-name``.
    """

    owners: Mapping[str, set[str]]
    rare: frozenset[str]

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> "ToolNames":
        owners: defaultdict[str, set[str]] = defaultdict(set)
        for tool in tools:
            owners[tool.name].add(tool.server)
        rare = (name for name in owners if len(name) >= SHORTEST and IDENTIFIER.search(name))
        return cls(dict(owners), frozenset(rare))


def find_citations(tool: Tool, texts: Sequence[Passage], names: ToolNames) -> Iterator[Finding]:
    """A finding on a tool whose ``texts`` name others, one for those of its own server and one for
    the rest, at the first place.

    Rare names count, and plain words where they stand in backticks or before ``()``.
    """
    own = {plain_text(tool.name), tool.name}
    reported: set[tuple[str, str]] = set()
    for passage in texts:
        if " " not in passage.text or passage.path in ("name", "server"):
            continue  # names, keys and types are no prose
        text = plain_text(passage.text)
        for name in sorted(_cited(text, names) - own):
            finding = _finding(tool, passage, text, name, names.owners[name])
            if (finding.code, finding.severity) not in reported:
                reported.add((finding.code, finding.severity))
                yield finding


def _cited(text: str, names: ToolNames) -> set[str]:
    cited = {*names.rare.intersection(TOKEN.findall(text))}
    if "`" in text or "()" in text:
        marked = (one or other for one, other in QUOTED.findall(text))
        cited.update(name for name in marked if name in names.owners)
    return cited


def _finding(tool: Tool, passage: Passage, text: str, name: str, owners: set[str]) -> Finding:
    at = text.find(name)
    plain = Passage(passage.path, text)
    shown = visible(name).replace("{", "{{").replace("}", "}}")
    sentences = [*_sentences(text, name)]
    redefined = any(map(REDEFINES.search, sentences))
    is_one_list = not tool.server and owners == {""}
    if not is_one_list:
        redefined = redefined or any(map(COMES_FIRST.search, sentences))
    if tool.server and tool.server in owners and len(owners) > 1 and redefined:
        message = (
            f"The {{field}} says how {shown!r} is to be used, a name that other servers have too; "
            "make sure that it means its own."
        )
        return plain.finding(tool.id, "warn", "cites-tool", message, at)
    if tool.server and tool.server in owners:
        message = (
            f"The {{field}} names {shown!r} of the same server; rename it there too if you merge."
        )
        return plain.finding(tool.id, "info", "cites-tool", message, at)
    if redefined:
        message = (
            f"The {{field}} says how {shown!r}, a tool that is not its own, is to be used; leave "
            "this tool out, or have that text removed."
        )
        return plain.finding(tool.id, "block", "redefines-tool", message, at)
    message = (
        f"The {{field}} names {shown!r}, a tool that is not known to be its own; check what it "
        "says of it."
    )
    return plain.finding(tool.id, "warn", "cites-tool", message, at)


def _sentences(text: str, name: str) -> Iterator[str]:
    """The sentences that hold the name, which is replaced by a mark."""
    whole = re.compile(rf"(?<![\w]){re.escape(name)}(?!\w)")
    marked = whole.sub(_CITED, text)
    for sentence in SENTENCE.split(marked):
        if _CITED in sentence:
            yield sentence

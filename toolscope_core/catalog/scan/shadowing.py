"""Shadowing: a near-copy of another server's tool that adds what the original does not hold.

The copy ranks beside the original and is merged with it, so what it adds would reach every agent
that trusted the original. The original itself is never touched by this.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from toolscope_core.catalog.scan.citations import TOKEN
from toolscope_core.catalog.scan.hidden import visible
from toolscope_core.catalog.scan.lookalikes import name_key, plain_text
from toolscope_core.model.catalog import Finding
from toolscope_core.model.groups import grouped
from toolscope_core.model.tool import Tool

ADDED = {
    "hidden-unicode": "hidden characters",
    "redefines-tool": "rules for other tools",
    "instruction-like": "instructions to the model",
    "insists": "pressure to use it",
    "ordering-claim": "a claim to come before other tools",
    "asks-context": "a question for the conversation or the prompt",
    "secret-path": "a path where secrets are kept",
    "active-markup": "images, links or scripts",
    "padding": "text pushed out of view",
}
MILD = {"insists"}  # not enough where only the names agree
COPIED = 0.85
IN_ORDER = 0.4
LONGER = 3
"""A text this many times as long holds the words of a short one by chance: a copy has so many of
its neighbouring words side by side."""
FEWEST_WORDS = 6
KEYS = 3


def find_shadowing(tools: Sequence[Tool], findings: Sequence[Finding]) -> Iterator[Finding]:
    """A *block* finding on each tool that copies a tool of another server and adds something of
    ``ADDED`` that the original does not hold. ``findings`` are those of all tools.

    A copy has nearly all words of the original's description; or its name, where both servers are
    named and what it adds is more than ``MILD``. Servers that are not named count as others.
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
        original = originals.of(tool, by_name=not codes.keys() <= MILD) if codes else None
        if original is not None:
            yield _finding(tool, original, codes)


class _Originals:
    """Finds the tool that another one copies, by name and by the rarest words of descriptions."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._by_name = grouped(tools, lambda tool: name_key(tool.name))
        self._by_word: defaultdict[str, list[Tool]] = defaultdict(list)
        self._texts = {tool.id: _text(tool) for tool in tools}
        self._words = {tool_id: frozenset(text) for tool_id, text in self._texts.items()}
        common = Counter(word for words in self._words.values() for word in words)
        for tool in tools:
            words = self._words[tool.id]
            if len(words) >= FEWEST_WORDS:
                for word in sorted(words, key=lambda word: (common[word], word))[:KEYS]:
                    self._by_word[word].append(tool)

    def of(self, tool: Tool, by_name: bool) -> Tool | None:
        """The first original by name, else by id among those whose words are copied."""
        if by_name and tool.server:
            for other in self._by_name.get(name_key(tool.name), ()):
                if other.server and other.server != tool.server:
                    return other
        text = _text(tool)
        words = frozenset(text)
        near = {other.id: other for word in words for other in self._by_word.get(word, ())}
        copied = (
            other
            for _, other in sorted(near.items())
            if not (tool.server and tool.server == other.server)
            and self._share(words, other.id) >= COPIED
            and self._is_in_order(text, other.id)
        )
        return next(copied, None)

    def _is_in_order(self, text: Sequence[str], other: str) -> bool:
        original = self._texts[other]
        if len(text) <= LONGER * len(original):
            return True
        pairs, own = {*pairwise(original)}, {*pairwise(text)}
        return len(pairs & own) >= IN_ORDER * len(pairs)

    def _share(self, words: frozenset[str], other: str) -> float:
        return len(words & self._words[other]) / len(self._words[other])


def _text(tool: Tool) -> Sequence[str]:
    return TOKEN.findall(plain_text(tool.description).casefold())


def _finding(tool: Tool, original: Tool, added: Mapping[str, Finding]) -> Finding:
    what = " and ".join(ADDED[code] for code in added)
    message = (
        f"This tool copies {visible(original.id)!r} and adds {what}; keep the original and leave "
        "this one out."
    )
    first = next(iter(added.values()))
    return Finding(tool.id, "block", "shadowing", first.field, message, first.excerpt)

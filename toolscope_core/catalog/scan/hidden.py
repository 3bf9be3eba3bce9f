"""Finds hidden characters in the texts of tools, which an agent reads but a person does not see.

A description with an invisible payload has the same embedding as the clean one, so a poisoned copy
looks like a perfect duplicate. Legitimate uses are allowed: emoji sequences, joiners inside Arabic
and Indic words, and one byte order mark at the start.
"""

import re
import unicodedata
from collections.abc import Set
from typing import Any, NamedTuple

from toolscope_core.catalog.flaws import below
from toolscope_core.model.catalog import Finding, Server, Severity
from toolscope_core.model.tool import Tool

BOM = "\ufeff"
JOINERS = "\u200c\u200d"
BRAILLE_BLANK = "\u2800"
EMOJI_STYLE = "\ufe0f"
STYLES = "\ufe0e\ufe0f"
KEYCAPS = tuple("0123456789#*")
AROUND = 30
_SHOWN = 60

CLASSES = {
    "tag characters": r"\U000E0000-\U000E007F",
    "variation selectors": r"\uFE00-\uFE0F\U000E0100-\U000E01EF",
    "zero-width characters": r"\u200B-\u200D\u2060\uFEFF\u00AD\u180E\u034F",
    "bidirectional controls": r"\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069",
    "blank letters": r"\u115F\u1160\u3164\uFFA0\u17B4\u17B5\u2800",
    "private-use characters": r"\uE000-\uF8FF\U000F0000-\U0010FFFD",
    # the visible format characters, such as Arabic number signs, are left out
    "control characters": r"\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u180B-\u180D\u180F\u2061-\u2065"
    r"\u206A-\u206F\uFFF0-\uFFFB\U00013430-\U0001343F\U0001BCA0-\U0001BCA3"
    r"\U0001D173-\U0001D17A\U000E0080-\U000E00FF\U000E01F0-\U000E0FFF",
}
HIDDEN = re.compile(f"[{''.join(CLASSES.values())}]")
CLASS_PATTERNS = {name: re.compile(f"[{chars}]") for name, chars in CLASSES.items()}
FLAGS = re.compile(  # England, Scotland and Wales are written with tag characters
    "\U0001f3f4(?:"
    + "|".join(
        "".join(chr(0xE0000 + ord(letter)) for letter in region)
        for region in ("gbeng", "gbsct", "gbwls")
    )
    + ")\U000e007f"
)
CURSIVE = re.compile(  # scripts whose words may contain joiners
    r"[\u0600-\u074F\u0750-\u077F\u08A0-\u08FF\u0900-\u0DFF\u1000-\u109F\u1780-\u17FF"
    r"\u1800-\u18AF\uFB50-\uFDFF\uFE70-\uFEFE]"
)


STRAYS = "\u00ad\u200b\u2060\ufeff"
"""Soft hyphen, zero-width space, word joiner and byte order mark, which editors leave behind."""
MOST_STRAYS, MOST_AT_BLANKS = 24, 6
"""The most stray characters in a text, and the most in gaps between words. In a gap, a stray is
one bit: it is there or not, so more of them could spell a word. In a path that is written out, a
stray may come before each slash.
"""
PROSE = ("description", "title", "summary", "$comment")
_EXAMPLES = re.compile(r"/examples?(/|$)")
_UNSPACED = re.compile(  # Thai, Lao, Khmer, Burmese, Chinese and Japanese write no spaces
    r"[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u9FFF]"
)


def find_hidden(tool_id: str, path: str, text: str) -> Finding | None:
    """A finding if the text contains hidden characters.

    It is *block*, or *warn* if the characters are stray and carry no meaning, or *info* for a
    single byte order mark at the start. The message decodes the text that tag characters spell.
    """
    places = _hidden_at(text)
    if not places:
        return None
    around = _spell(text, set(places), max(0, places[0] - AROUND), places[0] + _SHOWN)
    field = visible(path)
    if places == [0] and text[0] == BOM:
        message = f"The {field} starts with a byte order mark, which can be deleted."
        return Finding(tool_id, "info", "leading-bom", field, message, around)
    is_prose = path.rpartition("/")[2] in PROSE or _EXAMPLES.search(path)
    if is_prose and _are_stray(text, places):
        several = f"{len(places)} stray invisible characters"
        strays = "a stray invisible character" if len(places) == 1 else several
        message = f"The {field} has {strays}, which can be removed (`merge --fix`)."
        return Finding(tool_id, "warn", "stray-invisible", field, message, around)
    return Finding(tool_id, "block", "hidden-unicode", field, _message(field, text, places), around)


def without_hidden(text: str) -> str:
    """The text as a model reads it, without any hidden characters."""
    return HIDDEN.sub("", text)


def cleaned(text: str) -> str:
    """The text without the characters that ``count_hidden`` counts; legitimate uses do not
    change.
    """
    while places := set(_hidden_at(text)):
        text = "".join(char for place, char in enumerate(text) if place not in places)
    return text


def count_hidden(text: str) -> int:
    """The number of hidden characters, not counting legitimate uses."""
    return len(_hidden_at(text))


def visible(text: str) -> str:
    """The text with each hidden character written as its code point: ``⟨U+200B⟩``."""
    if not HIDDEN.search(text):
        return text
    return _spell(text, set(_hidden_at(text)), 0, len(text))


def for_agent(text: str) -> str:
    """The text in the form in which our messages show it to an agent.

    Hidden characters are written out. The only control characters that remain are tabs and line
    ends.
    """
    return visible(text).replace("\r\n", "\n").replace("\r", "\n")


def for_terminal(text: str) -> str:
    """The text in a form that a terminal can show safely, on one line.

    Each character that would move, colour or hide something is written as its code point.
    """
    shown = visible(text)
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else f"⟨U+{ord(c):04X}⟩" for c in shown)


def _message(field: str, text: str, places: list[int]) -> str:
    hidden = "".join(text[place] for place in places)
    kinds = [name for name, pattern in CLASS_PATTERNS.items() if pattern.search(hidden)]
    several = "s" if len(hidden) > 1 else ""
    message = (
        f"The {field} has {len(hidden)} hidden character{several} ({', '.join(kinds)}); delete "
        "them, or leave the tool out."
    )
    decoded = "".join(
        chr(ord(char) - 0xE0000) for char in hidden if "\U000e0020" <= char < "\U000e007f"
    )
    return f"{message} They spell: {decoded[:200]!r}." if decoded else message


def _hidden_at(text: str) -> list[int]:
    """The positions of hidden characters in order, without legitimate uses."""
    if text.isascii() and text.isprintable():
        return []
    flags = {place for flag in FLAGS.finditer(text) for place in range(*flag.span())}
    return [
        match.start()
        for match in HIDDEN.finditer(text)
        if match.start() not in flags and not _is_legitimate(text, match.start())
    ]


def _are_stray(text: str, places: list[int]) -> bool:
    """Whether the hidden characters hide nothing: few of one kind, no two in a row, and none in a
    word.

    Two alone before a word are also stray: they are left behind when a page is copied, and spell
    nothing.
    """
    if len({text[place] for place in places}) > 1 or text[places[0]] not in STRAYS:
        return False
    first, last = places[0], places[-1]
    if len(places) == 2 and last == first + 1 and text[first - 1 : first].isspace():
        return text[last + 1 : last + 2].isalpha()
    at_blanks = within_words = 0
    for place in places:
        before, after = text[place - 1 : place] if place else "", text[place + 1 : place + 2]
        if after == text[place]:
            return False
        if _UNSPACED.match(before) and _UNSPACED.match(after):
            within_words += 1
        elif before.isalnum() and after.isalnum():
            return False
        at_blanks += not (before.strip() and after.strip())
    return len(places) - within_words <= MOST_STRAYS and at_blanks <= MOST_AT_BLANKS


def _is_legitimate(text: str, place: int) -> bool:
    char, before, after = text[place], text[max(0, place - 2) : place], text[place + 1 : place + 2]
    if char in STYLES:
        return _is_picture(before[-1:]) or (before[-1:] in KEYCAPS and after == "\u20e3")
    if char == BRAILLE_BLANK:  # the space in Braille, beside other Braille letters
        return "\u2801" <= before[-1:] <= "\u28ff" or "\u2801" <= after <= "\u28ff"
    if char not in JOINERS or not before or not after:
        return False
    if CURSIVE.match(before[-1]) and CURSIVE.match(after):
        return True
    base = before.rstrip(EMOJI_STYLE)[-1:]
    return char == "\u200d" and _is_picture(base) and _is_picture(after)


def _is_picture(char: str) -> bool:
    """Whether a character may be part of an emoji sequence; Python does not know new emoji."""
    if not char or char.isascii():
        return False
    is_symbol = unicodedata.category(char) in ("So", "Sk", "Sm") or char in "‼⁉ℹ〰〽"
    return is_symbol or "\U0001f000" <= char <= "\U0001faff"


def _spell(text: str, hidden: set[int], start: int, end: int) -> str:
    spelling = "".join(
        f"⟨U+{ord(char):04X}⟩" if place in hidden else char
        for place, char in enumerate(text[start:end], start)
    )
    return f"{'…' if start else ''}{spelling}{'…' if end < len(text) else ''}"


EXCERPT_LENGTH = 90


class Passage(NamedTuple):
    """A text with its path in the definition (``schema/properties/x/description``).

    The paths of texts that only the record contains begin with ``raw``.
    """

    path: str
    text: str

    def finding(
        self, tool_id: str, severity: Severity, code: str, message: str, at: int = 0
    ) -> Finding:
        """A finding on this text; ``{field}`` in the message is filled in, and ``at`` is where
        to look.
        """
        field = visible(self.path)
        return Finding(tool_id, severity, code, field, message.format(field=field), self.cut(at))

    def cut(self, at: int) -> str:
        """The text around a position, on one line, with invisible characters written out."""
        start, end = max(0, at - AROUND), at + EXCERPT_LENGTH
        excerpt = " ".join(visible(self.text[start:end]).split())
        return f"{'…' if start else ''}{excerpt}{'…' if end < len(self.text) else ''}"


def passages(tool: Tool) -> tuple[Passage, ...]:
    """The texts of a tool in reading order, including keys and unknown fields of its record.

    Texts that the record only repeats are left out.
    """
    names = ("name", "description", "server", "schema", "returns", "annotations")
    definition = {name: getattr(tool, name) for name in names}
    own: list[Passage] = []
    _collect(definition, "", own, set())
    _collect(tool.raw, "raw", own, {passage.text for passage in own})
    return tuple(own)


def server_passages(server: Server) -> tuple[Passage, ...]:
    """The texts of a server, including those of its namespace."""
    own: list[Passage] = []
    words = {"name": server.name, "title": server.title, "description": server.description}
    _collect(words, "", own, set())
    _collect(server.raw, "raw", own, {passage.text for passage in own})
    return tuple(own)


def _collect(value: Any, path: str, collected: list[Passage], skipped: Set[str]) -> None:
    """Add every string in a JSON value to ``collected``, with its path.

    Keys are strings too. Strings in ``skipped`` are left out.
    """
    if isinstance(value, str):
        if value not in skipped:
            collected.append(Passage(path, value))
    elif isinstance(value, dict):
        for key, item in value.items():
            where = below(path, key)
            if path and key not in skipped:
                collected.append(Passage(where, key))
            if isinstance(item, (str, dict, list, tuple)):
                _collect(item, where, collected, skipped)
    elif isinstance(value, (list, tuple)):
        for row, item in enumerate(value):
            _collect(item, below(path, row), collected, skipped)

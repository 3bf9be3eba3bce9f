"""Finds names and words that look alike: letters of other scripts, full-width forms, accents, case.

The table lists the letters that common fonts draw like a Latin letter; it is our own and small on
purpose. A reviewer may mistake a look-alike name for the name of the other tool.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from toolscope_core.catalog.scan.hidden import visible, without_hidden
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import Tool
from toolscope_core.model.unicode_forms import normalise

_LETTERS = (
    ("аеорсухіјѕһԁԛԝкмтвнгпӏьԍ", "aeopcyxijshdqwkmtbhrnlbg"),  # Cyrillic
    ("АВЕКМНОРСТУХІЈЅҺԚԜӀ", "ABEKMHOPCTYXIJSHQWl"),
    ("αγειηκνορτυχω", "ayeinkvoptuxw"),  # Greek
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    ("օոսհցզՏԼ", "onuhgqSL"),  # Armenian
    ("ᎪᏴᏟᎬᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ", "ABCEHJKLMPRSTVWZ"),  # Cherokee
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz"),  # small capitals
    ("ıɑɡɩǀꓲ‐‑‒–—−", "iagill------"),
)
_TABLE = {
    ord(odd): plain for odds, plains in _LETTERS for odd, plain in zip(odds, plains, strict=True)
}
_DIGITS = str.maketrans("01", "ol")
CAPITAL_I = str.maketrans("I", "l")
SEPARATORS = re.compile(r"[\W_]+")


def plain_text(text: str) -> str:
    """The text in the plain letters that a reader sees.

    Hidden characters, letters of other scripts that look Latin, full-width forms and accents are
    resolved.
    """
    if text.isascii():
        return text
    decomposed = normalise("NFKD", without_hidden(text).translate(_TABLE))
    letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    return letters.translate(_TABLE)


def name_key(name: str) -> str:
    """A key that is equal for names that read alike: plain letters without case and separators."""
    return SEPARATORS.sub("", plain_text(name).casefold())


def find_lookalikes(tools: Sequence[Tool]) -> Iterator[Finding]:
    """A finding for each tool whose name differs from another tool's but looks the same.

    It is *block* for foreign letters or full-width forms in place of plain ones, and *warn* for
    differences in case or accents, 0 for o, and 1 or I for l.
    """
    reported: set[str] = set()
    letters = {tool.name: plain_text(tool.name) for tool in tools}
    strokes = {name: plain.translate(CAPITAL_I) for name, plain in letters.items()}
    for plain in (letters, strokes):
        key = {name: text.casefold().translate(_DIGITS) for name, text in plain.items()}
        groups: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for tool in tools:
            groups[key[tool.name]].setdefault(tool.name)
        for tool in tools:
            alike = groups[key[tool.name]]
            others = [name for name in alike if name != tool.name]
            if not _is_disguised(tool.name):  # a plain name is not to blame for its imitation
                others = [name for name in others if not _is_disguised(name)]
            if others and tool.id not in reported:
                reported.add(tool.id)
                yield _finding(tool, others)


def _finding(tool: Tool, others: Iterable[str]) -> Finding:
    name, other = visible(tool.name), visible(min(others))
    if not _is_disguised(tool.name):
        message = (
            f"The name {name!r} is hard to tell from {other!r}; rename one of them, or make "
            "sure that both are intended."
        )
        return Finding(tool.id, "warn", "look-alike-name", "name", message, name)
    odd = [char for char in tool.name if plain_text(char) != char]
    codes = ", ".join(dict.fromkeys(f"U+{ord(char):04X}" for char in odd))
    message = (
        f"The name {name!r} looks like {other!r} but uses other characters ({codes}); leave "
        "this tool out, or have its server rename it."
    )
    excerpt = "".join(f"⟨U+{ord(char):04X}⟩" if char in odd else char for char in tool.name)
    return Finding(tool.id, "block", "look-alike-name", "name", message, excerpt)


def _is_disguised(name: str) -> bool:
    """Whether letters are replaced by look-alikes; accents do not count, because they are
    visible.
    """
    return not name.isascii() and (
        name.translate(_TABLE) != name or normalise("NFKC", name) != normalise("NFC", name)
    )

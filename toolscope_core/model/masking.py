"""Masks secrets in a text, in every spelling in which a server may repeat them."""

import json
import re
from functools import lru_cache
from html.entities import html5

MASK = "[key]"
_LONG = 12
"""A length that no everyday word has."""
_NEVER = "(?!)"
_ZEROS = "0{0,9}"


def masked(text: str, secret: str, halves: bool = True, mask: str = MASK) -> str:
    r"""The text with ``mask`` in place of each ``secret`` and, with ``halves``, each half of one.

    Case is ignored if the secret is too long to appear by chance. Each character also matches as an
    escape (``\u0064``, ``\u{64}``, ``\x64``, ``\144``, ``%64``, ``&#100;``, ``&#x64;``), and an
    escape also with its first sign escaped again.
    """
    if not secret:
        return text
    flags = re.IGNORECASE if len(secret) >= _LONG else 0
    parts = _parts(secret) if halves else (secret,)
    if not re.search(r"[\\%&]", text):
        return re.sub("|".join(map(re.escape, parts)), mask, text, flags=flags)
    # only from where a run of backslashes begins: linear, and no half of an escape is left over
    spelled = "|".join("".join(map(_spellings, part)) for part in parts)
    return re.sub(rf"(?<!\\)(?:{spelled})", mask, text, flags=flags)


def _parts(secret: str) -> tuple[str, ...]:
    """The secret, and its halves if they are long."""
    half = len(secret) // 2
    return (secret, secret[:half], secret[half:]) if half >= _LONG else (secret,)


def _spellings(char: str) -> str:
    """A regular expression for every spelling of one character, with preceding backslashes."""
    code, entities = ord(char), "|".join(_entities().get(char, [_NEVER]))
    short = json.dumps(char, ensure_ascii=False)[-2]
    octets = [f"{octet:02x}" for octet in char.encode("utf-8", "surrogatepass")]
    units = char.encode("utf-16-be", "surrogatepass").hex()
    backslashed = (
        r"\\++".join(f"u{{1,9}}{units[at : at + 4]}" for at in range(0, len(units), 4)),
        r"\\++".join(f"x{octet}" for octet in octets),
        rf"u\{{{_ZEROS}{code:x}\}}|{_ZEROS}{code:o}|{re.escape(short)}",
    )
    percent = "".join(f"%(?:25){{0,9}}{octet}" for octet in octets)
    reference = f"&(?:amp;){{0,9}}(?:#{_ZEROS}{code};?|#x{_ZEROS}{code:x};?|{entities})"
    plain = r"\\+" if char == "\\" else rf"\\*+{re.escape(char)}"
    escaped = rf"\\++(?:{'|'.join(backslashed)})|\\*+(?:{percent}|{reference})"
    return f"(?:(?i:{escaped})|{plain})"


@lru_cache(maxsize=1)
def _entities() -> dict[str, list[str]]:
    """All HTML names of each character: ``_`` is both ``&lowbar;`` and ``&UnderBar;``."""
    names: dict[str, list[str]] = {}
    for name, char in html5.items():
        if name.endswith(";"):
            names.setdefault(char, []).append(name)
    return names

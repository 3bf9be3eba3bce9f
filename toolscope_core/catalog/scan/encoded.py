"""Finds encoded text in a description, which people overlook and models can read."""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

_LONGEST_RUN = 4000
_LEAST_LETTERS = 0.97
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{16,}+={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9A-Fa-f]{2}){8,}+)(?![0-9A-Za-z])")
_ESCAPED_HEX = re.compile(r"(?:\\x[0-9A-Fa-f]{2}){6,}+")
_WORD, _PERCENT = re.compile(r"\S+"), re.compile(r"(?:%[0-9A-Fa-f]{2}){4}")
_SHIFTED = tuple(
    codecs.encode(word, "rot13")
    for word in ("ignore", "instruction", "user", "curl ", "wget ", "rm -", "ssh", "/bin", "/dev")
)
"""Words that a hostile text holds, each letter moved by 13: a quick look that saves most."""
COMMAND = re.compile(
    r"\b(?:curl|wget|fetch|iwr)\b[^\n]{0,200}\|\s*(?:ba|z|da)?sh\b|/dev/tcp/"
    r"|\brm\s+-(?=\w*[rf])\w+\s|\bchmod\s+(?:\+x|\d{3})|/bin/(?:ba|z)?sh\b"
    r"|\bpython3?\s+-c\b|\bpowershell\b.{0,40}-enc"
    r"|\bnc\s+-\w*e|\bos\.system\(|\bsubprocess\.|\beval\(|\bInvoke-Expression\b",
    re.IGNORECASE,
)
"""What a shell would run."""


def decoded_texts(plain: str) -> Iterator[tuple[str, int]]:
    """Readable texts encoded as Base64, hexadecimal, percent signs or ROT13, each with its
    position.

    Nothing is run, and nothing is decoded twice.
    """
    runs: list[tuple[str, int, Callable[[str], bytes]]] = []
    for run in _BASE64.finditer(plain):
        runs.append((run.group().rstrip("="), run.start(), _of_base64))
    for run in _HEX.finditer(plain):
        runs.append((run.group(1), run.start(), bytes.fromhex))
    for run in _ESCAPED_HEX.finditer(plain):
        runs.append((run.group().replace("\\x", ""), run.start(), bytes.fromhex))
    for digits, at, decode in runs:
        text = _readable(decode(digits[:_LONGEST_RUN])) if len(set(digits)) > 4 else ""
        if text:
            yield text, at
    if "%" in plain:
        words = (word for word in _WORD.finditer(plain) if _PERCENT.search(word.group()))
        yield from ((unquote(word.group()), word.start()) for word in words)
    lower = plain.lower()
    if any(word in lower for word in _SHIFTED):
        yield codecs.decode(plain[:_LONGEST_RUN], "rot13"), 0


def _of_base64(run: str) -> bytes:
    whole = run[: len(run) - (len(run) % 4 == 1)]
    try:
        return base64.urlsafe_b64decode(
            whole.replace("+", "-").replace("/", "_") + "=" * (-len(whole) % 4)
        )
    except (binascii.Error, ValueError):
        return b""


def _readable(data: bytes) -> str:
    """The text; empty if the bytes are not readable text."""
    text = data.decode("utf-8", "ignore")
    letters = sum(char.isprintable() or char in "\n\t" for char in text)
    return (
        text if text and len(text) * 2 > len(data) and letters >= _LEAST_LETTERS * len(data) else ""
    )

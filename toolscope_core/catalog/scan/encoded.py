"""Finds encoded text in a description, which a person skips but a model can read."""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

_LONGEST_RUN = 4000
_MOST_PARTS = 8
_LEAST_LETTERS = 0.97
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{16,}+={0,2}")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{24,}+={0,6}(?![A-Za-z0-9])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9A-Fa-f]{2}){8,}+)(?![0-9A-Za-z])")
_ESCAPED_HEX = re.compile(r"(?:\\x[0-9A-Fa-f]{2}){6,}+")
_WORD, _PERCENT = re.compile(r"\S+"), re.compile(r"(?:%[0-9A-Fa-f]{2}){4}")
_SHIFTED = tuple(
    codecs.encode(word, "rot13")
    for word in (
        *("ignore", "instruction", "user", "curl ", "wget ", "rm -", "ssh", "/bin", "/dev"),
        *("python", "system(", "eval(", "send", "read "),
    )
)
"""Words of hostile texts in ROT13; looking for them first saves most of the work."""
COMMAND = re.compile(
    r"\b(?:curl|wget|fetch|iwr)\b[^\n]{0,200}\|\s*(?:ba|z|da)?sh\b|/dev/tcp/"
    r"|\brm\s+-(?=\w*[rf])\w+\s|\bchmod\s+(?:\+x|\d{3})|/bin/(?:ba|z)?sh\b"
    r"|\bpython3?\s+-c\b|\bpowershell\b.{0,40}-enc"
    r"|\bnc\s+-\w*e|\bos\.system\(|\bsubprocess\.|\beval\(|\bInvoke-Expression\b",
    re.IGNORECASE,
)
"""Matches commands that a shell would run."""


def decoded_texts(plain: str) -> Iterator[tuple[str, int]]:
    """The readable texts that are encoded in a text, each with its position.

    They are encoded as Base64, Base32, hexadecimal, percent signs or ROT13. Nothing is run. Text
    that is still encoded is decoded once more. Runs that are not text by themselves are joined and
    tried together.
    """
    parts: list[tuple[str, int]] = []
    for decode, runs in _runs(plain):
        for digits, at in runs:
            text = _readable(decode(digits[:_LONGEST_RUN])) if len(set(digits)) > 4 else ""
            if text:
                yield text, at
                yield from ((inner, at) for inner in _inner(text))
        parts += runs[:_MOST_PARTS] if decode is _of_base64 else []
    if len(parts) > 1:
        text = _readable(_of_base64("".join(digits for digits, _ in parts)[:_LONGEST_RUN]))
        yield from ((one, parts[0][1]) for one in [text] if one)
    if "%" in plain:
        words = (word for word in _WORD.finditer(plain) if _PERCENT.search(word.group()))
        yield from ((unquote(word.group()), word.start()) for word in words)
    lower = plain.lower()
    if any(word in lower for word in _SHIFTED):
        yield codecs.decode(plain[:_LONGEST_RUN], "rot13"), 0


_Runs = list[tuple[str, int]]


def _runs(plain: str) -> Iterator[tuple[Callable[[str], bytes], _Runs]]:
    """Runs of the digits of each code, with their positions, and the function that decodes them."""
    yield _of_base64, [(run.group().rstrip("="), run.start()) for run in _BASE64.finditer(plain)]
    yield _of_base32, [(run.group(), run.start()) for run in _BASE32.finditer(plain)]
    yield bytes.fromhex, [(run.group(1), run.start()) for run in _HEX.finditer(plain)]
    escaped = _ESCAPED_HEX.finditer(plain)
    yield bytes.fromhex, [(run.group().replace("\\x", ""), run.start()) for run in escaped]


def _inner(text: str) -> Iterator[str]:
    """The texts that are still encoded inside a decoded text."""
    for decode, runs in _runs(text):
        texts = (_readable(decode(digits)) for digits, _ in runs if len(set(digits)) > 4)
        yield from filter(None, texts)


def _of_base32(run: str) -> bytes:
    try:
        return base64.b32decode(run[: len(run) // 8 * 8])
    except binascii.Error:
        return b""


def _of_base64(run: str) -> bytes:
    whole = run[: len(run) - (len(run) % 4 == 1)]
    try:
        return base64.urlsafe_b64decode(
            whole.replace("+", "-").replace("/", "_") + "=" * (-len(whole) % 4)
        )
    except (binascii.Error, ValueError):
        return b""


def _readable(data: bytes) -> str:
    """The bytes as text; empty if they are not text."""
    text = data.decode("utf-8", "ignore")
    letters = sum(char.isprintable() or char in "\n\t" for char in text)
    return (
        text if text and len(text) * 2 > len(data) and letters >= _LEAST_LETTERS * len(data) else ""
    )

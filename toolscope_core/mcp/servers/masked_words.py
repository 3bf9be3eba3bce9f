"""Makes command lines, addresses and texts safe to show by masking their secrets."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit, urlunsplit

from toolscope_core.model.masking import masked

_MASK = "***"
_SHORTEST = 4
"""Shorter values are everyday words, such as a port or a level. Removing them would only spoil a
message.
"""
SECRET_NAME = re.compile(
    r"(?:api|access|private|secret|auth|sign(?:ing)?)[-_]?key|(?:^|[-_])key$|apikey|token|secret|"
    r"passw|passphrase|passwd|(?:^|[-_])(?:pwd|pass|pat|dsn|auth)(?:$|[-_])|credential|cookie|"
    r"authorization|bearer|session[-_]?id|webhook|connection[-_]?string|database[-_]?url",
    re.IGNORECASE,
)
EVERYDAY = frozenset(
    "true false none null info debug warn warning error trace production development staging test "
    "local localhost stdio http https default auto enabled disabled".split()
)
_TOKENS = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs]|npm|pypi|hf|lin_api|ntn|secret|"
    r"dop_v1|shpat|sq0\w+|AKIA|ASIA|AIza|ya29)[-_.]?[A-Za-z0-9][\w.-]{11,}"
    r"|\beyJ[\w-]+\.[\w-]+\.[\w-]*"
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")
_ASSIGNED = re.compile(r"^(-{0,2}[A-Za-z_][\w.-]*)([=:]\s*)(\S.*)$", re.DOTALL)
_REFERENCE = re.compile(r"\$\{[^}]*\}")
_ENV_FLAGS = frozenset({"-e", "--env"})
_HEADER_FLAGS = frozenset({"-H", "--header", "--headers"})
_PLAIN = re.compile(r"[^\s;|&<>()`]+")
"""The characters of a value that is not program text. A shell's argument may begin with an
assignment and go on with commands, which must stay visible.
"""
_COMMANDS = re.compile(r"\s|\$\(|`")
_WORD = re.compile(r"[A-Za-z0-9+/_=.-]{20,}")


def shown_arguments(args: Sequence[str]) -> tuple[str, ...]:
    """The arguments with ``_MASK`` in place of secrets, which are recognised by
    name or appearance.
    """
    lines, previous = [], ""
    for arg in args:
        flag = previous.startswith("-") and "=" not in previous
        if flag and SECRET_NAME.search(previous.lstrip("-")) and not arg.startswith("-"):
            lines.append(_keep_references(arg))
        else:
            lines.append(_shown_assignment(arg, previous))
        previous = arg
    return tuple(lines)


def shown_text(text: str) -> str:
    """The text without tokens of known forms and without secrets in addresses."""
    text = _ADDRESS.sub(lambda match: shown_url(match.group()), text)
    text = _TOKENS.sub(_MASK, text)
    return _WORD.sub(lambda match: _MASK if looks_random(match.group()) else match.group(), text)


def shown_url(url: str) -> str:
    """The address without its user, password and query values, and without path parts that look
    random.

    References to variables stay.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return _MASK
    user, at, host = parts.netloc.rpartition("@")
    path = "/".join(_shown_segment(segment) for segment in parts.path.split("/"))
    query = "&".join(_shown_pair(pair) for pair in parts.query.split("&") if pair)
    fragment = _keep_references(parts.fragment) if parts.fragment else ""
    netloc = f"{_keep_references(user)}@{host}" if at else host
    return urlunsplit((parts.scheme, netloc, path, query, fragment))


def looks_random(word: str) -> bool:
    """Whether a word of 20 or more characters looks random.

    Such a word mixes digits with letters of both cases, or is a long hexadecimal number.
    """
    if len(word) < 20 or "/" in word or word.count(".") > 2:
        return False
    letters = word.replace("-", "").replace("_", "")
    if re.fullmatch(r"[0-9a-fA-F]{32,}", letters):
        return True
    kinds = (str.isdigit, str.isupper, str.islower)
    mixed = all(any(map(kind, letters)) for kind in kinds)
    counts = Counter(letters).values()
    entropy = -sum(n / len(letters) * math.log2(n / len(letters)) for n in counts)
    return mixed and entropy > 3.5


def is_secret(name: str, value: str) -> bool:
    """Whether a variable or header contains a secret, judged by its name and value."""
    return bool(SECRET_NAME.search(name)) or shown_text(value) != value


def cut_out(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets; longer secrets are removed first."""
    for secret in sorted(set(secrets), key=lambda one: (-len(one), one)):
        if len(secret) >= _SHORTEST and secret.lower() not in EVERYDAY:
            text = masked(text, secret, halves=False)  # half an address is no secret
    return text


def without(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, and without tokens of known forms."""
    return shown_text(cut_out(text, secrets))


def _shown_assignment(arg: str, previous: str) -> str:
    """The argument with its secrets masked. In ``NAME=value`` and ``Name: value``, the value is
    masked because of the name; anything else is masked because of its appearance.

    If a value may be program text, only its first word is masked. Such a value contains commands,
    or follows a flag such as ``-c`` or ``-e`` that passes it to a shell or an interpreter.
    """
    match = _ASSIGNED.match(arg)
    if not match or "://" in arg[: match.end(2) + 2]:
        return shown_text(arg)
    name, sign, value = match.groups()
    if name in _HEADER_FLAGS:
        return f"{name}{sign}{_shown_assignment(value, name)}"
    if previous in _HEADER_FLAGS:
        return f"{name}{sign}{_keep_references(value)}"
    if previous in _ENV_FLAGS or SECRET_NAME.search(name.lstrip("-")):
        handed_on = previous.startswith(("-", "/")) and not arg.startswith("--")
        plain = _PLAIN.match(value)
        end = plain.end() if plain else 0
        if not handed_on and not _COMMANDS.search(value):
            end = len(value)
        return f"{name}{sign}{_keep_references(value[:end])}{shown_text(value[end:])}"
    return shown_text(arg)


def _shown_segment(segment: str) -> str:
    return _MASK if looks_random(segment) or _TOKENS.search(segment) else segment


def _shown_pair(pair: str) -> str:
    name, sign, value = pair.partition("=")
    return f"{name}={_keep_references(value)}" if sign else _shown_segment(name)


def _keep_references(text: str) -> str:
    """The references to variables in a text, with ``_MASK`` for everything between them. The
    references are only names, so they may be shown.
    """
    parts, at = [], 0
    for match in _REFERENCE.finditer(text):
        parts += [_MASK] * (match.start() > at) + [
            match.group().partition(":-")[0].rstrip("}") + "}"
        ]
        at = match.end()
    return "".join(parts + [_MASK] * (len(text) > at)) or text

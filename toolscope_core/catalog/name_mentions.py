"""Names of tools in what people ask for: a request that has one gives its answer away."""

import re
from collections.abc import Iterable, Iterator, Mapping

from toolscope_core.catalog.scan.lookalikes import SEPARATORS, name_key, plain_text

_INNER_BORDER = re.compile(r"[^\W_][\W_]+[^\W_]|[a-z][A-Z]")
"""What a name of several words has, and a plain word has not."""
_KINDS = r"(?:tool|function|api|endpoint|method|command|operation)s?"


def mentioned_names(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that the text has in any spelling, in their order.

    A name of several words counts wherever its words stand in a row, whatever stands between them:
    ``send_mail`` in *sendMail*, *Send-Mail* and *send mail*. A single word, which prose may well
    hold, counts in backticks, before ``()``, and beside a word such as *tool*.
    """
    plain = plain_text(text).casefold()
    words = [word for word in SEPARATORS.split(plain) if word]
    return tuple(
        name
        for name in names
        if (key := name_key(name))
        and (_in_a_row(key, words) if _INNER_BORDER.search(name) else _is_marked(key, plain))
    )


def identifier_keys(names: Iterable[str]) -> dict[str, str]:
    """The names of several words, each by the key that all of its spellings share."""
    return {name_key(name): name for name in names if _INNER_BORDER.search(name)}


def cited_identifiers(text: str, keys: Mapping[str, str]) -> tuple[str, ...]:
    """Those of the names in ``keys`` (``identifier_keys``) that the text has as one identifier, as
    ``sendMail`` or ``send-mail``, in its order. With spaces they are words that anybody may use.
    """
    cited = (keys.get(key) for key in _identifiers(plain_text(text)))
    return tuple(dict.fromkeys(name for name in cited if name is not None))


def _in_a_row(key: str, words: list[str]) -> bool:
    """Whether words in a row, written as one, are the key."""
    for start in range(len(words)):
        joined = ""
        for word in words[start:]:
            joined += word
            if joined == key:
                return True
            if not key.startswith(joined):
                break
    return False


def _is_marked(key: str, plain: str) -> bool:
    """Whether a single word stands where only a name does."""
    word = re.escape(key)
    marked = rf"`{word}`|\b{word}\(\)|\b{word} {_KINDS}\b|\b{_KINDS} [`\"'“‘]?{word}\b"
    return re.search(marked, plain) is not None


def _identifiers(text: str) -> Iterator[str]:
    """The keys of what is written as an identifier: in one piece, with a border inside."""
    for piece in (*text.split(), *re.findall(r"\w+(?:[.\-]\w+)*", text)):
        if _INNER_BORDER.search(piece):
            yield name_key(piece)

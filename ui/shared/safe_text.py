"""Text on the screen: untrusted text made safe for markdown and HTML, and some small formats."""

import html
import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

import streamlit as st

from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.numbers import listed

_T = TypeVar("_T")
DIFF_WORDS = 800
_ALIKE = 0.5
"""If two texts share more words than this, a diff is easier to read than the two texts."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>:$~&])")
_ADDRESS = re.compile(
    r"((?:(?:https?:|www\.)[\w.~:/?#@&+,;=%-]*[\w/]|[\w.+-]+@[\w-]+\.[\w.-]*\w)+)", re.IGNORECASE
)
"""Text that a browser or markdown would turn into a link. It contains no markdown characters."""
_DIM = "opacity:.72"
"""The strongest dimming that leaves text readable (a contrast of 4.5 to 1 in both themes)."""
_MARKED = "border-radius:3px;padding:0 2px;background:rgba("


def untrusted(text: str) -> str:
    """Catalog text made safe for every Streamlit call that reads markdown.

    No page puts such text into markdown or HTML in any other way. Line ends become spaces, so that
    no block element can begin. An address becomes code, which is not a link but can be copied.
    """
    parts = _ADDRESS.split(" ".join(str(text).split()))
    plain = [_MARKDOWN.sub(r"\\\1", part) for part in parts[::2]]
    addresses = [f"`{part}`" for part in parts[1::2]]
    return "".join(a + b for a, b in zip(plain, [*addresses, ""], strict=True))


def sentence(text: str) -> str:
    """A sentence about tools, safe in markdown. Names between backticks become bold."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return untrusted(text)
    names = [f"**{untrusted(part)}**" if part.strip() else untrusted(part) for part in parts[1::2]]
    # an escaped part loses the spaces at its ends, which separate names from words
    plain = [_with_ends(part) for part in parts[::2]]
    return "".join(a + b for a, b in zip(plain, [*names, ""], strict=True))


def _with_ends(part: str) -> str:
    before = " " if part[:1].isspace() else ""
    after = " " if part[1:] and part[-1:].isspace() else ""
    return f"{before}{untrusted(part)}{after}"


def untrusted_html(text: str) -> str:
    """Catalog text made safe for ``st.html``."""
    return html.escape(str(text), quote=True)


def owner(tool_id: str, name: str, server: str) -> str:
    """The server of a tool, or else its id, which distinguishes it from other tools. Safe in
    markdown.
    """
    return untrusted(server or ("no server" if tool_id == name else f"no server, {tool_id}"))


def named_tool(tool_id: str, name: str) -> str:
    """A tool's id. The name is added in front unless the id contains it. Not escaped."""
    return tool_id if name in tool_id else f"{name} ({tool_id})"


def first_few(names: Sequence[str], limit: int) -> str:
    """The first names, and how many others there are. Safe in markdown."""
    return listed(map(untrusted, names), limit)


def finding(severity: str, message: str) -> None:
    """Draw the whole finding. A badge would cut it off."""
    color = {"block": "red", "warn": "orange"}.get(severity, "gray")
    st.markdown(f":{color}[:material/shield: {untrusted(message)}]")


def dimmed(text: str) -> str:
    """Escaped HTML for text that is the same on both sides."""
    return f'<span style="{_DIM}">{untrusted_html(text)}</span>' if text else ""


def marked(text: str) -> str:
    """Escaped HTML for text that differs."""
    return f'<mark style="{_MARKED}230,159,0,.22);color:inherit">{untrusted_html(text)}</mark>'


def removed(text: str) -> str:
    """Escaped HTML for removed text. It has a − for people who do not see the colour."""
    return f'<del style="{_MARKED}217,72,15,.18)">−{untrusted_html(text)}</del>'


def word_diff(before: str, after: str, dim: bool = False, by_side: bool = False) -> str:
    """Escaped HTML for a word diff: ``ins`` and ``del``, with + and − for people who do not see the
    colours.

    With ``dim``, text that is the same is dimmed. Texts that share less than half of their words
    are shown one after the other; with ``by_side``, only the second is shown, because the first is
    beside it. Only the first ``DIFF_WORDS`` words of each text are compared, because the time grows
    with the product of their lengths.
    """
    old, new = before.split()[:DIFF_WORDS], after.split()[:DIFF_WORDS]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if old and new and matcher.ratio() < _ALIKE:
        own = untrusted_html(after)
        return own if by_side else f"<p>− {dimmed(before)}</p><p>+ {own}</p>"
    parts = []
    for tag, a, b, c, d in matcher.get_opcodes():
        own, added = " ".join(old[a:b]), untrusted_html(" ".join(new[c:d]))
        if tag == "equal":
            parts.append(dimmed(own) if dim else untrusted_html(own))
        if tag in ("delete", "replace"):
            parts.append(removed(own))
        if tag in ("insert", "replace"):
            parts.append(f'<ins style="{_MARKED}47,158,68,.22)">+{added}</ins>')
    return " ".join(parts) or "<em>no text</em>"


def what_goes(text: str, kept: str) -> str:
    """Escaped HTML for a text. Parts that another text keeps are dimmed, and the rest is marked as
    removed.

    Similar texts are compared word by word, others sentence by sentence.
    """
    own, other = text.split()[:DIFF_WORDS], kept.split()[:DIFF_WORDS]
    matcher = SequenceMatcher(None, own, other, autojunk=False)
    if matcher.ratio() >= _ALIKE:
        pieces = [
            (" ".join(own[a:b]), tag == "equal") for tag, a, b, *_ in matcher.get_opcodes() if a < b
        ]
    else:
        whole = " ".join(kept.split()).casefold()
        sentences = re.split(r"(?<=[.!?。])\s+", " ".join(text.split()))
        pieces = [(one, one.casefold() in whole) for one in sentences if one]
    parts = [dimmed(piece) if is_kept else removed(piece) for piece, is_kept in pieces]
    return " ".join(parts) or "<em>no text</em>"


def show_error(error: ToolScopeError) -> None:
    """Draw the message of an error that the user can fix."""
    st.error(untrusted(str(error)), icon=":material/error:")


def value_or_error(work: Callable[[], _T]) -> _T | None:
    """The result of ``work``. If it failed, its error is drawn, and there is none."""
    try:
        return work()
    except ToolScopeError as error:
        show_error(error)
        return None


def clock(at: str) -> str:
    """A time for people to read: the day, and the time to the minute, in UTC."""
    return at[:16].replace("T", " ")


def attempt(key: str, work: Callable[[], object]) -> bool:
    """Do ``work``; returns whether it succeeded. If it failed, its error is kept in the session
    under ``key``.
    """
    try:
        work()
    except ToolScopeError as error:
        st.session_state[key] = str(error)
        return False
    return True


def show(key: str) -> None:
    """Draw the error kept under ``key``, once."""
    if failure := st.session_state.pop(key, ""):
        show_error(ToolScopeError(failure))

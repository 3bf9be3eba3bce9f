"""What tools say is dangerous or not allowed, and whether a text still says it."""

import re
from collections.abc import Callable, Iterator, Sequence

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.judging.word_stems import text_words
from toolscope_core.judging.words import sentences
from toolscope_core.model.tool import Tool

_KEPT = 0.6
"""Share of the words of a note that one sentence must still have."""

_HARM = (
    r"danger(?:ous)?|beware|(?:be|use) careful(?:ly)?|irreversibl[ey]|irrevocabl[ey]"
    r"|permanent(?:ly)?|(?:cannot|can['’]t|can not) be (?:undone|reversed|recovered|restored)"
    r"|destructive|destroys?|overwrit(?:es?|ten|ing)|wipes?|data loss|at your own risk"
    r"|(?:no|without) undo|not (?:be )?reversible|can(?:no|['’])t be cancell?ed|is final"
    r"|(?:each|every) (?:call|request|use)[^.]{0,80}?(?:costs?|charged|billed|credits?)"
    r"|(?:costs?|charged|billed|credits?)[^.]{0,80}? per (?:call|request|use)|billed to"
)
_HARMFUL = re.compile(rf"\b(?:{_HARM})\b|\b(?:warning|caution)\s*[:!]", re.IGNORECASE)
_ORDER = r"^|[.!?:;,(*–—-] *|\b(?:please|and|but|so|then|also) +"
"""What stands before *do not* where it forbids: *when you do not know it* tells."""
_PERMISSION = (
    r"(?:requires?|needs?|without|lacks?|ha(?:s|ve|ving)|must|only|admin|proper|sufficient)\b"
    r"[^.!?]{0,60}?\bpermissions?|permissions?\b[^.!?]{0,40}?\b(?:required|needed|denied)"
)
"""A file has permissions too."""
_SAFETY = re.compile(
    rf"(?:{_ORDER})do(?: not|n['’]t)\b"
    rf"|\b(?:{_HARM}|warn(?:s|ing)?|caution|(?:must|should)(?: not|n['’]t)|never|forbidden"
    rf"|prohibited|not allowed|{_PERMISSION}|authori[sz]ed|authori[sz]ation|privileges?"
    r"|requires? (?:admin|approval|confirmation|consent)|confidential|sensitive data"
    r"|rate.?limit(?:s|ed)?|quotas?)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|no|cannot|without|forbidden|prohibited)\b|n['’]t\b", re.I)


def safety_notes(tool: Tool) -> tuple[str, ...]:
    """The sentences of the descriptions that warn, forbid, or speak of permissions."""
    return _sentences(tool, _SAFETY)


def harm_notes(tool: Tool) -> tuple[str, ...]:
    """Those of the notes that tell of harm: what cannot be undone, is overwritten, is lost."""
    return _sentences(tool, _HARMFUL)


def unshared_notes(
    tools: Sequence[Tool], text: str, notes_of: Callable[[Tool], Sequence[str]] = safety_notes
) -> Iterator[tuple[Tool, str]]:
    """Each tool with those of its notes that no sentence of the text says, in order: one that
    warns or forbids too, in most of their words.
    """
    notes = (one for one in sentences(text) if _SAFETY.search(one))
    kept = [(text_words(one), bool(_NEGATION.search(one))) for one in notes]
    for tool in tools:
        for note in notes_of(tool):
            words, negated = text_words(note), bool(_NEGATION.search(note))
            if not any(
                len(words & own) >= _KEPT * len(words) and (negation or not negated)
                for own, negation in kept
            ):
                yield tool, note


def _sentences(tool: Tool, telling: re.Pattern[str]) -> tuple[str, ...]:
    texts = [tool.description, *(parameter.description for parameter in tool.parameters)]
    every = (one for text in texts for one in sentences(without_hidden(text)))
    return tuple(dict.fromkeys(one for one in every if telling.search(one)))


def whole_text(tool: Tool) -> str:
    """Name, description and descriptions of parameters, a line each, without what is hidden."""
    texts = [tool.name, tool.description, *(p.description for p in tool.parameters)]
    return without_hidden("\n".join(texts))

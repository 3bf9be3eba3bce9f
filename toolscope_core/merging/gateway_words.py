"""Writes the texts about a gateway tool that agents read.

The text says what the tool does, how to choose a member, and which special forms the arguments of
some members need. If one of two searches has a query language (``ti:``, ``AND``), the text must
keep it and say which search it belongs to: callers of the other search would get nothing for it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from inspect import cleandoc
from textwrap import dedent
from typing import NamedTuple

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.wording.words import text_words

_MOST_DESCRIBED = 12
"""The largest number of selector values that are described; the schema lists all values."""

_FORM = re.compile(
    r"(?<![\w/.\-])[A-Za-z_]{1,20}:(?!//)(?=[\"'“<\[{*\w])"  # ti:"…", from:ann
    r"|\bANDNOT\b|(?<=[\"'”)] )(?:AND|OR|NOT)(?= [\"'“(\w])"
    r"|\b(?:AND|OR|NOT)[,/]? (?:(?:and|or) )?(?:AND|OR|NOT)\b"
    r"|\b(?:[YMDymd]{2,4}[-/.]){1,2}[YMDymd]{2,4}\b|\bHH:MM(?::SS)?\b"
    r"|\b(?:YYYY|ISO[ -]?\d+|RFC[ -]?\d+|E\.164|JQL|CQL|GAQL|SOQL|SPARQL|XPath|JSONPath|JMESPath"
    r"|GraphQL|Lucene|OData|RRULE|cron|[Bb]ase64)\b"
    r"|(?i:\b(?:syntax|wildcard|operator|regex|regular expression"
    r"|(?:comma|space|semicolon|pipe|newline)[ -]?(?:separated|delimited)"
    r"|(?:in|of|as|with) (?:the |this |an? )?(?:following )?format|formatted (?:as|like)"
    r"|formats?(?: is| are|:)))"
)
"""Text about how an argument has to be written."""

_PATTERN = re.compile(r"format(?:ted as| of| is|:)? (['\"])([^'\"]+)\1", re.IGNORECASE)
"""A format that is given literally: *in the format 'City, State'*."""

_SHOUT = re.compile(r"\b(?:MANDATORY|MUST|NEVER|ALWAYS|DO NOT)\b|!!|(?i:\byou will cause\b)")
"""Commands. *IMPORTANT* and *WARNING* are not among them, because they mostly introduce a fact that
callers need.
"""
_MOST_WORDS = 12
"""The largest number of words that explain one value of a selector."""

_MOST_CONTENTS = 3

_SENTENCE_ENDS = re.compile(r"(?<=[.!?。！？])(?<!\be\.g\.)(?<!\bi\.e\.)\s+")
_FENCED = re.compile(r"(^[ \t]*```.*?(?:```|\Z))", re.DOTALL | re.MULTILINE)
_BULLET = re.compile(r"\s*(?:[-*•+>|#]|\d+[.)])")
_ENTRY = re.compile(rf"{_BULLET.pattern}|\s*\w+(?: \([^)]*\))?:\s")
_OF_RESULTS = re.compile(r"(?:returns?|outputs?|raises?)\b", re.IGNORECASE)
_OF_ARGUMENTS = re.compile(r"(?:args|arguments|parameters|params)\s*:\s*$", re.IGNORECASE)
_CLOSING = ")]\"'`*%”’»）」』】"
"""Characters other than letters and digits that may end a sentence without a full stop."""
_IDEOGRAPHS = "\u3000"
"""Scripts from this character on have their own full stop."""
_SHORT_LINE = 50
"""A line shorter than this ends its sentence, unless the next line starts with a
lower-case letter.
"""


class _Paragraph(NamedTuple):
    """The parts of a paragraph, in order, and the text between them."""

    parts: list[str]
    between: str = " "

    def without(self, parts: Sequence[str]) -> str:
        """The text without these parts; empty if only the introduction to them would be left."""
        left = [part for part in self.parts if part not in parts]
        return "" if all(map(_OF_ARGUMENTS.match, left)) else self.between.join(left)


def shouts(text: str) -> bool:
    """Whether a description gives orders in capitals, or threatens the reader."""
    return bool(_SHOUT.search(text))


def gateway_description(selector: str, texts: Mapping[str, str]) -> str:
    """The description of a gateway tool whose members are chosen by ``selector``.

    It is the description of the canonical tool, with notes on the forms of arguments that only some
    of the members describe. The description of the selector itself explains its values. ``texts``
    maps each value to its member's description, canonical first.
    """
    paragraphs = {value: _paragraphs(text) for value, text in texts.items()}
    alone = _paragraphs_of_some(paragraphs)
    canonical, own = next(iter(paragraphs.items()))
    first = own[0].parts[0] if own else ""
    if set(alone[canonical]) == {first}:
        alone[canonical] = []  # the lead already says this, or nothing would say what the tool does
    away = [part for part in alone[canonical] if part != first]
    lead = "\n\n".join(text for one in own if (text := one.without(away)))
    notes: dict[tuple[str, ...], list[str]] = {}
    for value, parts in alone.items():
        notes.setdefault(tuple(parts), []).append(value)
    sentences = [_note(_only(selector, of), parts) for parts, of in notes.items() if parts]
    return "\n\n".join(filter(None, [lead.strip(), *sentences]))


def selector_description(texts: Mapping[str, str]) -> str:
    """The description of a gateway tool's selector.

    For each value, it gives the first sentence of the member's description, in the member's own
    words and language. Values with equal sentences are grouped.
    """
    values_by_job: dict[object, list[str]] = {}
    jobs: dict[object, str] = {}
    for value, text in texts.items():
        job = _short(_first_sentence(text))
        key = text_words(job) or job
        jobs.setdefault(key, job)
        values_by_job.setdefault(key, []).append(f"`{value}`")
    sentences = [
        _ended(f"{', '.join(values)}{': ' if jobs[key] else ''}{jobs[key]}")
        for key, values in values_by_job.items()
    ]
    more = ["…"] if len(sentences) > _MOST_DESCRIBED else []
    return " ".join([*sentences[:_MOST_DESCRIBED], *more]) if any(jobs.values()) else ""


def store_description(contents: Mapping[str, Sequence[str]]) -> str:
    """The description of a selector for servers that each store things of their own.

    For each value, it lists the first few of the server's ``contents`` that not all servers have.
    It is empty if a server has no such contents.
    """
    shared = frozenset[str].intersection(*map(frozenset, contents.values()))
    texts = {
        value: ", ".join([one for one in parts if one not in shared][:_MOST_CONTENTS])
        for value, parts in contents.items()
    }
    return selector_description(texts) if all(texts.values()) else ""


def argument_description(selector: str, texts: Mapping[str, str], each: bool = False) -> str:
    """The description of a gateway tool's argument, made from the descriptions of its members.

    ``texts`` maps each value of ``selector`` to its member's description, in order. The result has
    the first description, and each further one that describes a form not shared by all. With
    ``each``, every member means something else, and the result has all descriptions.
    """
    clean = {value: " ".join(without_hidden(text).split()) for value, text in texts.items()}
    if each:
        return paragraph(
            f"{_only(selector, [value])} {text}" for value, text in clean.items() if text
        )
    alone = _paragraphs_of_some({value: _paragraphs(text) for value, text in clean.items()})
    non_empty = {value: text for value, text in clean.items() if text}
    if not any(alone.values()):
        return next(iter(non_empty.values()), "")
    notes: dict[frozenset[str], list[str]] = {}
    for value in non_empty:
        notes.setdefault(_forms(alone[value]), []).append(value)
    general = notes.pop(frozenset(), [])
    lead = [_ended(clean[value]) for value in general[:1]]
    sentences = [f"{_only(selector, of)} {_ended(clean[of[0]])}" for of in notes.values()]
    return " ".join([*lead, *sentences])


def owners_note(owners: Sequence[str], every: Sequence[str], required: Sequence[str]) -> str:
    """A note on which members (by selector value) have an argument, and which of them require it.

    It is empty if all members have the argument, and either all or none of them require it.
    """
    others = [value for value in every if value not in owners]
    required_for = ", ".join(required)
    if not others:
        return f"Required for {required_for}." if 0 < len(required) < len(every) else ""
    few = len(owners) <= len(others)
    whose = f"{', '.join(owners)} only" if few else f"Not for {', '.join(others)}"
    if not required:
        return f"{whose}."
    needed = "required" if len(required) == len(owners) else f"required for {required_for}"
    return f"{whose}; {needed}."


def paragraph(sentences: Iterable[str]) -> str:
    """The non-empty sentences as one text; every sentence but the last gets a full stop if it needs
    one.
    """
    texts = list(filter(None, sentences))
    return " ".join([*map(_ended, texts[:-1]), *texts[-1:]])


def limits_note(values: Sequence[str], text: str) -> str:
    """A sentence on the values that some members accept for an argument."""
    return f"{', '.join(values)}: {text}."


def _first_sentence(text: str) -> str:
    paragraphs = _paragraphs(text)
    line = paragraphs[0].parts[0].partition("\n")[0] if paragraphs else ""
    return _SENTENCE_ENDS.split(line)[0].rstrip(":：")


def _short(sentence: str) -> str:
    words = sentence.split()
    return sentence if len(words) <= _MOST_WORDS else f"{' '.join(words[:_MOST_WORDS])} …"


def _only(selector: str, values: Sequence[str]) -> str:
    return f"`{selector}` = {', '.join(values)}:"


def _note(head: str, parts: Sequence[str]) -> str:
    if not any("\n" in part for part in parts):
        return f"{head} {' '.join(parts)}"
    return "\n".join([head, "\n\n".join(parts)])


def _paragraphs_of_some(texts: Mapping[str, Sequence[_Paragraph]]) -> dict[str, list[str]]:
    """For each value, the parts of its text about argument forms that not all texts share."""
    parts = {value: [part for one in text for part in one.parts] for value, text in texts.items()}
    forms = {value: _forms(own) for value, own in parts.items()}
    common = frozenset.intersection(*forms.values())
    return {
        value: [p for p in own if _forms([p]) - common and not _OF_RESULTS.match(p)]
        for value, own in parts.items()
    }


def _forms(texts: Iterable[str]) -> frozenset[str]:
    """The signs and words of notations in the texts; all ways to say *format* count as one."""
    whole = "\n".join(texts)
    signs = {match[2].casefold() for match in _PATTERN.finditer(whole)}
    forms = (match[0].casefold() for match in _FORM.finditer(whole))
    notations = {"format" if "format" in one else one for one in forms}
    return frozenset(signs | (notations - {"format"} if signs else notations))


def _paragraphs(text: str) -> list[_Paragraph]:
    """A text as paragraphs of complete sentences, without hidden characters or source indentation.

    A list and its introduction form one part, except in a list of arguments, where each argument is
    a part.
    """
    paragraphs: list[_Paragraph] = []
    for number, piece in enumerate(_FENCED.split(cleandoc(without_hidden(text)).strip())):
        blocks = [piece] if number % 2 else re.split(r"\n\s*\n", piece)
        for block in blocks:
            if number % 2:
                paragraphs.append(_Paragraph([dedent(block).strip()]))
            elif lines := _lines(block):
                is_list = bool(_BULLET.match(lines[0]) or any(map(_ENTRY.match, lines[1:])))
                if is_list and paragraphs and paragraphs[-1].parts[-1].endswith(":"):
                    lines = [paragraphs[-1].parts.pop(), *lines]
                paragraphs.append(_paragraph(lines, is_list))
    return [one for one in paragraphs if one.parts]


def _paragraph(lines: list[str], is_list: bool) -> _Paragraph:
    if _OF_ARGUMENTS.match(lines[0]):
        return _Paragraph(lines, "\n")
    if is_list:
        return _Paragraph(["\n".join(lines)])
    return _Paragraph(_SENTENCE_ENDS.split(" ".join(lines)))


def _lines(block: str) -> list[str]:
    """The lines of a paragraph, with continuation lines joined.

    Each list entry is a line of its own; deeper entries are indented by two spaces.
    """
    lines: list[str] = []
    depth = outer = 0
    last = ""
    for line in filter(str.strip, block.split("\n")):
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        before = lines[-1] if lines else ""
        in_list, is_bullet = bool(_ENTRY.match(before)), bool(_BULLET.match(before))
        goes_on = bare[0].islower() or (len(last) >= _SHORT_LINE and not is_bullet)
        beside_list = in_list and indent <= depth and not goes_on
        if _ENTRY.match(bare):
            outer, depth = (outer if in_list else indent), indent
            lines.append(f"  {bare}" if indent > outer and _BULLET.match(bare) else bare)
        elif not before or before.endswith((":", "：")) or beside_list:
            lines.append(bare)
        else:
            lines[-1] = f"{before if goes_on or in_list else _ended(before)} {bare}"
        last = bare
    return [line if _BULLET.match(line) else _ended(line) for line in lines]


def _ended(text: str) -> str:
    """The text with a full stop added, unless it already ends with punctuation."""
    text = text.rstrip()
    if not text or not (text[-1].isalnum() or text[-1] in _CLOSING) or text.endswith("```"):
        return text
    return f"{text}{'。' if text[-1] >= _IDEOGRAPHS else '.'}"

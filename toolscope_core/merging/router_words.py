"""What agents read of a router: what it does, how to choose, and what only some members say of how
their arguments are written.

A query language that one of two searches takes (``ti:``, ``AND``) has to stay, and has to be that
one's: the callers of the other would get nothing for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from inspect import cleandoc
from itertools import chain

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.judging.word_stems import text_words

MOST_NAMED = 12
"""So many values of a selector are named in the description; its schema lists all."""

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
"""What says how an argument has to be written."""

_PATTERN = re.compile(r"format(?:ted as| of| is|:)? (['\"])([^'\"]+)\1", re.IGNORECASE)
"""A format that is given: *in the format 'City, State'*."""

_SENTENCE_ENDS = re.compile(r"(?<=[.!?。！？])(?<!\be\.g\.)(?<!\bi\.e\.)\s+")
_LIST_LINE = re.compile(r"\s+\S|\s*(?:[-*•+]|\d+[.)])\s|\s*\w+(?: \([^)]*\))?:\s")
_OF_RESULTS = re.compile(r"(?:returns?|outputs?|raises?)\b", re.IGNORECASE)
_OF_ARGUMENTS = re.compile(r"(?:args|arguments|parameters|params)\s*:\s*$", re.IGNORECASE)
_ENDS = (*".!?:;…。！？：；", "```")
_IDEOGRAPHS = "\u3000"
"""From here on scripts have a full stop of their own."""


def router_description(selector: str, texts: Mapping[str, str], vary: bool = False) -> str:
    """The description of a router whose members are chosen by ``selector``; ``texts`` are their own
    descriptions by its value, that of the canonical first. Where they ``vary`` in what they do, it
    says so of each that its value does not explain.
    """
    clean = {value: cleandoc(without_hidden(text)).strip() for value, text in texts.items()}
    alone = _said_by_some(clean)
    (value, lead), *others = clean.items()
    paragraphs = _parts(lead)
    first = paragraphs[0][0] if paragraphs else ""
    if set(alone[value]) == {first}:
        alone[value] = []  # the lead says it, or nothing would say what the tool does
    elif alone[value]:
        left = [
            [part for part in one if part == first or part not in alone[value]]
            for one in paragraphs
        ]
        lead = "\n\n".join(" ".join(one) for one in left if one)
    for value, text in others if vary and len(texts) <= MOST_NAMED else ():
        job = _SENTENCE_ENDS.split(text.partition("\n")[0])[0]
        if job not in alone[value] and text_words(job) - text_words(f"{lead} {value}"):
            alone[value].insert(0, job)
    named = list(texts)
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    how = f"Choose with `{selector}` which one does it: {', '.join(named[:MOST_NAMED])}{more}."
    between = "\n\n" if "\n" in lead else " "
    notes: dict[tuple[str, ...], list[str]] = {}
    for value, parts in alone.items():
        notes.setdefault(tuple(parts), []).append(value)
    said = [_note(_only(selector, of), parts) for parts, of in notes.items() if parts]
    return "\n\n".join([f"{_ended(lead)}{between}{how}".strip(), *said])


def argument_description(selector: str, texts: Mapping[str, str]) -> str:
    """The description of an argument of a router, from those that its members give it (by the value
    of ``selector``, in order): the first, and beside it each that says how it is written where not
    all do.
    """
    given = {value: text for value, text in texts.items() if text.strip()}
    clean = {value: " ".join(without_hidden(text).split()) for value, text in texts.items()}
    alone = _said_by_some(clean)
    if not any(alone.values()):
        return next(iter(given.values()), "")
    notes: dict[frozenset[str], list[str]] = {}
    for value in given:
        notes.setdefault(_forms(alone[value]), []).append(value)
    general = notes.pop(frozenset(), [])
    lead = [_ended(clean[value]) for value in general[:1]]
    said = [f"{_only(selector, of)} {_ended(clean[of[0]])}" for of in notes.values()]
    return " ".join([*lead, *said])


def _only(selector: str, values: Sequence[str]) -> str:
    return f"With `{selector}` = {', '.join(values)}:"


def _note(head: str, parts: Sequence[str]) -> str:
    if not any("\n" in part for part in parts):
        return f"{head} {' '.join(map(_ended, parts))}"
    return "\n".join([head, "\n\n".join(map(_ended, parts))])


def _said_by_some(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """By value the parts of its text on how arguments are written that not all of the texts say."""
    forms = {value: _forms([text]) for value, text in texts.items()}
    shared = frozenset.intersection(*forms.values())
    return {
        value: [
            part
            for part in chain.from_iterable(_parts(text) if forms[value] - shared else ())
            if _forms([part]) - shared and not _OF_RESULTS.match(part)
        ]
        for value, text in texts.items()
    }


def _forms(texts: Iterable[str]) -> frozenset[str]:
    """The signs and words of notations in the texts; all ways to say *format* are one."""
    whole = "\n".join(texts)
    given = {match[2].casefold() for match in _PATTERN.finditer(whole)}
    said = (match[0].casefold() for match in _FORM.finditer(whole))
    named = {"format" if "format" in one else one for one in said}
    return frozenset(given | (named - {"format"} if given else named))


def _parts(text: str) -> list[list[str]]:
    """The paragraphs of a text, each as its sentences; a list is one part, with what it is of."""
    paragraphs: list[list[str]] = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\n").split("\n")
        if _OF_ARGUMENTS.match(lines[0].strip()):
            paragraphs.append([_ended(line.strip()) for line in _entries(lines[1:])])
        elif any(map(_LIST_LINE.match, lines[1:])):
            paragraphs.append(["\n".join(lines)])
        else:
            paragraphs.append(_SENTENCE_ENDS.split(" ".join(map(str.strip, lines))))
        if len(paragraphs) > 1 and paragraphs[-2][-1].endswith(":") and _LIST_LINE.match(lines[0]):
            last = paragraphs.pop()
            paragraphs[-1][-1] = "\n".join([paragraphs[-1][-1], *last])
    return [paragraph for paragraph in paragraphs if paragraph]


def _entries(lines: Sequence[str]) -> list[str]:
    """The lines of a list of arguments, each with those that go on under it."""
    entries: list[str] = []
    depth = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    for line in lines:
        if entries and len(line) - len(line.lstrip()) > depth:
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line)
    return entries


def _ended(text: str) -> str:
    """The text with a full stop, if no sign ends it."""
    text = text.rstrip()
    if not text or text.endswith(_ENDS) or _LIST_LINE.match(text.rpartition("\n")[2]):
        return text
    return f"{text}{'。' if text[-1] >= _IDEOGRAPHS else '.'}"

"""Checks requests that a model wrote before anything is trained on them."""

from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from toolscope_core.catalog.naming import cited_identifiers, identifier_keys, mentioned_names
from toolscope_core.catalog.scan.hidden import count_hidden
from toolscope_core.merging.faithful import hostile, without_addresses
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import REQUEST_LENGTH, REQUEST_TOOLS
from toolscope_core.model.tool import Tool

FlawCode = Literal["tools", "gone", "name", "length", "hidden", "hostile", "copy", "polish"]

_FEWEST, _MOST = REQUEST_TOOLS
_SHORTEST, _LONGEST = REQUEST_LENGTH


@dataclass(frozen=True, slots=True)
class QueryFlaw:
    """An objection to a request, as a sentence. The sentence may quote untrusted text."""

    code: FlawCode
    message: str


class QueryChecks:
    """The objections to single requests for the tools in one catalog. Each request is checked only
    once.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._flaws_by_text: dict[tuple[str, tuple[str, ...]], tuple[QueryFlaw, ...]] = {}
        self._tools = catalog.by_id
        self._identifiers = identifier_keys(
            name for tool in catalog.tools for name in (tool.name, tool.id)
        )

    def flaws(self, text: str, tool_ids: Sequence[str]) -> tuple[QueryFlaw, ...]:
        """The objections to a request for these tools; empty if there are none."""
        key = (text, tuple(tool_ids))
        if key not in self._flaws_by_text:
            self._flaws_by_text[key] = self._flaws(text, tool_ids)
        return self._flaws_by_text[key]

    def _flaws(self, text: str, tool_ids: Sequence[str]) -> tuple[QueryFlaw, ...]:
        return (
            *_wrong_tools(tool_ids, self._tools.keys()),
            *_wrong_length(text),
            *self._names(text, tool_ids),
            *_unsafe(text),
        )

    def _names(self, text: str, tool_ids: Sequence[str]) -> Iterator[QueryFlaw]:
        """An objection for each tool name in the request.

        The names of the request's own tools count in any spelling, and the names and ids of other
        tools count only as identifiers.
        """
        own = [self._tools[one].name for one in tool_ids if one in self._tools]
        names = (*mentioned_names(text, own), *cited_identifiers(text, self._identifiers))
        for name in dict.fromkeys(names):
            yield QueryFlaw("name", f"it names the tool {name!r}")


def copy_flaw(other: str, percent: float) -> QueryFlaw:
    """The objection to a copy of another request."""
    how = "the same as" if percent == 100.0 else "nearly the same as"
    return QueryFlaw("copy", f"it is {how} {other[:80]!r}")


def _wrong_tools(tool_ids: Sequence[str], existing: Collection[str]) -> Iterator[QueryFlaw]:
    if not _FEWEST <= len(set(tool_ids)) <= _MOST:
        message = f"it needs {len(set(tool_ids))} tools, not {_FEWEST} to {_MOST}"
        yield QueryFlaw("tools", message)
    for one in tool_ids:
        if one not in existing:
            yield QueryFlaw("gone", f"{one!r} is no longer a tool of the catalog")


def _wrong_length(text: str) -> Iterator[QueryFlaw]:
    if not _SHORTEST <= len(text) <= _LONGEST:
        message = f"it is {len(text):,} characters long, not {_SHORTEST} to {_LONGEST}"
        yield QueryFlaw("length", message)


def _unsafe(text: str) -> Iterator[QueryFlaw]:
    if hidden := count_hidden(text):
        yield QueryFlaw("hidden", f"it has {hidden:,} hidden characters")
        return
    plain = Tool("request", "request", without_addresses(text))
    for violation in hostile(Tool("request", "request"), plain, is_request=True):
        # the scan reads the text as a tool's description
        yield QueryFlaw("hostile", violation.message.replace("The description", "the request", 1))


NEAR_COPY = 90.0
"""A request is a near copy of another if their similarity, with their words sorted, is at least
this many percent.
"""


@dataclass(frozen=True, slots=True)
class NearCopy:
    """An earlier request that a request copies: its position, and the similarity in percent."""

    place: int
    percent: float


def near_copies(texts: Sequence[str]) -> tuple[tuple[NearCopy, ...], ...]:
    """For each text, the earlier texts that it copies, in order.

    Case, punctuation and word order are ignored. Only texts that share half of their words are
    compared letter by letter; of 5,000 texts, few are left.
    """
    from rapidfuzz import fuzz, utils

    forms = [" ".join(sorted(utils.default_process(text).split())) for text in texts]
    copied = []
    for place, candidates in enumerate(_sharing_half(forms)):
        percents = [
            (other, fuzz.ratio(forms[place], forms[other], score_cutoff=NEAR_COPY))
            for other in candidates
        ]
        copied.append(tuple(NearCopy(other, percent) for other, percent in percents if percent))
    return tuple(copied)


def _sharing_half(forms: Sequence[str]) -> list[list[int]]:
    """For each form, the earlier forms that share half of the words of both forms."""
    having: dict[str, array[int]] = {}
    sizes = np.array([len(set(form.split())) for form in forms], dtype=np.int32)
    sharing: list[list[int]] = []
    for place, form in enumerate(forms):
        words = set(form.split())
        before = [np.frombuffer(having[word], np.int32) for word in words if word in having]
        common_words = np.bincount(np.concatenate(before)) if before else np.zeros(0, np.int64)
        enough = 4 * common_words >= sizes[place] + sizes[: len(common_words)]
        sharing.append(np.flatnonzero(enough & (common_words > 0)).tolist())
        del before  # an array that is being read cannot grow
        for word in words:
            having.setdefault(word, array("i")).append(place)
    return sharing

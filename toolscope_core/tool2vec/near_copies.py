"""Requests that copy one another, exactly or nearly."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NEAR_COPY = 90.0
"""Percent of two requests, their words sorted, from which on one is a near copy of the other."""


@dataclass(frozen=True, slots=True)
class NearCopy:
    """An earlier request by its place, and how much of the two is the same, in percent."""

    place: int
    percent: float


def near_copies(texts: Sequence[str]) -> tuple[tuple[NearCopy, ...], ...]:
    """For each text the earlier ones that it copies, in their order.

    Case, punctuation and the order of words count for nothing. Only texts that share half of their
    words are compared letter by letter: of 5,000 that leaves few.
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
    """For each form the earlier ones with which it shares half of the words of both."""
    having: dict[str, array[int]] = {}
    sizes = np.array([len(set(form.split())) for form in forms], dtype=np.int32)
    sharing: list[list[int]] = []
    for place, form in enumerate(forms):
        words = set(form.split())
        before = [np.frombuffer(having[word], np.int32) for word in words if word in having]
        shared = np.bincount(np.concatenate(before)) if before else np.zeros(0, np.int64)
        enough = 4 * shared >= sizes[place] + sizes[: len(shared)]
        sharing.append(np.flatnonzero(enough & (shared > 0)).tolist())
        del before  # an array that is looked into cannot grow
        for word in words:
            having.setdefault(word, array("i")).append(place)
    return sharing

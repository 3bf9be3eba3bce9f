"""Why the words of two tools do not let one be pruned for the other, in sentences.

*Safe* needs that nothing the two say differs without a reason (DESIGN, a licence for each word). A
word on one side narrows or widens; words on both sides are a substitution, so a family or siblings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolscope_core.datamodel import ArgumentMap, Tool
from toolscope_core.merging.guards import effect
from toolscope_core.merging.licence import (
    Said,
    are_turned,
    in_one_order,
    keys_of,
    number_apart,
    renamed,
    unsaid,
)
from toolscope_core.merging.vocabulary import only_gets, singular
from toolscope_core.similarity import split_name

_MOST_NAMED = 4


def unlicensed(
    kept: tuple[Tool, Said], pruned: tuple[Tool, Said], alpha: ArgumentMap
) -> Iterator[str]:
    """What speaks against letting ``kept`` stand for ``pruned``; nothing if each word is licensed.

    ``alpha`` maps calls of the one to the other. A word that an argument of the kept tool says
    which no call of the other sets is what the kept tool offers beside.
    """
    (stays, one), (goes, other) = kept, pruned
    beside = {
        key
        for parameter in stays.parameters
        if not parameter.required and parameter.name not in _set_by(alpha)
        for word in split_name(parameter.name)
        for key in keys_of(word)
    }
    ours = [word for word in unsaid(one, other) if beside.isdisjoint(keys_of(word))]
    theirs = list(unsaid(other, one))
    if effect(stays) == effect(goes) == "reads":  # then *get* adds nothing to *summarize*
        ours, theirs = ([w for w in words if not only_gets(w)] for words in (ours, theirs))
    here, there = f"`{stays.name}`", f"`{goes.name}`"
    if stays.name == goes.name:
        here, there = f"`{stays.id}`", f"`{goes.id}`"
    if ours and theirs:
        yield f"{here} says {_listed(ours)} where {there} says {_listed(theirs)}"
    elif ours:
        yield f"only {here} says {_listed(ours)}"
    elif theirs:
        yield f"only {there} says {_listed(theirs)}"
    if are_turned(one, other) or are_turned(other, one):
        yield f"{here} and {there} go in opposite directions"
    if word := number_apart(one, other):
        yield f"one of {here} and {there} is about one {singular(word)}, the other about several"
    both = renamed(one, other)
    if all(both) and not (ours or theirs) and not in_one_order(one, other):
        yield (
            f"the names differ ({_listed(both[0])} / {_listed(both[1])}), and the descriptions say "
            "the same words in another order"
        )


def _set_by(alpha: ArgumentMap) -> set[str]:
    return {move.target for move in alpha.moves} | set(alpha.constants)


def _listed(words: Sequence[str]) -> str:
    more = len(words) - _MOST_NAMED
    return ", ".join(words[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")

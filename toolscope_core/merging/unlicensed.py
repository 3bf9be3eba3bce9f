"""Why the words of two tools do not let one be pruned for the other, in sentences.

*Safe* needs that nothing the two say differs without a reason (DESIGN, a licence for each word). A
word on one side narrows or widens; words on both sides are a substitution, so a family or siblings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolscope_core.datamodel import ArgumentMap, Parameter, Tool
from toolscope_core.merging.guards import effect
from toolscope_core.merging.licence import KEY_WORDS, Key, Said, keys_of, unsaid
from toolscope_core.merging.phrasing import (
    alternatives,
    are_turned,
    in_one_order,
    is_plural,
    number_apart,
    object_apart,
    renamed,
    repeated,
    voices_apart,
)
from toolscope_core.merging.vocabulary import only_gets, words_of
from toolscope_core.merging.wording import meaning, name_words, plain_words, text_words
from toolscope_core.similarity import split_name

_MOST_NAMED = 4
_IDS = (("id",), ("ids",), ("uuid",), ("gid",), ("key",))


def unlicensed(
    kept: tuple[Tool, Said], pruned: tuple[Tool, Said], alpha: ArgumentMap
) -> Iterator[str]:
    """What speaks against letting ``kept`` stand for ``pruned``; nothing if each word is licensed.

    ``alpha`` maps calls of the one to the other. What an argument of the kept tool says is licensed
    where calls of the other leave it out, or always give it one value.
    """
    (stays, one), (goes, other) = kept, pruned
    names = f"`{stays.name}`", f"`{goes.name}`"
    if stays.name == goes.name:
        names = f"`{stays.id}`", f"`{goes.id}`"
    words = list(_left_over(kept, pruned, alpha))
    if all(words):
        yield f"{names[0]} says {_listed(words[0])} where {names[1]} says {_listed(words[1])}"
    for name, left in zip(names, words, strict=True) if not all(words) else ():
        if left:
            yield f"only {name} says {_listed(left)}"
    yield from _turned_otherwise(one, other, " and ".join(names))
    if _other_number(kept, pruned):
        yield f"one of {names[0]} and {names[1]} is about one thing, the other about several"
    if not any(words):
        yield from _put_otherwise(one, other)
    yield from _arguments_apart(kept, pruned, alpha)
    yield from _addresses_apart(kept, pruned)


def _left_over(
    kept: tuple[Tool, Said], pruned: tuple[Tool, Said], alpha: ArgumentMap
) -> Iterator[list[str]]:
    """The words that nothing licenses, of the kept and of the pruned tool."""
    (stays, one), (goes, other) = kept, pruned
    set_by_calls = {move.target for move in alpha.moves}
    fixed = _keys(name for name in alpha.constants)
    offered = _keys(
        p.name for p in stays.parameters if not (p.required or p.name in set_by_calls)
    ) - _keys(one.named)  # but what it is named for
    both_read = effect(stays) == effect(goes) == "reads"  # *get* adds nothing to *summarize*
    values = (word for value in alpha.constants.values() for word in words_of(str(value)))
    given = fixed | _keys((*set_by_calls, *values))
    for words in (
        [word for word in unsaid(one, other) if (fixed | offered).isdisjoint(keys_of(word))],
        _without(other, one, given),
    ):
        yield [word for word in words if not (both_read and only_gets(word))]


def _without(pruned: Said, kept: Said, given: set[Key]) -> list[str]:
    """The words of the pruned tool that the kept one says in no form, or only by an argument that
    the mapped calls leave out.
    """
    left = set(unsaid(pruned, kept))
    spoken = set(unsaid(pruned, kept, spoken=True))
    return [
        word
        for word in pruned.words
        if word in left or (word in spoken and given.isdisjoint(keys_of(word)))
    ]


def _keys(names: Iterable[str]) -> set[Key]:
    """What the words of some names may be known by."""
    return {key for name in names for word in split_name(name) for key in keys_of(word)}


def _put_otherwise(one: Said, other: Said) -> Iterator[str]:
    """What the same words say otherwise."""
    ours, theirs = ([w for w in words if not only_gets(w)] for words in renamed(one, other))
    between = " / ".join(_listed(left) or "nothing" for left in (ours, theirs))
    beside = {*unsaid(one, other, at_first=True), *unsaid(other, one, at_first=True)}
    if ours and theirs and not beside.isdisjoint((*ours, *theirs)):
        yield f"the names differ ({between}), and each speaks of the other's only in passing"
    moved = sorted(one.named) == sorted(other.named) and one.named != other.named
    if (ours or theirs or moved) and not in_one_order(one, other):
        yield f"the names differ ({between}), and the descriptions use the words in another order"
    if word := repeated(one, other):
        yield f"one of the names says {word} more often"
    if apart := object_apart(one, other):
        yield f"one is about {apart[0]}, the other about {apart[1]}"


def _arguments_apart(
    kept: tuple[Tool, Said], pruned: tuple[Tool, Said], alpha: ArgumentMap
) -> Iterator[str]:
    """Arguments that are one by what they take, though a name says what the other tool does not:
    a user's token, a developer's token; an id of a thing, the thing.
    """
    (stays, one), (goes, other) = kept, pruned
    ours, theirs = ({p.name: p for p in tool.parameters} for tool in (goes, stays))
    for move in alpha.moves:
        if move.source == move.target:
            continue
        source, target = ours[move.source], theirs[move.target]
        telling = [
            word
            for parameter, counterpart, said in ((source, target, one), (target, source, other))
            for word in plain_words(parameter.name)
            if word not in KEY_WORDS
            and meaning(word) not in _meanings(counterpart)
            and said.heard.isdisjoint(keys_of(word))
        ]
        keyed = [plain_words(p.name)[-1:] in _IDS for p in (source, target)]
        if telling or (keyed[0] != keyed[1] and not _same_kind(source, target)):
            yield f"`{source.name}` of {goes.id} would be `{target.name}`"


def _addresses_apart(kept: tuple[Tool, Said], pruned: tuple[Tool, Said]) -> Iterator[str]:
    """Operations of an API of which one writes where the other reads, or whose paths say what the
    other does not, however alike their texts are.
    """
    here, there = _address(kept[0]), _address(pruned[0])
    if here is None or there is None:
        return
    (method, path), (other_method, other_path) = here, there
    heard = [
        said.spoken | _keys(words) for (_, said), words in ((kept, path), (pruned, other_path))
    ]
    left = [w for w in path if heard[1].isdisjoint(keys_of(w))]
    left += [w for w in other_path if heard[0].isdisjoint(keys_of(w))]
    if method != other_method:
        yield f"they are other operations: {method}, {other_method}"
    if left:
        yield f"only one of their paths says {_listed(left)}"


def _address(tool: Tool) -> tuple[str, tuple[str, ...]] | None:
    """The method and the words of the path of an operation of an API, if it is one."""
    meta = tool.raw.get("_meta")
    found = meta.get("toolscope/openapi") if isinstance(meta, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    fixed = re.sub(r"\{[^}]*\}", " ", str(found.get("path", "")))
    return str(found.get("method", "")), split_name(fixed)


def _meanings(parameter: Parameter) -> frozenset[str]:
    return name_words(parameter.name) | text_words(parameter.description)


def _same_kind(one: Parameter, other: Parameter) -> bool:
    """Whether one's description says the key that the other's name says."""
    return any(
        "id" in plain_words(p.description) for p in (one, other) if not p.name.endswith("id")
    )


def _turned_otherwise(one: Said, other: Said, names: str) -> Iterator[str]:
    if are_turned(one, other) or are_turned(other, one):
        yield f"{names} go in opposite directions"
    if voices := voices_apart(one, other):
        yield f"{names} look at it from two sides: {voices[0]} / {voices[1]}"
    if either := alternatives(one, other):
        yield f"{names} are for {either[0]} and for {either[1]}, of which both speak"


def _other_number(kept: tuple[Tool, Said], pruned: tuple[Tool, Said]) -> bool:
    """Whether one is about one thing and the other about several of them."""
    lists = [
        "list" in split_name(tool.name) or one.text[:1] in (("list",), ("lists",))
        for tool, one in (kept, pruned)
    ]
    one_lists = lists[0] != lists[1]
    plurals = [{is_plural(word) for word in said.named[-1:]} for _, said in (kept, pruned)]
    keyed = [
        any(p.required and split_name(p.name)[-1:] in (("id",), ("key",)) for p in tool.parameters)
        for tool, _ in (kept, pruned)
    ]
    if keyed[0] != keyed[1] and plurals[0] != plurals[1]:
        return True
    return number_apart(kept[1], pruned[1], described=one_lists) or (
        one_lists and keyed[0] != keyed[1]
    )


def _listed(words: Sequence[str]) -> str:
    more = len(words) - _MOST_NAMED
    return ", ".join(words[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")

"""How two tools put what they say: in which words, on what, about how many, who acts, in which
direction.

The same words may say another thing: *comments of a story* and *story with comments*, *blocked by*
and *blocking*, one member and its group's members.
"""

from collections.abc import Iterable, Sequence

from toolscope_core.wording.reading import ToolReading
from toolscope_core.wording.vocabulary import action_classes, is_border
from toolscope_core.wording.words import (
    KEY_WORDS,
    are_one,
    is_english,
    is_filler,
    is_plural,
    keys_of,
    stem,
)

_WHOLE = frozenset("not non all any".split())
_COUNTED = frozenset("list lists number count set collection array".split())
"""Of what follows, they say how it comes."""


def unshared(one: ToolReading, other: ToolReading, *, spoken: bool = False) -> tuple[str, ...]:
    """The words of ``one`` that ``other`` says in no form, in order; ``spoken``: neither in its
    name nor its description.
    """
    mentioned = other.spoken if spoken else other.mentioned
    keyed = zip(one.words, one.keys, strict=True)
    left = [word for word, keys in keyed if mentioned.isdisjoint(keys)]
    if not left:
        return ()
    parts = {part for both in one.compounds.keys() & other.plain for part in one.compounds[both]}
    return tuple(
        word
        for word in left
        if word not in parts and word not in other.compounds and not _shortened(word, one, other)
    )


def number_apart(one: ToolReading, other: ToolReading, described: bool = False) -> bool:
    """Whether a noun of both names stands for one thing here and for several there (*member*,
    *members*), and the descriptions are not the same; ``described``: or one of the descriptions.
    """
    verbs = {stem(side.text[0]) for side in (one, other) if side.text}
    same = one.text and _stems(one.text) == _stems(other.text)
    return (not same and _numbers_apart(one.named, other.named, verbs)) or (
        described and _numbers_apart(one.described, other.described, verbs)
    )


def _numbers_apart(ours: Sequence[str], theirs: Sequence[str], verbs: set[str]) -> bool:
    numbers: list[dict[str, set[bool]]] = [{}, {}]
    for words, number in zip((ours, theirs), numbers, strict=True):
        for word in words:
            number.setdefault(stem(word), set()).add(is_plural(word))
    shared = numbers[0].keys() & numbers[1].keys() - verbs
    return any(numbers[0][root].isdisjoint(numbers[1][root]) for root in shared)


def voices_apart(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """The first two name words of one stem that tell who acts on whom: *followers*, *following*;
    *blocked by*, *blocking*. ``None`` where there are none, or both are described the same.
    """
    if one.text and _stems(one.text) == _stems(other.text):
        return None
    here, there = (
        {stem(word): (word, _voice(side.name, word)) for word in side.named}
        for side in (one, other)
    )
    for root in sorted(here.keys() & there.keys()):
        (word, voice), (counterpart, voice_there) = here[root], there[root]
        if voice != voice_there and ((voice and voice_there) or "by" in (voice, voice_there)):
            return word, counterpart
    return None


def alternatives(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """The first name word of each that a description names as alternatives, where the names differ
    by them: *groups* and *projects* of *members of a group or project*.
    """
    ours, theirs = renamed(one, other)
    for text in (one.text, other.text):
        stems = list(map(stem, text))
        for a in ours:
            for b in theirs:
                for at, word in enumerate(text):
                    beside = {*stems[max(at - 1, 0) : at], *stems[at + 1 : at + 2]}
                    if word in ("or", "and") and beside == {stem(a), stem(b)}:
                        return a, b
    return None


def renamed(one: ToolReading, other: ToolReading) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of each name that the other name says in no form."""
    keys = [frozenset(key for word in side.named for key in keys_of(word)) for side in (one, other)]
    return (
        tuple(word for word in one.named if keys[1].isdisjoint(keys_of(word))),
        tuple(word for word in other.named if keys[0].isdisjoint(keys_of(word))),
    )


def object_apart(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """What the two work on by their names, where neither the names nor the descriptions agree on
    it: *student for contact*, *contact*. ``None`` where they do, or leave it open.
    """
    heads = _head(_without_verb(one.name)), _head(_without_verb(other.name))
    if not all(heads) or are_one(*heads):
        return None
    described = _head(one.text[1:]), _head(other.text[1:])
    if all(described) and are_one(*described):
        return None
    return heads


def _shortened(word: str, own: ToolReading, other: ToolReading) -> bool:
    """Whether the word of a name is the start of one that both descriptions say (*arch*); or no
    English one, but the initials of words in a row (*gcd*), or the start of a word of the other
    (*calc*). *Not* is short for nothing.
    """
    if len(word) < 3 or word in _WHOLE:
        return False
    both = (long for long in own.described if long.startswith(word) and long in other.plain)
    if word in own.named and word not in own.described and any(both):
        return True
    if is_english(word):
        return False
    return (len(word) < 6 and word in other.initials) or any(
        long.startswith(word) for long in other.words
    )


def _stems(words: Iterable[str]) -> list[str]:
    return list(map(stem, words))


def _has_a_place(word: str) -> bool:
    return not is_filler(word) or word in ("user", "users")


def _voice(name: Sequence[str], word: str) -> str:
    """Whether a word is a doer, a doing, or done by somebody; empty if it is none of them. What
    stands after *by* is how it is done: *decompiled by name*.
    """
    if word.endswith("ed") and tuple(name[-2:]) == (word, "by"):
        return "by"
    ends = {"ers": "er", "er": "er", "ing": "ing", "ed": "ed"}
    return next((voice for end, voice in ends.items() if word.endswith(end)), "")


def _head(words: Iterable[str]) -> str:
    """The last noun before the first preposition that follows one; empty if there is none."""
    noun = ""
    for word in words:
        if is_border(word) or word in ("that", "which", "who", "whose", "their", "its"):
            if noun and noun not in _COUNTED:
                break
        elif _has_a_place(word) and word not in KEY_WORDS:
            noun = word
    return noun


def _without_verb(name: Sequence[str]) -> Sequence[str]:
    """The words of a name after the verb that leads it, or before the one that ends it."""
    if name and action_classes(name[0]):
        return name[1:]
    return name[:-1] if name and action_classes(name[-1]) else name

"""Finds facts that separate two tools, however similar their texts are.

The same words may mean something else: *comments of a story* and *story with comments*, *blocked
by* and *blocking*, one member and a group's members. Only a person may merge two tools if there is
such a fact, or if they use keys of two things or two places in an API.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolscope_core.catalog.operation_names import operation_of
from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.judging.arguments.actions import action_arguments
from toolscope_core.model.numbers import listed, quoted
from toolscope_core.model.tool import Parameter, Tool
from toolscope_core.wording import words as english
from toolscope_core.wording.products import names_a_product
from toolscope_core.wording.reading import ToolReading
from toolscope_core.wording.tool_text import source_name
from toolscope_core.wording.vocabulary import action_classes, is_border, only_gets
from toolscope_core.wording.words import is_filler, keys_of, stem, words_of

_WHOLE = frozenset("not non all any".split())
_COUNTED = frozenset("list lists number count set collection array".split())
"""Words that say in what form the following is given: as a list, a number, a set."""
_UNCOUNTED = frozenset(
    """analytics contents details insights logs metadata metrics news results settings statistics
    stats status weather""".split()
)
"""Nouns that do not show singular or plural."""


def unshared(one: ToolReading, other: ToolReading, *, spoken: bool = False) -> tuple[str, ...]:
    """The words of ``one`` that ``other`` does not express in any form, in order.

    ``spoken``: neither in its name nor its description.
    """
    mentioned = other.word_keys if spoken else other.all_keys
    keyed = zip(one.words, one.keys, strict=True)
    left = [word for word, keys in keyed if mentioned.isdisjoint(keys)]
    if not left:
        return ()
    parts = {part for word in one.compounds.keys() & other.plain for part in one.compounds[word]}
    return tuple(
        word
        for word in left
        if word not in parts and word not in other.compounds and not _shortened(word, one, other)
    )


def number_apart(one: ToolReading, other: ToolReading, described: bool = False) -> bool:
    """Whether a subject in both names is singular in one and plural in the other (*member*,
    *members*).

    The descriptions must differ; with ``described``, their subjects count too.
    """
    same = (one.text and _stems(one.text) == _stems(other.text)) or (_lists(one) and _lists(other))
    return (not same and _numbers_apart(*_objects(one, other))) or (
        described and _numbers_apart(_head(one.text[1:]), _head(other.text[1:]))
    )


def _objects(one: ToolReading, other: ToolReading) -> tuple[str, str]:
    """The object of each tool, by its name."""
    return object_of(one), object_of(other)


@lru_cache(maxsize=16_384)
def object_of(reading: ToolReading) -> str:
    """The object of a tool by its name, as it is written; empty without one."""
    return _head(_without_verb(reading.name))


def _numbers_apart(thing: str, counterpart: str) -> bool:
    if _UNCOUNTED & {thing, counterpart} or stem(thing) != stem(counterpart):
        return False
    return english.is_plural(thing) != english.is_plural(counterpart)


def voices_apart(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """The first two name words of one stem that say who acts on whom.

    For example *followers* and *following*, *blocked by* and *blocking*, *follow* and *get
    following*; ``None`` if there are none.
    """
    if one.text and _stems(one.text) == _stems(other.text):
        return None
    here, there = (
        {stem(word): (word, _voice(side.name, word)) for word in side.name_words}
        for side in (one, other)
    )
    for root in sorted(here.keys() & there.keys()):
        (word, voice), (counterpart, voice_there) = here[root], there[root]
        does = _acts_on_listed(one, word, other) or _acts_on_listed(other, counterpart, one)
        if voice != voice_there and (
            (voice and voice_there) or "by" in (voice, voice_there) or does
        ):
            return word, counterpart
    return None


def _acts_on_listed(acting: ToolReading, act: str, listing: ToolReading) -> bool:
    """Whether a tool does an act and the other gives what it was done to: *follow*, *get
    following*.
    """
    return acting.name[0] == act and only_gets(listing.name[0])


def alternatives(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """The first word of each name that a description offers as alternatives.

    For example *groups* and *projects* in *members of a group or project*, if the names differ in
    these words.
    """
    ours, theirs = renamed(one, other)
    for text in (one.text, other.text):
        stems = list(map(stem, text))
        for a in ours:
            for b in theirs:
                for at, word in enumerate(text):
                    neighbours = {*stems[max(at - 1, 0) : at], *stems[at + 1 : at + 2]}
                    if word in ("or", "and") and neighbours == {stem(a), stem(b)}:
                        return a, b
    return None


def renamed(one: ToolReading, other: ToolReading) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of each name that the other name does not express in any form."""
    keys = [{key for word in side.name_words for key in keys_of(word)} for side in (one, other)]
    return (
        tuple(word for word in one.name_words if keys[1].isdisjoint(keys_of(word))),
        tuple(word for word in other.name_words if keys[0].isdisjoint(keys_of(word))),
    )


def object_apart(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """The objects of both according to their names, if neither names nor descriptions agree on
    them.

    For example *student for contact* and *contact*; ``None`` if they agree or leave it open.
    """
    heads = _objects(one, other)
    if not all(heads) or english.are_one(*heads):
        return None
    described = _head(one.text[1:]), _head(other.text[1:])
    if all(described) and english.are_one(*described):
        return None
    return heads


def _shortened(word: str, own: ToolReading, other: ToolReading) -> bool:
    """Whether a word of a name abbreviates a word of the other.

    The abbreviation is the start of a word that both descriptions use (*arch*). Or it is not an
    English word, but the initials of consecutive words (*gcd*) or the start of a word of the other
    name (*calc*). *Not* abbreviates nothing.
    """
    if len(word) < 3 or word in _WHOLE:
        return False
    longer = (long for long in own.text_words if long.startswith(word) and long in other.plain)
    if word in own.name_words and word not in own.text_words and any(longer):
        return True
    if english.is_english(word):
        return False
    return (len(word) < 6 and word in other.initials) or any(
        long.startswith(word) for long in other.words
    )


def _stems(words: Iterable[str]) -> list[str]:
    return list(map(stem, words))


def _voice(name: Sequence[str], word: str) -> str:
    """Whether a word names a doer, an activity, or something done; empty if none of these.

    Words after *by* say how it is done: *decompiled by name*.
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
        elif word not in english.KEY_WORDS and (not is_filler(word) or word in ("user", "users")):
            noun = word
    return noun


def _without_verb(name: Sequence[str]) -> Sequence[str]:
    """The words of a name after a leading verb, or before a final one."""
    if name and action_classes(name[0]):
        return name[1:]
    return name[:-1] if name and action_classes(name[-1]) else name


_DELETE = "delete"
_KEYS = frozenset("id uuid guid gid sid slug key".split())
_NAMING = english.KEY_WORDS.union(_KEYS, "param parameter".split())
"""Words in an argument's name that name no thing themselves."""


def facts_apart(one: ToolReading, other: ToolReading) -> Iterator[str]:
    """The facts that separate the two; empty if only their words separate them."""
    if voices := voices_apart(one, other):
        yield f"they look at the same thing from two sides: {voices[0]} / {voices[1]}"
    if either := alternatives(one, other):
        yield (
            f"one is for “{either[0]}”, the other for “{either[1]}”, and a description names them "
            "as alternatives"
        )
    if _reordered(one, other):
        yield "their names use the same words in another order"
    if keys := _keys_apart(one.tool, other.tool) or _named_keys_apart(one, other):
        yield f"they ask for keys of different things: {keys[0]} / {keys[1]}"
    yield from _paths_apart(one, other)


def all_distinctions(one: ToolReading, other: ToolReading) -> Iterator[str]:
    """The distinctions, and how the names on one server separate the two tools."""
    yield from facts_apart(one, other)
    yield from named_apart(one, other)


def named_apart(one: ToolReading, other: ToolReading) -> Iterator[str]:
    """How the names on one server separate two tools.

    They separate them by a word that the other tool neither uses at first nor takes as an argument,
    or by their objects, because a server with both means two things. If one word replaces another,
    a common description is no evidence about it.
    """
    if not one.tool.server or one.tool.server != other.tool.server:
        return
    ours, theirs = (set(side.name) for side in (one, other))
    by_text = one.text != other.text or ours <= theirs or theirs <= ours
    words = [
        [
            word
            for word in side
            if not (only_gets(word) or word.isdigit() or _is_mentioned(word, other_tool, by_text))
        ]
        for side, other_tool in zip(renamed(one, other), (other, one), strict=True)
    ]
    if any(words):
        between = " / ".join(listed(side) or "–" for side in words)
        yield f"one server offers both under different names ({between})"
    elif heads := object_apart(one, other):
        yield f"one server offers both, one about “{heads[0]}”, the other about “{heads[1]}”"


def part_apart(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """A common object, and the part of it that only one tool works on.

    For example the *issue* and its *relation*, which the other never mentions.
    """
    more = renamed(one, other)
    if bool(more[0]) == bool(more[1]):
        return None
    whole, part, words = (other, one, more[0]) if more[0] else (one, other, more[1])
    name, head = part.name, whole.name[-1:]
    if not head or len(name) < 2 or name[-1] not in words:
        return None
    if is_border(name[-2]) or action_classes(head[0]):
        return None
    unsaid = whole.word_keys.isdisjoint(keys_of(name[-1])) and not _is_mentioned(name[-1], whole)
    return (head[0], name[-1]) if unsaid else None


def belongings_apart(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """The object of one tool, and the things that the other tool lists for such an object.

    For example *articles* and the *references* of an article, which the first never mentions.
    """
    for whole, part in ((one, other), (other, one)):
        thing, belonging = object_of(whole), object_of(part)
        if (
            part.name[-1:] == (belonging,)
            and thing
            and _is_among(thing, part.name[-2:-1])
            and belonging not in _UNCOUNTED
            and english.is_plural(belonging)
            and whole.word_keys.isdisjoint(keys_of(belonging))
        ):
            return thing, belonging
    return None


def unmentioned_objects(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """The objects in both names, if neither description mentions the object of the other."""
    things = object_apart(one, other)
    if things is None or not _are_nouns(things, one, other):
        return None
    for thing, counterpart in zip(things, (other, one), strict=True):
        if not counterpart.word_keys.isdisjoint(keys_of(thing)):
            return None
    return things


def things_apart(one: ToolReading, other: ToolReading) -> bool:
    """Whether they are about two things.

    For example *tables* and *databases*; *statistics* or a *status* are no things, nor are names.
    """
    things = object_apart(one, other)
    return (
        things is not None
        and _UNCOUNTED.isdisjoint(things)
        and _are_nouns(things, one, other)
        and not any(map(names_a_product, things))
    )


def choices_apart(one: ToolReading, other: ToolReading) -> bool:
    """Whether the name of one says no act, because an argument chooses one, and the other has no
    such choice.
    """
    choices = [
        {(parameter.name, parameter.enum) for parameter in action_arguments(side.tool)}
        for side in (one, other)
        if side.verb not in side.name
    ]
    return any(choices) and choices != choices[:1] * 2


def _are_nouns(objects: tuple[str, str], one: ToolReading, other: ToolReading) -> bool:
    """Whether neither object is a verb in the singular or a word from the name of the tool's
    server.
    """
    return all(
        (english.is_plural(word) or not action_classes(word))
        and word not in words_of(own.tool.server)
        for word, own in zip(objects, (one, other), strict=True)
    )


def changed_apart(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """The things that two tools change, if at least one of the things is not mentioned by the other
    tool: for example a *star* and a *repository*.
    """
    things = object_apart(one, other)
    if things is None or not all(side.verb in side.name for side in (one, other)):
        return None
    unsaid = (
        other_tool.word_keys.isdisjoint(keys_of(thing))
        for thing, other_tool in zip(things, (other, one), strict=True)
    )
    return things if any(unsaid) else None


def moved_only(one: ToolReading, other: ToolReading) -> str:
    """The act that one tool does to a thing's place and the other to the thing; otherwise empty.

    For example *remove an issue from a project* beside *delete an issue*, and *add a project to a
    task* beside *duplicate a project*. The other tool takes no key of the place.
    """
    for moving, acting in ((one, other), (other, one)):
        keys = set(_things(moving.tool, True))
        if len(keys) < 2 or moving.verb == acting.verb:
            continue
        taken = [*_things(acting.tool, False)]
        for word, clause in _MOVES.items():
            if word == "to" or acting.verb == _DELETE:
                places = _after(word, moving) & keys
                rest = [place for place in places if not _is_among(place, taken)]
                if rest:
                    return clause.format(min(rest))
    return ""


_MOVES = {
    "from": "one only takes something out of the {}, the other deletes it",
    "to": "only one puts something into a {}",
}


def _after(word: str, reading: ToolReading) -> set[str]:
    """The nouns that follow a word in the name and the description."""
    return {
        english.singular(_head(words[at + 1 :]))
        for words in (reading.name, reading.text)
        for at, other in enumerate(words)
        if other == word
    }


def _is_mentioned(word: str, reading: ToolReading, by_text: bool = True) -> bool:
    """Whether a tool uses the word at first (``by_text``) or takes it as an argument."""
    keys = keys_of(word)
    return not reading.argument_keys.isdisjoint(keys) or (
        by_text and not reading.lead.isdisjoint(keys)
    )


def is_key(parameter: Parameter) -> bool:
    """Whether the parameter is named like an identifier of one thing among others of its kind."""
    return not _KEYS.isdisjoint(english.plain_words(parameter.name)[-1:])


def _reordered(one: ToolReading, other: ToolReading) -> bool:
    """Whether the names have the same words in another order around a linking word.

    For example *route of a service* and *service of a route*.
    """
    ours, theirs = ([stem(word) for word in side.name] for side in (one, other))
    if ours == theirs or sorted(ours) != sorted(theirs):
        return False
    return any(is_border(word) for word in one.name[1:-1])


def one_and_several(one: ToolReading, other: ToolReading) -> bool:
    """Whether one is about a single thing and the other about several."""
    lists = [_lists(side) for side in (one, other)]
    several = [
        listing or (thing not in _UNCOUNTED and english.is_plural(thing))
        for listing, thing in zip(lists, _objects(one, other), strict=True)
    ]
    keyed = [any(p.required and is_key(p) for p in side.tool.parameters) for side in (one, other)]
    if keyed[0] != keyed[1] and several[0] != several[1]:
        return True
    return number_apart(one, other, described=lists[0] != lists[1])


def _lists(reading: ToolReading) -> bool:
    """Whether the tool lists something: ``list_tags``, ``get_tag_list``; not ``get_list``."""
    name = reading.name
    is_named = name[:1] == ("list",) or reading.verb == "list" or (name[2:] and name[-1] == "list")
    return bool(is_named) or reading.text[:1] in (("list",), ("lists",))


def _keys_apart(one: Tool, other: Tool) -> tuple[str, str] | None:
    """For each tool, a thing whose key it requires while the other takes no key of it."""
    required, arguments = (
        [dict.fromkeys(_things(tool, always)) for tool in (one, other)] for always in (True, False)
    )
    ours, theirs = (
        [thing for thing in required[at] if not _is_among(thing, arguments[1 - at])]
        for at in (0, 1)
    )
    return (ours[0], theirs[0]) if ours and theirs else None


def _named_keys_apart(one: ToolReading, other: ToolReading) -> tuple[str, str] | None:
    """For each tool, a thing in its name whose key only this tool requires.

    For example *cards by list id* and *board cards*.
    """
    required = [dict.fromkeys(_things(side.tool, True)) for side in (one, other)]
    nouns = [[word for word in side.name if not action_classes(word)] for side in (one, other)]
    own = [
        [
            thing
            for thing in required[at]
            if _is_among(thing, (one, other)[at].name)
            and not _is_among(thing, (*nouns[1 - at], *required[1 - at]))
        ]
        for at in (0, 1)
    ]
    return (own[0][0], own[1][0]) if all(own) else None


def _is_among(thing: str, words: Iterable[str]) -> bool:
    return any(english.are_one(thing, word) for word in words)


def fixed_one(one: ToolReading, other: ToolReading) -> bool:
    """Whether one gives a single thing that no argument chooses, and the other gives several of its
    kind.

    For example *current user* and *users*.
    """
    if not number_apart(one, other):
        return False
    return any(
        not side.tool.parameters and side.tool.schema is not None
        for side, thing in zip((one, other), _objects(one, other), strict=True)
        if not english.is_plural(thing)
    )


_INCLUDES = re.compile(
    r"\b(?:includ(?:ing|es?)|(?:along|together) with|with (?:their|its|all))\b([^.;:()]*)", re.I
)
_WHOLLY = frozenset("detailed details complete full fields everything".split())
"""Words in the description of a tool that leaves nothing out."""


def lost_parts(kept: ToolReading, replaced: ToolReading) -> tuple[str, ...]:
    """The parts that only the result of ``replaced`` includes, according to its first sentence.

    For example the *comments* of an issue. Only things that may be several count.
    """
    if not _WHOLLY.isdisjoint(kept.text):
        return ()
    return tuple(word for word in _parts(replaced) if kept.all_keys.isdisjoint(keys_of(word)))


@lru_cache(maxsize=16_384)
def _parts(reading: ToolReading) -> tuple[str, ...]:
    """The plural nouns that the first sentence of the description says are included."""
    first = next(iter(english.sentences(without_hidden(reading.tool.description))), "")
    words = words_of(" ".join(_INCLUDES.findall(first)).lower())
    return tuple(word for word in words if english.is_plural(word) and not is_filler(word))


def _things(tool: Tool, always: bool) -> Iterator[str]:
    """The things whose keys a tool requires (*issue* of ``issueIdOrKey``), or without ``always``
    those whose keys or names it takes, one or several.
    """
    for parameter in tool.parameters:
        words = english.plain_words(parameter.name)
        nouns = [word for word in words if word not in _NAMING and not is_border(word)]
        names_one = is_key(parameter) and parameter.required
        if nouns and (names_one if always else len(nouns) < len(words)):
            yield nouns[-1]


@dataclass(frozen=True, slots=True)
class _Address:
    """The address of an API operation: the words of its path without placeholders.

    ``of_one`` says whether the path ends in a placeholder or a singular.
    """

    words: tuple[str, ...]
    of_one: bool

    @property
    def stems(self) -> list[str]:
        return list(map(stem, self.words))

    def more_than(self, other: _Address) -> list[str]:
        """The words of this path that the other lacks, or has less often."""
        rest = Counter(other.stems)
        rest.subtract(self.stems)
        return [word for word in dict.fromkeys(self.words) if rest[stem(word)] < 0]


def _paths_apart(one: ToolReading, other: ToolReading) -> Iterator[str]:
    here, there = _address(one.tool), _address(other.tool)
    if here is None or there is None:
        return
    left = [word for word in here.more_than(there) if other.word_keys.isdisjoint(keys_of(word))]
    left += [word for word in there.more_than(here) if one.word_keys.isdisjoint(keys_of(word))]
    if left:
        yield f"only one of their API paths has {quoted(left)}"
    elif here.of_one != there.of_one:
        yield "one of their API paths leads to a single thing, the other to several"
    elif sorted(here.stems) == sorted(there.stems) and here.stems != there.stems:
        yield "their API paths have the same words in another order"
    elif here.words != there.words and source_name(one.tool) == source_name(other.tool):
        yield "their document gives both the same name, but different paths"


def _address(tool: Tool) -> _Address | None:
    operation = operation_of(tool)
    if operation is None:
        return None
    path = str(operation.get("path", "")).rstrip("/")
    words = tuple(words_of(re.sub(r"\{[^}]*\}", " ", path)))
    of_one = path.endswith("}") or not any(map(english.is_plural, words[-1:]))
    return _Address(words, of_one)

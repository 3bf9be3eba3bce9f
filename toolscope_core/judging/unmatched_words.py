"""Why the words of two tools do not let one be pruned for the other, in sentences.

*Safe* needs that nothing the two say differs without a reason. A
word on one side narrows or widens; words on both sides are a substitution, so a family or siblings.
"""

from collections.abc import Iterable, Iterator, Sequence

from toolscope_core.judging.arguments.roles import read_parameter
from toolscope_core.judging.distinctions import distinctions, is_key
from toolscope_core.judging.guards import effect
from toolscope_core.judging.phrasing import object_apart, unshared
from toolscope_core.judging.products import server_words
from toolscope_core.judging.reading import ToolReading
from toolscope_core.judging.vocabulary import only_gets
from toolscope_core.judging.word_stems import meaning, plain_words
from toolscope_core.judging.words import KEY_WORDS, Key, keys_of, words_of
from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.numbers import listed, quoted
from toolscope_core.model.tool import Parameter, Tool, names_of


def unmatched_reasons(kept: ToolReading, pruned: ToolReading, alpha: ArgumentMap) -> Iterator[str]:
    """What speaks against letting ``kept`` stand for ``pruned``; nothing if each word is matched.

    ``alpha`` maps calls of the one to the other. What an argument of the kept tool says is matched
    where calls of the other leave it out, or always give it one value.
    """
    words = tuple(_left_over(kept, pruned, alpha))
    yield from _on_words((kept.tool, pruned.tool), words)
    yield from distinctions(kept, pruned)
    if not any(words) and (apart := object_apart(kept, pruned)):
        yield f"one is about “{apart[0]}”, the other about “{apart[1]}”"
    yield from _arguments_apart(kept, pruned, alpha)


def _on_words(tools: tuple[Tool, Tool], words: Sequence[Sequence[str]]) -> Iterator[str]:
    names, (ours, theirs) = names_of(tools), words
    if ours and theirs:
        own = (set(left) <= server_words(t.owner) for left, t in zip(words, tools, strict=True))
        if all(own):
            yield f"each is named for its own server ({listed(ours)} / {listed(theirs)})"
        else:
            yield f"`{names[0]}` says {quoted(ours)} where `{names[1]}` says {quoted(theirs)}"
    elif ours or theirs:
        yield f"only `{names[0] if ours else names[1]}` says {quoted(ours or theirs)}"


def _left_over(kept: ToolReading, pruned: ToolReading, alpha: ArgumentMap) -> Iterator[list[str]]:
    """The words that nothing matches, of the kept and of the pruned tool."""
    set_by_calls = {move.target for move in alpha.moves}
    fixed = _keys(name for name in alpha.constants)
    offered = _keys(
        p.name for p in kept.tool.parameters if not (p.required or p.name in set_by_calls)
    ) - _keys(kept.named)  # but what it is named for
    both_read = effect(kept) == effect(pruned) == "reads"  # *get* adds nothing to *summarize*
    values = (word for value in alpha.constants.values() for word in words_of(str(value)))
    given = fixed | _keys((*set_by_calls, *values))
    for words in (
        [word for word in unshared(kept, pruned) if (fixed | offered).isdisjoint(keys_of(word))],
        _without(pruned, kept, given),
    ):
        yield [word for word in words if not (both_read and only_gets(word))]


def _without(pruned: ToolReading, kept: ToolReading, given: set[Key]) -> list[str]:
    """The words of the pruned tool that the kept one says in no form, or only by an argument that
    the mapped calls leave out.
    """
    left = set(unshared(pruned, kept))
    spoken = set(unshared(pruned, kept, spoken=True))
    return [
        word
        for word in pruned.words
        if word in left or (word in spoken and given.isdisjoint(keys_of(word)))
    ]


def _keys(names: Iterable[str]) -> set[Key]:
    """What the words of some names may be known by."""
    return {key for name in names for word in words_of(name) for key in keys_of(word)}


def _arguments_apart(kept: ToolReading, pruned: ToolReading, alpha: ArgumentMap) -> Iterator[str]:
    """Arguments that are one by what they take, though a name says what the other tool does not:
    a user's token, a developer's token; an id of a thing, the thing.
    """
    ours, theirs = ({p.name: p for p in side.tool.parameters} for side in (pruned, kept))
    for move in alpha.moves:
        if move.source == move.target:
            continue
        source, target = ours[move.source], theirs[move.target]
        telling = [
            word
            for parameter, counterpart, words in ((source, target, kept), (target, source, pruned))
            for word in read_parameter(parameter).parts
            if word not in KEY_WORDS
            and meaning(word) not in read_parameter(counterpart).text
            and words.spoken.isdisjoint(keys_of(word))
        ]
        keyed = [is_key(p) or p.name.endswith("ids") for p in (source, target)]
        if telling or (keyed[0] != keyed[1] and not _same_kind(source, target)):
            yield f"`{source.name}` of {pruned.tool.id} would become `{target.name}`"


def _same_kind(one: Parameter, other: Parameter) -> bool:
    """Whether one's description says the key that the other's name says."""
    return any(
        "id" in plain_words(p.description) for p in (one, other) if not p.name.endswith("id")
    )

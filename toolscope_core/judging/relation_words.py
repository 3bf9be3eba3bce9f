"""Puts the relation of two tools, and the distinction between a family's members, into plain words.

Names and words in the sentences come from the catalog and are not escaped.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from toolscope_core.catalog.formats.mcp_records import pages_of
from toolscope_core.judging import distinctions, explanation
from toolscope_core.judging.arguments.alignment import serving
from toolscope_core.judging.arguments.argument_words import OTHER_LANGUAGES
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.judging.arguments.roles import read_parameter
from toolscope_core.judging.guards import effect
from toolscope_core.judging.selector import selector_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap, Cluster
from toolscope_core.model.numbers import listed, quoted
from toolscope_core.model.pair import Verdict
from toolscope_core.model.tool import JsonObject, Parameter, Tool, names_of
from toolscope_core.wording.products import product_words
from toolscope_core.wording.reading import ToolReading, read_tool
from toolscope_core.wording.vocabulary import are_of_other_languages, is_foreign, only_gets
from toolscope_core.wording.words import KEY_WORDS, WordKey, keys_of, meaning, plain_words, words_of


def unmatched_reasons(
    kept: ToolReading, replaced: ToolReading, alpha: ArgumentMap
) -> Iterator[str]:
    """The objections to letting ``kept`` replace ``replaced``; empty if each word is matched.

    ``alpha`` maps calls from one to the other. Words on an argument of the kept tool count as
    matched if mapped calls leave the argument out or always give it one value.
    """
    words = tuple(_left_over(kept, replaced, alpha))
    if are_of_other_languages(kept.tool.description, replaced.tool.description):
        yield OTHER_LANGUAGES
        sides = zip(words, (kept, replaced), strict=True)
        words = tuple([one for one in own if one in side.name_words] for own, side in sides)
    elif is_foreign(kept.tool.description):
        yield "the descriptions are not in English"
    yield from _on_words((kept.tool, replaced.tool), words)
    yield from distinctions.facts_apart(kept, replaced)
    if distinctions.one_and_several(kept, replaced):
        yield "one is about a single thing, the other about several"
    if lost := distinctions.lost_parts(kept, replaced):
        yield f"only the result of {replaced.tool.id} includes {quoted(lost)}"
    if not any(words) and (objects := distinctions.object_apart(kept, replaced)):
        yield f"one is about “{objects[0]}”, the other about “{objects[1]}”"
    yield from _arguments_apart(kept, replaced, alpha)


def _on_words(tools: tuple[Tool, Tool], words: Sequence[Sequence[str]]) -> Iterator[str]:
    names, (ours, theirs) = names_of(tools), words
    if ours and theirs:
        own = (set(left) <= product_words(t.owner) for left, t in zip(words, tools, strict=True))
        if all(own):
            yield f"each is named for its own server ({listed(ours)} / {listed(theirs)})"
        else:
            yield f"`{names[0]}` says {quoted(ours)} where `{names[1]}` says {quoted(theirs)}"
    elif ours or theirs:
        yield f"only `{names[0] if ours else names[1]}` says {quoted(ours or theirs)}"


def _left_over(kept: ToolReading, replaced: ToolReading, alpha: ArgumentMap) -> Iterator[list[str]]:
    """The unmatched words of the kept and of the replaced tool."""
    set_by_calls = {move.target for move in alpha.moves}
    fixed = _keys(name for name in alpha.constants)
    offered = _keys(
        p.name for p in kept.tool.parameters if not (p.required or p.name in set_by_calls)
    ) - _keys(kept.name_words)  # except for the thing that it is named for
    both_read = effect(kept) == effect(replaced) == "reads"  # *get* adds nothing to *summarize*
    values = (word for value in alpha.constants.values() for word in words_of(str(value)))
    set_keys = fixed | _keys((*set_by_calls, *values))
    for words in (
        [
            word
            for word in distinctions.unshared(kept, replaced)
            if (fixed | offered).isdisjoint(keys_of(word))
        ],
        _without(replaced, kept, set_keys),
    ):
        yield [word for word in words if not (both_read and only_gets(word))]


def _without(replaced: ToolReading, kept: ToolReading, set_keys: set[WordKey]) -> list[str]:
    """The words of the replaced tool that the kept one does not express.

    A word also counts as missing if the kept tool has it only in an argument that mapped calls
    leave out.
    """
    left = set(distinctions.unshared(replaced, kept))
    spoken = set(distinctions.unshared(replaced, kept, spoken=True))
    return [
        word
        for word in replaced.words
        if word in left or (word in spoken and set_keys.isdisjoint(keys_of(word)))
    ]


def _keys(names: Iterable[str]) -> set[WordKey]:
    """The keys by which the words of some names may be recognised."""
    return {key for name in names for word in words_of(name) for key in keys_of(word)}


def _arguments_apart(kept: ToolReading, replaced: ToolReading, alpha: ArgumentMap) -> Iterator[str]:
    """Arguments that match by schema although one name says something that the other tool does not.

    For example a user's token and a developer's token, or an id of a thing and the thing.
    """
    ours, theirs = ({p.name: p for p in side.tool.parameters} for side in (replaced, kept))
    for move in alpha.moves:
        if move.source == move.target:
            continue
        source, target = ours[move.source], theirs[move.target]
        telling = [
            word
            for parameter, counterpart, words in (
                (source, target, kept),
                (target, source, replaced),
            )
            for word in read_parameter(parameter).parts
            if word not in KEY_WORDS
            and meaning(word) not in read_parameter(counterpart).text
            and words.word_keys.isdisjoint(keys_of(word))
        ]
        keyed = [distinctions.is_key(p) or p.name.endswith("ids") for p in (source, target)]
        if telling or (keyed[0] != keyed[1] and not _same_kind(source, target)):
            yield f"`{source.name}` of {replaced.tool.id} would become `{target.name}`"


def _same_kind(one: Parameter, other: Parameter) -> bool:
    """Whether the description of one mentions the key in the name of the other."""
    return any(
        "id" in plain_words(p.description) for p in (one, other) if not p.name.endswith("id")
    )


_MOST_WORDS = 8
_SURE = 0.95
"""The probability above which the sentence says without doubt that two tools do the same job."""


@dataclass(frozen=True, slots=True)
class FamilySelector:
    """The selector that distinguishes the members of a family.

    It is the argument ``name`` that a gateway would add, with its ``schema``; ``values`` are (tool
    id, value), canonical first.
    """

    name: str
    values: tuple[tuple[str, str], ...]
    schema: JsonObject

    @property
    def in_words(self) -> str:
        """The selector and its values in words, such as ``provider: fidelity / robinhood``."""
        return f"{self.name}: {' / '.join(value for _, value in self.values)}"


def relation_of(verdict: Verdict, tools: tuple[Tool, Tool]) -> str:
    """The relation of the two, in a sentence."""
    perhaps = "They look like"
    if verdict.outcome == "unsure":
        perhaps = "They may do"
    elif verdict.same_job >= _SURE:
        perhaps = "They do"
    match verdict.relation:
        case "duplicate":
            return f"{perhaps} the same job."
        case "subsumes":
            more = "" if verdict.serves == "none" else ", and one of them can do more"
            return f"{perhaps} the same job{more}."
        case "family":
            return explanation.same_operation(tools, verdict.differs)
        case "related" if verdict.outcome == "unsure":
            return "They look alike; a person must decide whether they do the same job."
        case "related":
            return explanation.RELATED
        case _:
            return explanation.UNRELATED


def serving_of(verdict: Verdict, tools: tuple[Tool, Tool]) -> str:
    """Which tool accepts the calls of the other according to its arguments, in a sentence; empty
    for two jobs.

    The sentence repeats the result of their argument maps. It is empty if each name has a word that
    the other does not express in any form, such as ``setAdmin`` and ``setRegular``: no call to one
    is meant for the other, whatever its arguments.
    """
    if verdict.relation in ("related", "different"):
        return ""
    named_tools = zip(names_of(tools), tools, strict=True)
    if silent := [name for name, tool in named_tools if tool.schema is None]:
        return (
            f"The arguments of {' and '.join(silent)} are unknown, so it is unclear which of them "
            "could take calls to the other."
        )
    if verdict.relation == "family":
        selector, _ = selector_of(tools, verdict.differs)
        return f"No tool has an argument for the {selector}, so none can take calls to the other."
    if all(distinctions.renamed(*map(read_tool, tools))):
        return ""
    return explanation.serving_words(serving(*tools, match_parameters(*tools)), tools)


def apart_of(verdict: Verdict, tools: tuple[Tool, Tool]) -> tuple[str, ...]:
    """One sentence on facts that separate the two, if they decided, and one on differing words."""
    sentences: list[str] = []
    if verdict.outcome == "unsure":
        facts = distinctions.all_distinctions(*map(read_tool, tools))
        sentences += [f"{fact[0].upper()}{fact[1:]}." for fact in facts]
    sides = zip(names_of(tools), verdict.differs, strict=True)
    sentences += [
        f"Only {name} says {quoted(words, _MOST_WORDS)}." for name, words in sides if words
    ]
    return tuple(sentences) or (explanation.NO_WORDS_APART,)


def differs_of(unshared: Sequence[Sequence[str]]) -> str:
    """The words that only one of the tools uses, for a cell: ``fidelity / robinhood``."""
    if not any(unshared):
        return ""
    return " / ".join(listed(words, _MOST_WORDS) or "–" for words in unshared)


def selector_in(cluster: Cluster) -> FamilySelector | None:
    """The selector of a gateway tool; ``None`` if the cluster has none or an edit removed it."""
    schema = (cluster.document.schema or {}).get("properties", {}).get(cluster.selector)
    values = {
        alpha.tool_id: str(alpha.constants[cluster.selector])
        for alpha in cluster.arguments
        if cluster.selector in alpha.constants
    }
    if not isinstance(schema, dict) or len(values) < len(cluster.members):
        return None
    order = sorted(cluster.members, key=lambda member: (member != cluster.canonical, member))
    return FamilySelector(
        cluster.selector, tuple((member, values[member]) for member in order), schema
    )


def unmatched_reasons_in(catalog: Catalog, cluster: Cluster) -> tuple[str, ...]:
    """The objections in words to letting a drop-in's canonical replace the others.

    Empty if every word is covered. Also empty for a gateway tool, because its members all stay.
    """
    return tuple(dict.fromkeys(_unmatched_reasons(catalog, cluster)))


def app_reasons_in(catalog: Catalog, cluster: Cluster) -> tuple[str, ...]:
    """The losses that a merge causes for apps from servers, because apps show pages and call tools
    by name.
    """
    showing = {tool.server for tool in catalog.tools if "_meta" in tool.raw and pages_of(tool.raw)}
    reasons = []
    for tool in map(catalog.by_id.__getitem__, sorted(cluster.members)):
        if tool.id != cluster.canonical and tool.server in showing:
            if pages_of(tool.raw):
                reasons.append(f"The page that {tool.server} shows for {tool.name} is gone.")
            reasons.append(
                f"An app of {tool.server} may call {tool.name}: serve passes such calls on, but "
                "without serve they fail."
            )
    return tuple(reasons)


def _unmatched_reasons(catalog: Catalog, cluster: Cluster) -> Iterator[str]:
    stays = catalog.by_id[cluster.canonical]
    for alpha in cluster.arguments if cluster.kind == "drop_in" else ():
        tool = catalog.by_id[alpha.tool_id]
        if tool is not stays and tool.content_hash != stays.content_hash:
            yield from unmatched_reasons(read_tool(stays), read_tool(tool), alpha)

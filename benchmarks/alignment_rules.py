"""How many argument maps each group of words and each special rule of alignment changes.

    python -m benchmarks.alignment_rules [--openapi FOLDER] [--pairs N]

Each is removed alone. *made on*: development maps of ``tests/data`` (see ``ALIGNMENT.md``), with
how many more parameters are right without it than with it. *outside*: near pairs (cosine ≥ θ) of
the servers and of OpenAPI documents, drawn with a seed, none of them among those maps. A map is
changed where a parameter is another one, or is inferred rather than sure. The documents are those
of ``benchmarks.openapi_directory``.
"""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.alignment_quality import NEAR, Aligned, load_gold
from benchmarks.measuring import parser_of, read_named, vectors_of
from benchmarks.openapi_directory import fetched, read_document
from toolscope_core.embedding.candidate_pairs import default_threshold, nearest
from toolscope_core.embedding.packaged_model import DEFAULT_MODEL
from toolscope_core.judging import word_stems
from toolscope_core.judging.arguments import likeness, matching, roles, units
from toolscope_core.judging.words import singular, stem
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import Tool

SEED = 17
DOCUMENTS = 40
LARGEST = 1_000_000
"""Bytes of a document: larger ones would be most of the pairs."""

_SERVERS = ("docker-mcp", "livemcpbench")
_NEIGHBOURS = 30
_NEVER = re.compile(r"(?!)")
_NONE: frozenset[str] = frozenset()

Pairs = Sequence[tuple[Tool, Tool]]
Map = frozenset[tuple[str, str, bool]]
Patch = Mapping[tuple[Any, str], Any]

RULES: Mapping[str, Patch] = {
    "names spelt alike": {(likeness, "_spelt_alike"): lambda *_: False},
    "no. of": {(word_stems, "_NUMBER_OF"): _NEVER},
    "from and to of a time": {(word_stems, "_TIME_SIDES"): {}},
    "check in, check out": {(word_stems, "_STAY"): {}},
    "the usual side": {(likeness, "_USUAL"): _NONE},
    "a side without its other side": {(likeness, "_has_other_side"): lambda *_: True},
    "one side in other words": {
        (roles, "_SIDE_OF"): {},
        (likeness, "are_of_one_side"): lambda *_: False,
    },
    "as the tools differ": {(likeness, "_by_subject"): lambda *_: 0.0},
    "kinds apart, same values": {(likeness, "_have_same_values"): lambda *_: False},
    "values in common": {(likeness, "_shared_values"): lambda *_: 0.0},
    "ids of two things": {(likeness, "_are_ids_of_two"): lambda *_: False},
    "may be of another": {(likeness, "_may_be_of_another"): lambda *_: False},
    "of one kind": {(likeness, "_OF_ONE_KIND"): dict.fromkeys(likeness._OF_ONE_KIND, 0.0)},
    "the same but for the unit": {(likeness, "same_but_unit"): lambda *_: False},
    "words with another kind": {(roles, "_ANY_OF"): _NONE},
    "the only ones left": {(matching, "_only_ones"): lambda *_: ()},
}
"""What stands in the place of each special rule when it is removed."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--openapi", type=Path, help="documents (default: from npm)")
    parser.add_argument("--pairs", type=int, default=6000, help="pairs outside at most")
    given = parser.parse_args()
    gold = [one for one in (*load_gold(), *load_gold(NEAR)) if one.half == "dev"]
    used = {frozenset((one.left.id, one.right.id)) for one in (*load_gold(), *load_gold(NEAR))}
    made_on = [(one.left, one.right) for one in gold]
    outside = drawn(outside_pairs(given.openapi or fetched()), used, given.pairs)
    print(f"made on: {len(made_on)} maps; outside: {len(outside)} near pairs")
    before, before_outside = maps(made_on), maps(outside)
    print(f"{'made on':>8}{'right':>7}{'outside':>9}  removed")
    for name, patch, words in removals():
        with removed(patch):
            now = [*again(made_on, before, words)]
            now_outside = [*again(outside, before_outside, words)]
        gained = sum(
            _right(new, one.args) - _right(old, one.args)
            for new, old, one in zip(now, before, gold, strict=True)
        )
        changed, changed_outside = _changed(before, now), _changed(before_outside, now_outside)
        print(f"{changed:>8}{gained:>+7}{changed_outside:>9}  {name}", flush=True)


def removals() -> Iterator[tuple[str, Patch, frozenset[str]]]:
    """Each special rule there is, then each group of words: name, what takes its place, and the
    words without which a map stays as it is (none: it may be any map).
    """
    for name, patch in RULES.items():
        if all(hasattr(module, attribute) for module, attribute in patch):
            yield name, patch, _NONE
    meanings = word_stems._meanings()
    for head in dict.fromkeys(meanings.values()):
        rest = {word: one for word, one in meanings.items() if one != head}
        words = [word for word, one in meanings.items() if one == head]
        yield " ".join(words), {(word_stems, "_meanings"): lambda rest=rest: rest}, frozenset(words)


@contextmanager
def removed(patch: Patch) -> Iterator[None]:
    """Alignment without a rule: what was derived from the words is derived anew."""
    originals = {key: getattr(*key) for key in patch}
    _set(patch)
    _derive()
    _set({key: value for key, value in patch.items() if key[0] is not word_stems})
    try:
        yield
    finally:
        _set(originals)
        _derive()


def maps(pairs: Pairs) -> list[Map]:
    """The argument map of each pair, with what is only inferred."""
    return [
        frozenset((m.left, m.right, m.inferred) for m in matching.match_parameters(*pair))
        for pair in pairs
    ]


def again(pairs: Pairs, before: Sequence[Map], words: frozenset[str]) -> Iterator[Map]:
    """The maps of the pairs, anew where one of the words is said."""
    for pair, old in zip(pairs, before, strict=True):
        anew = not words or not words.isdisjoint(_words_of(pair[0]) | _words_of(pair[1]))
        yield maps([pair])[0] if anew else old


def outside_pairs(folder: Path) -> Iterator[tuple[Tool, Tool]]:
    """Near pairs of the servers and of documents drawn from the folder."""
    for name in _SERVERS:
        yield from near_pairs(read_named(name))
    files = sorted(path for path in folder.rglob("*.json") if path.stat().st_size <= LARGEST)
    for path in random.Random(SEED).sample(files, min(DOCUMENTS, len(files))):
        try:
            yield from near_pairs(read_document(path))
        except CatalogError:  # no operations, or none that can be read
            continue


def near_pairs(catalog: Catalog) -> Iterator[tuple[Tool, Tool]]:
    """Pairs of a catalog at θ or closer whose parameter names differ."""
    tools = catalog.tools
    if len(tools) < 2:
        return
    near = nearest(vectors_of(tools), _NEIGHBOURS, default_threshold(DEFAULT_MODEL))
    for left, right in zip(near.left.tolist(), near.right.tolist(), strict=True):
        one, other = tools[left], tools[right]
        ours, theirs = ({p.name for p in tool.parameters} for tool in (one, other))
        if ours - theirs and theirs - ours:
            yield one, other


def drawn(
    pairs: Iterator[tuple[Tool, Tool]], used: set[frozenset[str]], at_most: int
) -> list[tuple[Tool, Tool]]:
    """At most so many of the pairs that no map was made of."""
    unused = [pair for pair in pairs if frozenset(tool.id for tool in pair) not in used]
    return random.Random(SEED).sample(unused, min(at_most, len(unused)))


def _words_of(tool: Tool) -> frozenset[str]:
    """The words of a tool's name and parameters, also as they are looked up in the groups."""
    texts = [tool.name, *(text for p in tool.parameters for text in (p.name, p.description))]
    texts += [str(value) for p in tool.parameters for value in p.enum]
    words = {word for text in texts for word in word_stems.plain_words(text)}
    words |= {word for text in texts for word in text.casefold().replace("_", " ").split()}
    return frozenset({*words, *map(singular, words), *map(stem, words)})


def _right(found: Map, args: Aligned) -> int:
    return sum((left, right) in args for left, right, _ in found)


def _changed(before: Sequence[Map], now: Sequence[Map]) -> int:
    return sum(one != other for one, other in zip(before, now, strict=True))


def _set(patch: Patch) -> None:
    for (module, attribute), value in patch.items():
        setattr(module, attribute, value)


def _derive() -> None:
    """Forget what was derived from the words, and derive the constants of the modules anew."""
    for value in list(vars(word_stems).values()):
        if hasattr(value, "cache_clear") and value.__module__ == word_stems.__name__:
            value.cache_clear()
    for module in (units, roles, likeness, matching):
        importlib.reload(module)


if __name__ == "__main__":
    main()

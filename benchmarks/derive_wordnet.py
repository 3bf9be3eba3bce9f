"""Derive the word tables that the judge reads from the Open English WordNet.

 python -m benchmarks.derive_wordnet

Only single words in lower case are kept, with their four most common senses. The tables say which
words share a sense, which sense is above which and what it is called, and which words are
opposites. Two words are synonyms if they share the most common sense of both and their vectors from
the embedding model are close. 176 such pairs from the names of about 15,000 tools were checked by
eye. Tools whose names have the two words of a more distant pair (project and task, force and
pressure, book and word) mean different things. The same input gives the same bytes.
"""

import gzip
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import networkx as nx

from benchmarks.measuring import data_folder
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.wording import wordnet

_SENSES = 4
_CLOSE = 0.6
_WORD = re.compile(r"[A-Za-z][a-z]+")
_NOTICES = ("LICENSE.md", "WNDB_License.txt")


def main() -> None:
    folder = data_folder("oewn")
    lines = gzip.decompress((folder / "oewn.jsonl.gz").read_bytes()).splitlines()
    opposites = json.loads((folder / "antonyms.json").read_text("utf-8"))
    table = tables([json.loads(line) for line in lines], opposites)
    text = json.dumps(table, separators=(",", ":"), sort_keys=True).encode()
    out = wordnet.TABLES
    out.parent.mkdir(exist_ok=True)
    out.write_bytes(gzip.compress(text, 9, mtime=0))
    for notice in _NOTICES:
        shutil.copyfile(folder / notice, out.with_name(notice))
    print(f"{len(table['words'])} words, {len(table['above'])} senses, {out.stat().st_size} bytes")


def tables(synsets: list[dict[str, Any]], opposites: list[list[str]]) -> dict[str, Any]:
    """The tables for the word lists.

    ``words``: the senses of each word, most common first, as sense × 8 + rank. ``synonyms``: the
    groups of each word that is in one. ``above``: the next more general sense of each sense, or −1.
    ``names``: the name of each sense that has others below it. ``opposites``: pairs of words.
    """
    above = {one["id"]: next(iter(one["hypernyms"]), None) for one in synsets}
    senses: dict[str, list[tuple[int, str]]] = {}
    for one in synsets:
        for word, rank in one["sense_rank"].items():
            if _WORD.fullmatch(word) and rank <= _SENSES:
                senses.setdefault(word.lower(), []).append((rank, one["id"]))
    synonyms = _synonyms(senses)
    used_senses = {sense for word_senses in senses.values() for _, sense in word_senses}
    for sense in list(used_senses):
        while (sense := above[sense]) and sense not in used_senses:
            used_senses.add(sense)
    number = {sense: at for at, sense in enumerate(sorted(used_senses))}
    general = {above[sense] for sense in used_senses}
    return {
        "words": {
            word: [8 * number[sense] + rank for rank, sense in sorted(word_senses)]
            for word, word_senses in sorted(senses.items())
        },
        "synonyms": synonyms,
        "above": [number.get(above[sense] or "", -1) for sense in sorted(used_senses)],
        "names": {
            str(number[one["id"]]): min(called)[1]
            for one in synsets
            if one["id"] in general
            and one["id"] in number
            and (
                called := [
                    (r, w) for w, r in one["sense_rank"].items() if w.islower() and w.isalpha()
                ]
            )
        },
        "opposites": sorted(
            pair for pair in opposites if all(_WORD.fullmatch(word) for word in pair)
        ),
    }


def _synonyms(senses: Mapping[str, Sequence[tuple[int, str]]]) -> dict[str, list[int]]:
    """The numbers of the groups that each word is in. A group has words with one sense, joined if
    their vectors are close.
    """
    words_of: dict[str, list[str]] = {}
    for word, word_senses in sorted(senses.items()):
        for sense in {sense for rank, sense in word_senses if rank == 1}:
            words_of.setdefault(sense, []).append(word)
    several = {sense: words for sense, words in sorted(words_of.items()) if len(words) > 1}
    words = sorted({word for group in several.values() for word in group})
    rows = dict(zip(words, MiniLmEmbedder().encode(words), strict=True))
    groups: dict[str, list[int]] = {}
    number = 0
    for group in several.values():
        close = nx.Graph()
        close.add_edges_from(
            (a, b) for a, b in combinations(group, 2) if float(rows[a] @ rows[b]) >= _CLOSE
        )
        for part in sorted(map(sorted, nx.connected_components(close))):
            for word in part:
                groups.setdefault(word, []).append(number)
            number += 1
    return dict(sorted(groups.items()))


if __name__ == "__main__":
    main()

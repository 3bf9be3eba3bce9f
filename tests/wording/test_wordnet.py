"""The word tables in the package: what they know, that they are whole, and where they come from."""

import gzip
import json

import numpy as np
import pytest

from benchmarks import derive_wordnet
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.wording import wordnet
from toolscope_core.wording.wordnet import are_opposite, is_word, kinds_of, tables


def test_the_tables_are_whole():
    all_tables = tables()
    last = len(all_tables.above)
    assert len(all_tables.senses) > 50_000
    assert all(word == word.lower() and codes for word, codes in all_tables.senses.items())
    assert all(1 <= code % 8 <= 4 for codes in all_tables.senses.values() for code in codes)
    assert all(0 <= code // 8 < last for codes in all_tables.senses.values() for code in codes)
    assert all(-1 <= above < last for above in all_tables.above)
    assert set(all_tables.names) <= set(all_tables.above)


@pytest.mark.parametrize(("word", "expected"), [("note", True), ("ebay", False), ("", False)])
def test_words(word, expected):
    assert is_word(word) is expected


@pytest.mark.parametrize(
    ("one", "other", "opposite"),
    [
        ("open", "close", True),
        ("buy", "sell", True),
        ("export", "import", True),
        ("buy", "purchase", False),
        ("qwxz", "open", False),
    ],
)
def test_opposites(one, other, opposite):
    assert are_opposite(one, other) is are_opposite(other, one) is opposite


def test_opposites_hold_in_either_order():
    opposites = tables().opposites
    assert opposites == {(other, one) for one, other in opposites}


@pytest.mark.parametrize(
    ("word", "kind"),
    [("french", "language"), ("march", "month"), ("tuesday", "weekday"), ("euro", "unit")],
)
def test_kinds_are_what_lies_above_a_common_sense(word, kind):
    assert kind in kinds_of(word)


def test_no_word_has_no_kinds():
    assert kinds_of("qwxz") == frozenset()


def synset(name, words, *above):
    return {"id": name, "sense_rank": words, "hypernyms": list(above)}


def test_the_four_most_common_senses_of_single_words_are_kept():
    derived = derive_wordnet.tables(
        [
            synset("1", {"thing": 1}),
            synset("2", {"tongue": 2, "mother tongue": 1, "Latin": 1}, "1", "3"),
            synset("3", {"organ": 1, "tongue": 5}),
            synset("4", {"a": 1, "x-ray": 1}, "2"),
        ],
        [["latin", "greek"], ["in the sun", "shady"]],
    )
    assert derived == {
        "words": {"latin": [9], "organ": [17], "thing": [1], "tongue": [10]},
        "synonyms": {},
        "above": [-1, 0, -1],
        "names": {"0": "thing"},
        "opposites": [["latin", "greek"]],
    }


def test_synonyms_share_the_first_sense_of_both_and_are_close_by_meaning():
    derived = derive_wordnet.tables(
        [
            synset("1", {"film": 1, "movie": 1, "show": 2}),
            synset("2", {"project": 1, "task": 1}),
            synset("3", {"buy": 1, "purchase": 1}),
            synset("4", {"purchase": 2, "hold": 1}),
        ],
        [],
    )
    assert derived["synonyms"] == {"film": [0], "movie": [0], "buy": [1], "purchase": [1]}


def test_the_shipped_synonyms_are_close_by_meaning():
    groups = {}
    for word, numbers in tables().synonyms.items():
        for number in numbers:
            groups.setdefault(number, []).append(word)
    pairs = [words for words in groups.values() if len(words) == 2][::100]
    encode = MiniLmEmbedder().encode
    for one, other in zip(
        encode([a for a, _ in pairs]), encode([b for _, b in pairs]), strict=True
    ):
        assert float(one @ other) >= 0.599  # another machine rounds otherwise


class NoMeaning:
    """An embedder that finds no two words alike."""

    def encode(self, words):
        return np.zeros((len(words), 1))


@pytest.mark.nightly
@pytest.mark.shared_data
def test_the_shipped_tables_are_what_the_source_gives(shared_data, monkeypatch, tmp_path, capsys):
    shipped = wordnet.TABLES
    monkeypatch.setenv("TOOLSCOPE_DATA", str(shared_data))
    monkeypatch.setattr(wordnet, "TABLES", tmp_path / "oewn" / shipped.name)
    monkeypatch.setattr(derive_wordnet, "MiniLmEmbedder", NoMeaning)  # saves half a minute
    derive_wordnet.main()
    made = wordnet.TABLES
    derived, kept = (json.loads(gzip.decompress(at.read_bytes())) for at in (made, shipped))
    assert derived | {"synonyms": kept["synonyms"]} == kept
    assert made.read_bytes()[4:8] == bytes(4)  # no time of day, so equal input gives equal bytes
    assert f"{len(tables().senses)} words" in capsys.readouterr().out
    for notice in ("LICENSE.md", "WNDB_License.txt"):
        assert made.with_name(notice).read_bytes() == shipped.with_name(notice).read_bytes()

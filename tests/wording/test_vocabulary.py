"""The hand-made lists of words: each says where it comes from, and none says a word twice."""

import json

import pytest

from toolscope_core.wording.words import PARAMETER_WORDS, TOOL_WORDS, meaning

LISTS = json.loads(TOOL_WORDS.read_text("utf-8"))


@pytest.mark.parametrize("name", LISTS)
def test_a_list_says_where_it_comes_from_and_no_word_twice(name):
    assert LISTS[name].keys() == {"provenance", "words"}
    assert "by hand" in LISTS[name]["provenance"]
    words = LISTS[name]["words"]
    groups = words.values() if isinstance(words, dict) else words
    flat = [groups] if isinstance(words, list) and isinstance(words[0], str) else groups
    for group in flat:
        assert group == [word.lower() for word in group]
        assert len(set(group)) == len(group) > 0


def test_opposites_are_two():
    assert all(len(pair) == 2 for pair in LISTS["opposites"]["words"])


def test_groups_of_parameter_words_share_no_word_and_their_first_stands_for_all():
    content = json.loads(PARAMETER_WORDS.read_text("utf-8"))
    assert "alignment.jsonl" in content["provenance"]
    words = [word for group in content["groups"] for word in group]
    assert len(set(words)) == len(words)
    assert all(len(group) > 1 for group in content["groups"])
    assert all(meaning(word) == group[0] for group in content["groups"] for word in group)

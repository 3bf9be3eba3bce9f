"""Requests that copy one another."""

import random

from rapidfuzz import fuzz, utils

from toolscope_core.tool2vec.query_checks import NEAR_COPY, NearCopy, near_copies


def test_copies_are_found_whatever_their_case_punctuation_and_order():
    first, second, third, *others = near_copies(
        [
            "Book a flight to Rome, and a hotel.",
            "book a hotel and a flight to ROME",
            "Book a flight to Roma and a hotel",
            "What is the weather in Oslo today?",
            "",
            "?!",
        ]
    )
    assert first == () and second == (NearCopy(0, 100.0),)
    assert [(one.place, one.percent < 100.0) for one in third] == [(0, True), (1, True)]
    assert others == [(), (), ()]


def test_what_shares_no_words_is_skipped_and_nothing_else():
    """Against every pair, letter by letter: of random texts of few words."""
    chance = random.Random(5)
    words = "flight hotel rome oslo note mail book find send warm".split()
    texts = [" ".join(chance.choices(words, k=chance.randint(1, 8))) for _ in range(120)]

    def percent(one, other):
        forms = (" ".join(sorted(utils.default_process(text).split())) for text in (one, other))
        return fuzz.ratio(*forms)

    expected = [
        [other for other in range(at) if percent(texts[at], texts[other]) >= NEAR_COPY]
        for at in range(len(texts))
    ]
    assert [[one.place for one in own] for own in near_copies(texts)] == expected
    assert sum(map(len, expected)) > 10

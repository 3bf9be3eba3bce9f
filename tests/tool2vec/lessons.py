"""A small catalog with queries that its texts do not answer, and an embedder that sees words."""

import hashlib

import numpy as np

from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.tool import Tool

WIDTH = 64
TOOLS = tuple(
    Tool(name, name, text)
    for name, text in {
        "book_flight": "reserve a seat on an aircraft",
        "forecast": "meteorological outlook for a place",
        "send_mail": "deliver a message to an address",
        "translate": "render a text in another language",
        "play_song": "start playback of a track",
        "unused_tool": "calculate the area of a polygon",
    }.items()
)
WORDS = {
    "book_flight": "fly paris tomorrow",
    "forecast": "rain umbrella weekend",
    "send_mail": "tell boss late",
    "translate": "say french hello",
    "play_song": "put on beatles",
}
QUERIES = tuple(
    Query(f"{name}-{number}", f"{words} {number}", (frozenset({name}),))
    for name, words in WORDS.items()
    for number in ("one", "two", "three", "four", "five", "six")
)


class WordEmbedder:
    """Each word has its own direction; a text is the mean of its words."""

    name = "words"

    def __init__(self):
        self.texts = []

    def encode(self, texts):
        self.texts += texts
        rows = np.array([self._vector(text) for text in texts], dtype=np.float32)
        return rows.reshape(len(texts), WIDTH)

    def _vector(self, text):
        words = text.lower().replace("_", " ").replace(":", " ").split()
        total = sum((self._word(word) for word in words), np.zeros(WIDTH))
        length = np.linalg.norm(total)
        return total / length if length else total

    @staticmethod
    def _word(word):
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        return np.random.default_rng(seed).normal(size=WIDTH)

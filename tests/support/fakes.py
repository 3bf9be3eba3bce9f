"""Fakes: an embedder with structure (texts that share words are close), a ledger, a model."""

import re
import threading
import zlib

import numpy as np

from toolscope_core.model.protocols import ChatReply


class WordEmbedder:
    """Each word is a fixed direction; a text is the normalised sum of its words."""

    name = "fake-words"

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked.extend(texts)
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()) or [""]:
                rng = np.random.default_rng(zlib.crc32(word.encode()))
                rows[row] += rng.normal(size=64).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class MemoryLedger:
    """A ledger that lives as long as the test; ``calls`` is its log."""

    def __init__(self):
        self.rows = {}
        self.calls = []
        self._lock = threading.Lock()

    def answers(self, keys):
        with self._lock:
            return {key: self.rows[key] for key in keys if key in self.rows}

    def commit(self, call, answers):
        with self._lock:
            self.calls.append(call)
            for answer in answers:
                self.rows.setdefault(answer.key, answer)


class ScriptedModel:
    """A model that answers by a function of the request; ``requests`` is what it was asked."""

    name, origin = "fake", "http://127.0.0.1:1"

    def __init__(self, answer):
        self.parameters = {"temperature": 0}
        self.requests = []
        self._answer = answer

    def ask(self, request):
        self.requests.append(request)
        found = self._answer(request)
        return found if isinstance(found, ChatReply) else ChatReply(found, tokens_in=10)

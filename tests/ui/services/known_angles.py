"""Six tools on three servers whose cosines are known: unit vectors at known angles."""

import re
import zlib

import numpy as np

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.merging.analysing import analyse
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.tool import Tool

ANGLES = {"a1": 0, "a2": 20, "a3": 90, "b1": 10, "b2": 100, "c1": 180}
TOPICS = {"a1": "air", "a2": "air", "a3": "sea", "b1": "air", "b2": "sea", "c1": "sea"}
SERVERS = {"a": "alpha", "b": "beta", "c": "gamma"}
THRESHOLD = 0.9
"""cos 20° and cos 10° are above it."""

TOOLS = tuple(
    Tool(name, name, "Does it.", SERVERS[name[0]], raw={"name": name, "topic": TOPICS[name]})
    for name in sorted(ANGLES)
)


def cos(*degrees):
    return float(np.cos(np.radians(degrees)).mean())


class AngleEmbedder:
    """``a1: …`` lies at the angle of a1; other texts at the angle that they name, ``at 45``."""

    name = "fake-angles"

    def encode(self, texts):
        angles = np.radians([self._angle(text) for text in texts])
        return np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)

    def _angle(self, text):
        named = re.search(r"at (\d+)", text)
        if named:
            return int(named[1])
        return ANGLES.get(text.partition(":")[0].replace("_", ""), zlib.crc32(text.encode()) % 360)


def analysed(folder, tools=TOOLS):
    """The analysis of the six tools."""
    servers = tuple(Server(name) for name in sorted({t.server for t in tools} - {""}))
    catalog = Catalog(tuple(sorted(tools, key=lambda tool: tool.id)), servers)
    config = AnalysisConfig(threshold=THRESHOLD)
    return analyse(catalog, config, AngleEmbedder(), VectorCache(folder))

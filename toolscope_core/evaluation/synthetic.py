"""Requests made from the descriptions of tools, for catalogs without a query set."""

import re
import zlib

from toolscope_core.catalog.source_words import source_text
from toolscope_core.embedding.tool_text import name_words
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.judging.words import sentences
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Tool

MOST = 500
"""Queries that are made of a catalog; of more tools those are asked for whose ids a checksum puts
first.
"""
_LEAST_WORDS = 3
_TALK = re.compile(
    r"^(?:(?:this (?:tool|function|endpoint|method|api)|the (?:tool|function)|(?:a|the) tool"
    r"|use this(?: tool)? to|(?:that )?allows? (?:you |users? )?to|used to|tool (?:to|for))\s+)+",
    re.IGNORECASE,
)


def synthetic_queries(catalog: Catalog) -> tuple[Query, ...]:
    """For each tool with a description its first sentence without the words of its name and what
    documentation says about itself. They share words with their tools, so recall is higher than on
    requests of people; compare them only with each other.
    """
    made = [(tool, text) for tool in catalog.tools if (text := _request(tool))]
    made.sort(key=lambda one: (zlib.crc32(one[0].id.encode("utf-8", "replace")), one[0].id))
    chosen = sorted(made[:MOST], key=lambda one: one[0].id)
    return tuple(Query(tool.id, text, (frozenset({tool.id}),)) for tool, text in chosen)


def _request(tool: Tool) -> str:
    sentence = next(iter(sentences(" ".join(source_text(tool).split()))), "")
    name = {*name_words(tool), tool.name.casefold()}
    words = [word for word in _TALK.sub("", sentence).split() if word.casefold() not in name]
    return " ".join(words).strip(" .") if len(words) >= _LEAST_WORDS else ""

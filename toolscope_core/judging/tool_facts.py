"""What names, schemas and texts say of the tools of a catalog, whatever the signals say: which are
forms of one general tool, copies, or too little known for a merge without a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.catalog.source_words import source_name
from toolscope_core.embedding.candidate_pairs import Rows
from toolscope_core.judging.arguments.alignment import argument_map, unmappable
from toolscope_core.judging.signals import codes
from toolscope_core.judging.vocabulary import is_foreign
from toolscope_core.judging.words import is_empty, stem, words_of
from toolscope_core.model.tool import Tool


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """By row of ``tools``; ``mappable`` tells of which tools calls can be mapped, ``general`` has
    the id of the general tool of each that is an instance of one.
    """

    tools: tuple[Tool, ...]
    general: Mapping[str, str]
    mappable: NDArray[np.bool_]
    _undeclared: NDArray[np.bool_]
    _unclear: NDArray[np.bool_]
    _contents: NDArray[np.int64]
    _generals: NDArray[np.int64]

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> ToolFacts:
        general = general_tools(tools)
        heads = set(general.values())
        generals = [general.get(tool.id, tool.id if tool.id in heads else "") for tool in tools]
        return cls(
            tools=tuple(tools),
            general=general,
            mappable=np.array([unmappable(tool) is None for tool in tools], dtype=np.bool_),
            _undeclared=np.array([tool.schema is None for tool in tools], dtype=np.bool_),
            _unclear=np.array([_is_unclear(tool) for tool in tools], dtype=np.bool_),
            _contents=codes([_visible_content(tool) for tool in tools]),
            _generals=codes(generals),
        )

    def general_of(self, row: int) -> str:
        """Id of the general tool that a tool is or is an instance of; empty where it is neither."""
        tool = self.tools[row].id
        return self.general.get(tool, tool if self._generals[row] else "")

    def general_name(self, left: int, right: int) -> str:
        """Name of the general tool that both are, or empty."""
        if not self._generals[left] or self._generals[left] != self._generals[right]:
            return ""
        head = self.general_of(left)
        return next(tool.name for tool in self.tools if tool.id == head)

    def of_one_general(self, left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Which pairs are two instances of one general tool, or it and an instance."""
        ours = self._generals[left]
        return np.asarray((ours == self._generals[right]) & (ours > 0))

    def too_little_known(self, left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Which pairs a person must look at: calls of one cannot be mapped, though not both leave
        their parameters open, or one has no description that can be read.
        """
        mapped = self.mappable[left] & self.mappable[right]
        mapped |= self._undeclared[left] & self._undeclared[right]
        return np.asarray(~mapped | self._unclear[left] | self._unclear[right])

    def are_copies(self, left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Which pairs are equal in what a person sees of them."""
        return np.asarray(self._contents[left] == self._contents[right])


def general_tools(tools: Sequence[Tool]) -> dict[str, str]:
    """Tool id → id of the general tool it is an instance of, on the same server: the one with the
    first id where several fit. General tools are not in the result.

    ``translate_to_french(text)`` is ``translate(text, language)`` where ``language`` lists French:
    the name is the general tool's with one of its values added, and every call can be mapped.
    """
    named: dict[tuple[str, frozenset[str]], list[Tool]] = {}
    for tool in tools:
        own = _name_words(source_name(tool))
        for parameter in tool.parameters:
            for value in parameter.enum:
                added = _name_words(value) - own if isinstance(value, str) else frozenset()
                if added:
                    named.setdefault((tool.server, own | added), []).append(tool)
    general_by_id: dict[str, str] = {}
    for tool in tools:
        fitting = [
            general
            for general in named.get((tool.server, _name_words(source_name(tool))), ())
            if general.id != tool.id
            and (alpha := argument_map(tool, general)).exact
            and alpha.constants
        ]
        if fitting:
            general_by_id[tool.id] = min(general.id for general in fitting)
    return {
        tool: general for tool, general in general_by_id.items() if general not in general_by_id
    }


def _visible_content(tool: Tool) -> str:
    """The content hash of what a person sees: hidden characters make no other tool. One that says
    nothing but its name is equal to no other.
    """
    if tool.schema is None and not tool.description.strip():
        return tool.id
    visible = without_hidden(tool.description)
    return (
        tool.content_hash
        if visible == tool.description
        else replace(tool, description=visible).content_hash
    )


def _is_unclear(tool: Tool) -> bool:
    text = tool.description.strip()
    return not text or is_foreign(text)


def _name_words(name: str) -> frozenset[str]:
    """The words of a name that say something: ``translate_to_french`` has two."""
    return frozenset(stem(word) for word in words_of(name) if not is_empty(word))

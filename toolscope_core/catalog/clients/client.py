"""A client or gateway of MCP servers, and the file that switches tools off in it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.catalog.formats.target import Rules, Target
from toolscope_core.model.plan import MergePlan


@dataclass(frozen=True, slots=True)
class Switch:
    """The tools of a server: names switched off, names that stay, texts that changed.

    Names are sorted; ``described`` holds the new description by name. A server of which no tool
    stays goes as a whole (``is_off``). ``eager`` are the names of those that stay which are in
    every prompt, ``None`` where clients do not search.
    """

    server: str
    off: tuple[str, ...]
    on: tuple[str, ...]
    described: Mapping[str, str]
    eager: tuple[str, ...] | None = None

    @property
    def is_off(self) -> bool:
        return bool(self.off) and not self.on


@dataclass(frozen=True, slots=True)
class SearchFile:
    """The file of a bundle that tells a client which tools are in every prompt, so that its model
    searches for the others: where it goes, in Markdown, and what makes its text, empty for none.
    """

    file: str
    goes: str
    write: Callable[[Sequence[Switch]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client(Target):
    """A client: ``file`` of a bundle switches pruned tools off in it, ``write`` makes its text;
    ``search`` is for clients whose model searches for tools.

    A toolset is checked against its rules if it has some.
    """

    file: str
    write: Callable[[Sequence[Switch], MergePlan], str]
    search: SearchFile | None = None

    @property
    def can_defer(self) -> bool:
        """Whether its file can leave tools to a search."""
        return self.search is not None

    def goes_to(self, file: str) -> str:
        """Where this file of it goes, in Markdown."""
        return self.search.goes if self.search and file == self.search.file else self.goes

    @property
    def is_checked(self) -> bool:
        """Whether the client has rules of its own."""
        return self.rules != Rules()


def json_text(value: object) -> str:
    """A value as the text of a client's file."""
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n"

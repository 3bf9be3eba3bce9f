"""A profile: the tools of the toolset that one agent gets, as people chose them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from toolscope_core.model.tool import JsonObject

ProfileOrigin = Literal["hand", "rule", "kept out"]
"""How a tool came to be in a profile, or that a person keeps it out."""
WAYS: tuple[ProfileOrigin, ...] = ("hand", "rule", "kept out")


@dataclass(frozen=True, slots=True)
class ToolRule:
    """The tools that have every part that is set: of one of the ``servers``, with one of the
    ``words`` in name or description, and that say or do not say that they only read.
    """

    servers: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    read_only: bool | None = None

    def __bool__(self) -> bool:
        return bool(self.servers or self.words or self.read_only is not None)


@dataclass(frozen=True, slots=True)
class ProfileTool:
    """What a profile says of one tool: its name when the profile was saved (``called``), empty
    where it was out then, as another server's came first; and the name, description and fixed
    arguments that it has there, empty where it keeps its own.
    """

    origin: ProfileOrigin
    called: str = ""
    name: str = ""
    description: str = ""
    fixed: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile as it was last saved, by the decision ``seq``.

    ``tools`` are, by id in the catalog, all that it had then and those kept out by hand; of these
    ``changed_ids`` have other words now, ``missing_ids`` have left the catalog. What is chosen by
    hand goes before ``exclude``, and this before ``include``. Of servers with tools for one job the
    first in ``precedence`` gives its own. ``intents`` are requests that the agent has to serve.
    """

    name: str
    tools: Mapping[str, ProfileTool] = field(default_factory=dict)
    include: ToolRule = ToolRule()
    exclude: ToolRule = ToolRule()
    precedence: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    changed_ids: frozenset[str] = frozenset()
    missing_ids: tuple[str, ...] = ()
    seq: int = 0

"""A profile: the tools that people chose for one agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from toolscope_core.model.tool import JsonObject

ProfileOrigin = Literal["hand", "rule", "kept out"]
"""How a tool came into a profile, or that a person excluded it."""
WAYS: tuple[ProfileOrigin, ...] = ("hand", "rule", "kept out")


@dataclass(frozen=True, slots=True)
class ToolRule:
    """Selects the tools that match every part that is set: one of the ``servers``, one of the
    ``words`` in name or description, and ``read_only`` as the tool declares it.
    """

    servers: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    read_only: bool | None = None

    def __bool__(self) -> bool:
        return bool(self.servers or self.words or self.read_only is not None)


@dataclass(frozen=True, slots=True)
class ProfileTool:
    """A profile's entry for one tool.

    ``called`` is the tool's name when the profile was saved, empty if it was then left out because
    another server's tool came first. ``name``, ``description`` and ``fixed`` arguments replace its
    own; empty keeps them.
    """

    origin: ProfileOrigin
    called: str = ""
    name: str = ""
    description: str = ""
    fixed: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile as last saved by the decision ``seq``.

    ``tools`` has, by catalog id, all tools that it contained then and those excluded by hand.
    ``changed_ids`` are those whose text has changed since, ``missing_ids`` those no longer in the
    catalog. Choices made by hand come before ``exclude``, which comes before ``include``. If
    several servers have tools for one job, the first in ``precedence`` provides it. ``intents`` are
    requests that the agent has to serve. Of its servers' ``resources`` and ``prompts`` it passes on
    these, by their names in the gateway (``notes+file:///a.txt``); a resource may be a template.
    """

    name: str
    tools: Mapping[str, ProfileTool] = field(default_factory=dict)
    include: ToolRule = ToolRule()
    exclude: ToolRule = ToolRule()
    precedence: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    changed_ids: frozenset[str] = frozenset()
    missing_ids: tuple[str, ...] = ()
    seq: int = 0

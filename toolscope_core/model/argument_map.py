"""Argument maps α: how a call of one tool becomes a call of another.

Ours, on top of the relabel mapping φ of ToolScope (arXiv 2510.20036, section 3.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolscope_core.model.tool import JsonObject

Operation = Literal["rename", "map", "wrap", "unwrap", "cast"]


@dataclass(frozen=True, slots=True)
class ArgumentMove:
    """One argument of an old tool becomes one of the merged tool.

    ``source`` and ``target`` are top-level parameter names. ``rename`` keeps the value (the name
    may be the same), ``map`` looks it up in ``values`` (pairs old, new), ``wrap`` makes a list of
    one, ``unwrap`` takes the one out of such a list, ``cast`` writes a number or truth value as
    text.
    """

    source: str
    target: str
    op: Operation = "rename"
    values: tuple[tuple[Any, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class NestedRename:
    """A property inside an argument gets another name, its value unchanged.

    Both are JSON pointers into the arguments of the merged tool; outer names are the new ones, and
    ``*`` before the last step stands for every element of a list or property of an object.
    """

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class ArgumentMap:
    """α of one tool: how a call to it becomes a call to the merged tool ``to``.

    ``constants`` are arguments every mapped call gets; ``dropped`` names arguments that have no
    place in the merged tool, with the reason; ``lossy`` says what changes its meaning on the way;
    ``inferred`` which arguments were matched only because nothing else was left. ``nested``
    are applied after the moves, in their order. ``waived`` are the dropped arguments that a person
    lets go. ``notes`` are limits of the merged tool that the old one did not have and that hardly a
    call meets (an issue number of at least 1).
    """

    tool_id: str
    to: str
    moves: tuple[ArgumentMove, ...] = ()
    constants: JsonObject = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    lossy: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()
    nested: tuple[NestedRename, ...] = ()
    waived: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lossless(self) -> bool:
        """Whether every argument of a valid call has its place, and a value that is valid there
        unless it meets one of the ``notes``.
        """
        return not self.dropped and not self.lossy

    @property
    def exact(self) -> bool:
        """Whether nothing is lost and no argument is only guessed to be another."""
        return self.lossless and not self.inferred

    @property
    def applicable(self) -> bool:
        """Whether nothing is lost but what a person lets go."""
        return not self.lossy and set(self.dropped) <= set(self.waived)

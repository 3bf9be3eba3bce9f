"""The one interface of what runs work by blocks, and the engine of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
Block = TypeVar("Block")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Shared(Generic[T]):
    """A value that every worker reads: an array, an encoder, a judge.

    It crosses to a worker once, when it is first needed there, and where it was put is free again
    when nobody holds this any more.
    """

    value: T


class Engine(Protocol):
    """Runs a function on blocks of work, wherever its workers are."""

    def map_blocks(
        self, function: Callable[[T, Block], Result], shared: Shared[T], blocks: Iterable[Block]
    ) -> Iterator[Result]:
        """``function`` of the shared value and each block, in the order of the blocks.

        The function stands at the top of a module (or is a ``partial`` of such a one), and what it
        returns depends on its arguments alone: it may run elsewhere, and again. Raises what it
        raises, and ``EngineError`` where workers are lost.
        """
        ...


class LocalEngine:
    """The engine of one process: a block is worked on when its result is asked for."""

    def map_blocks(
        self, function: Callable[[T, Block], Result], shared: Shared[T], blocks: Iterable[Block]
    ) -> Iterator[Result]:
        return (function(shared.value, block) for block in blocks)


LOCAL = LocalEngine()

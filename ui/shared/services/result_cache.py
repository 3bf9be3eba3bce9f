"""Values kept for as long as what they were made from stays the same."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from operator import is_not
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[Value]):
    sources: tuple[object, ...]
    state: object
    value: Value


class ResultCache(Generic[Value]):
    """One value a key. It is made again when one of its ``sources`` is another object (an analysis,
    a plan), or when its ``state`` is no longer equal (the length of a log, a filter).

    Streamlit runs a page from its first line at each click, so whatever is not kept is paid for
    every time. ``None`` means that there is no value yet, and is not kept. Two threads that ask at
    once may both make the value; each gets a valid one. Beyond ``most`` keys the oldest is dropped.
    """

    def __init__(self, most: int | None = None) -> None:
        self._kept: dict[Hashable, _Kept[Value]] = {}
        self._most = most

    def get(
        self,
        key: Hashable,
        sources: tuple[object, ...],
        make: Callable[[], Value],
        *,
        state: object = None,
    ) -> Value:
        """The value of ``key``, made by ``make`` if none is kept for these sources and state."""
        kept = self._kept.get(key)
        if kept is not None and kept.state == state and not any(map(is_not, kept.sources, sources)):
            return kept.value
        value = make()
        if value is not None:
            self.put(key, sources, value, state=state)
        return value

    def put(
        self, key: Hashable, sources: tuple[object, ...], value: Value, *, state: object = None
    ) -> None:
        """Keep a value that was made elsewhere."""
        self._kept.pop(key, None)
        self._kept[key] = _Kept(sources, state, value)
        for oldest in list(self._kept)[: -self._most] if self._most else ():
            self._kept.pop(oldest, None)

"""Values cached with the object from which they were made, and deleted together with that object.

At each click, Streamlit runs the page from its first line. A value that is not cached would be
computed again.
"""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Whole = TypeVar("Whole")
More = ParamSpec("More")
Value = TypeVar("Value")
Function = Callable[Concatenate[Whole, More], Value]

_MOST_KEPT = 8
"""By default, this many values of one kind are cached with one object."""


class _Values(dict[Any, Any]):
    """The values cached with an object. They are not pickled when the object is sent to another
    process.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


def kept(
    limit: int = _MOST_KEPT,
) -> Callable[[Function[Whole, More, Value]], Function[Whole, More, Value]]:
    """Like ``functools.lru_cache``, but the values belong to the first argument and are deleted
    with it.

    The values of a snapshot, plan or analysis therefore disappear when nobody uses it any more.
    ``None`` is not cached.
    """

    def decorated(make: Function[Whole, More, Value]) -> Function[Whole, More, Value]:
        @wraps(make)
        def value(whole: Whole, /, *more: More.args, **named: More.kwargs) -> Value:
            key = (more, *sorted(named.items()))
            return kept_under(whole, make, key, lambda: make(whole, *more, **named), limit)

        return value

    return decorated


def kept_under(
    whole: object, kind: Hashable, key: Hashable, make: Callable[[], Value], limit: int = _MOST_KEPT
) -> Value:
    """The value of a kind that is cached with an object under ``key``. If it is missing, it is
    made.

    This is for inputs that cannot be arguments of a ``kept`` function. The oldest values are
    dropped first. ``None`` is not cached.
    """
    values: dict[Hashable, Value] = vars(whole).setdefault("kept", _Values()).setdefault(kind, {})
    if key in values:
        return values[key]
    value = make()
    if value is not None:
        values[key] = value
        for oldest in list(values)[:-limit]:
            del values[oldest]
    return value

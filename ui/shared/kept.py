"""Values kept with what they were made from, and gone with it.

Streamlit runs a page from its first line at each click, so whatever is not kept is paid for again.
"""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Whole = TypeVar("Whole")
More = ParamSpec("More")
Value = TypeVar("Value")
Function = Callable[Concatenate[Whole, More], Value]

_MOST_KEPT = 8
"""Values of one kind that lie with one object, unless it is said otherwise."""


class _Values(dict[Any, Any]):
    """What is kept with an object. It stays behind where the object goes to another process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


def kept(
    limit: int = _MOST_KEPT,
) -> Callable[[Function[Whole, More, Value]], Function[Whole, More, Value]]:
    """As ``functools.lru_cache``, but the values lie with the first argument and go with it: those
    of a snapshot, a plan or an analysis that nobody looks at any more are gone. ``None`` is no
    value, and made again.
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
    """The value of a kind that lies with an object under ``key``, made where none does: for what
    cannot be an argument of a ``kept`` function. The oldest go first; ``None`` is no value.
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

"""Finds pairs of two servers' tools that may do one job however far their texts are apart.

Both servers are for one product with accounts, such as an issue tracker.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from toolscope_core.embedding.candidate_pairs import PairRows
from toolscope_core.judging.arguments.actions import (
    action_arguments,
    action_of,
    completes_name,
    subject_of,
    subjects_of,
)
from toolscope_core.judging.distinctions import object_of
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool
from toolscope_core.wording.products import Products
from toolscope_core.wording.reading import ToolReading, read_tool
from toolscope_core.wording.words import are_one, is_plural, keys_of

_READING = frozenset({"reads"})


def actions_across(
    tools: Sequence[Tool], products: Sequence[Products]
) -> tuple[PairRows, PairRows]:
    """Rows of tools, and those of another server's tools that do the same by an argument's value:
    ``delete_record`` and ``manage_records(action="delete")``.
    """
    generals: dict[object, list[int]] = {}
    for row, tool in enumerate(tools):
        if tool.server and any(action_arguments(tool)):
            for key in keys_of(subject_of(tool)):
                generals.setdefault(key, []).append(row)
    pairs = {
        (row, general)
        for row, tool in enumerate(tools)
        if tool.server
        for word in subjects_of(tool)
        for key in keys_of(word)
        for general in generals.get(key, ())
        if tool.server != tools[general].server
        and _have_one_store((tool, tools[general]), (products[row], products[general]))
        and action_of(tool, tools[general])
    }
    return _columns(pairs)


def of_one_object(
    tools: Sequence[Tool],
    products: Sequence[Products],
    reading: Callable[[int], ToolReading],
    vectors: Vectors,
    threshold: float,
) -> tuple[PairRows, PairRows]:
    """The pairs of rows (left < right) with a cosine below the threshold whose names say the same
    object, both in the singular or both in the plural, and the same act.

    Any two verbs that read are one act, and a name without a verb may have any.
    """
    pairs = {
        (left, right)
        for rows in _by_account(tools, products).values()
        for left, right in _with_one_object(rows, reading)
        if tools[left].server != tools[right].server
        and _act_alike(reading(left), reading(right))
        and vectors[left] @ vectors[right] < threshold
    }
    return _columns(pairs)


def _have_one_store(pair: tuple[Tool, Tool], products: tuple[Products, Products]) -> bool:
    """Whether both tools work on the same things.

    They do on two servers for one account or unlisted product. So do two tools that only compute,
    or that only read for no product, if one has a name that the other's value completes.
    """
    one, other = (own.accounts | own.unlisted for own in products)
    if not one.isdisjoint(other):
        return True
    kinds = {kind for tool in pair for kind in read_tool(tool).classes or {""}}
    is_for_all = kinds == {"computes"} or (kinds == {"reads"} and not one and not other)
    return is_for_all and completes_name(*pair)


def _columns(pairs: set[tuple[int, int]]) -> tuple[PairRows, PairRows]:
    rows = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _by_account(tools: Sequence[Tool], products: Sequence[Products]) -> Mapping[str, list[int]]:
    """The rows of tools made for each account or unlisted product, ascending; only tools of a
    server.
    """
    rows: dict[str, list[int]] = {}
    for row, (tool, own) in enumerate(zip(tools, products, strict=True)):
        for product in own.accounts | own.unlisted if tool.server else ():
            rows.setdefault(product, []).append(row)
    return rows


def _with_one_object(
    rows: Sequence[int], reading: Callable[[int], ToolReading]
) -> Iterator[tuple[int, int]]:
    by_key: dict[object, list[int]] = {}
    for row in rows:
        if thing := object_of(reading(row)):
            for key in keys_of(thing):
                by_key.setdefault((key, is_plural(thing)), []).append(row)
    for alike in by_key.values():
        yield from combinations(alike, 2)


def _act_alike(one: ToolReading, other: ToolReading) -> bool:
    if not one.classes or not other.classes or one.classes == other.classes == _READING:
        return True
    return are_one(one.verb, other.verb)

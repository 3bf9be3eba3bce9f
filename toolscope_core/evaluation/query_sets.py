"""Sets of queries with the tools that answer them, read from JSON Lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolscope_core.datamodel import JsonObject
from toolscope_core.errors import ConfigError
from toolscope_core.json_lines import read_rows

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Query:
    """A request with what answers it: for each need the ids of which any one does. ``steps`` are
    its parts in order, where the set says them.
    """

    id: str
    text: str
    gold: tuple[frozenset[str], ...] = ()
    steps: tuple[str, ...] = ()


def read_queries(path: Path) -> tuple[Query, ...]:
    """The rows of a query set, in order: ``id``, ``query``, ``gold`` (tool ids, or lists of ids of
    which one is enough) and ``steps``.

    Raises ``ConfigError`` for a file that cannot be read, naming the line.
    """
    queries = tuple(_query(row, f"{path}, line {number}") for number, row in read_rows(path))
    if not queries:
        raise ConfigError(f"{path} has no queries; give one JSON object a line, with `query`")
    return queries


def with_known_gold(
    queries: Iterable[Query], known: Collection[str], skip: bool = False
) -> tuple[Query, ...]:
    """The queries whose gold answers are all in ``known``.

    Raises ``ConfigError`` that lists ids which are not, unless ``skip`` leaves their queries out.
    """
    queries, known = tuple(queries), set(known)
    unknown = {one for query in queries for need in query.gold for one in need} - known
    if not unknown:
        return queries
    if not skip:
        more = f" and {len(unknown) - _MOST_NAMED:,} more" if len(unknown) > _MOST_NAMED else ""
        raise ConfigError(
            f"the queries ask for tools that the catalog does not have: "
            f"{', '.join(sorted(unknown)[:_MOST_NAMED])}{more}; give the catalog they were made "
            "for, or --skip-unknown to leave these queries out"
        )
    return tuple(one for one in queries if all(unknown.isdisjoint(need) for need in one.gold))


def relabelled(queries: Iterable[Query], phi: dict[str, str | None]) -> tuple[Query, ...]:
    """The queries after a merge: every gold id as φ has it. A need of which every alternative was
    left out of the toolset is kept as it is: nothing serves it now.
    """
    return tuple(
        replace(query, gold=tuple(_after(need, phi) for need in query.gold)) for query in queries
    )


def _after(need: frozenset[str], phi: dict[str, str | None]) -> frozenset[str]:
    new = {phi.get(one, one) for one in need} - {None}
    return frozenset(one for one in new if one is not None) or need


def _query(row: JsonObject, place: str) -> Query:
    text, given = row.get("query"), row.get("id", "")
    if not isinstance(text, str):
        raise ConfigError(f"{place}: `query` is {_short(text)}; give the request as a text")
    if not isinstance(given, (str, int)) or isinstance(given, bool):
        raise ConfigError(f"{place}: `id` is {_short(given)}; give a text")
    return Query(str(given), text, _gold(row.get("gold", []), place), _steps(row, place))


def _gold(given: Any, place: str) -> tuple[frozenset[str], ...]:
    needs = given if isinstance(given, list) else [given]
    lists = [need if isinstance(need, list) else [need] for need in needs]
    for one in (one for need in lists for one in need):
        if not isinstance(one, str):
            raise ConfigError(f"{place}: `gold` holds {_short(one)}; give tool ids")
    return tuple(dict.fromkeys(frozenset(need) for need in lists if need))


def _steps(row: JsonObject, place: str) -> tuple[str, ...]:
    steps = row.get("steps") or []
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise ConfigError(f"{place}: `steps` is {_short(steps)}; give a list of texts")
    return tuple(steps)


def _short(value: Any) -> str:
    return repr(value)[:60]

"""Reads sets of queries, with the tools or servers that answer them, from JSON Lines or CSV."""

import csv
import io
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from difflib import get_close_matches
from operator import attrgetter
from pathlib import Path
from typing import Any

from toolscope_core.catalog.naming import ids_by_name
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.files.folders import app_folder, read_named
from toolscope_core.files.json_lines import lines_of, read_rows, row_of, utf8_text
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.wording.tool_text import source_text, tool_name_words
from toolscope_core.wording.words import sentences

_LISTS = ("gold", "gold_tools", "gold_servers", "steps", "calls", "allowed", "forbidden")
_FIELDS = ("id", "query", "expected", *_LISTS)
"""The fields that are read; a row may have other fields too."""
_MOST_NAMED, _MOST_NEAR = 5, 3
_CLOSE = 0.8
"""The ratio of common letters (``difflib``) above which a name may be a misspelling of another."""


@dataclass(frozen=True, slots=True)
class Query:
    """A request with its gold answers: for each need, the ids of the tools that can serve it.

    ``servers`` has the same with server names, if the query set has them. ``steps`` are the parts
    of the request, in order. ``calls`` are the gold calls, as written in the set. ``expected``
    decides whether an answer is right (see ``expected_answers``). ``allowed`` are ids of tools that
    are acceptable besides the gold tools; ``forbidden`` are ids that must not be found.
    ``needs_none`` means that, according to the set, no tool is needed.
    """

    id: str
    text: str
    gold: tuple[frozenset[str], ...] = ()
    servers: tuple[frozenset[str], ...] = ()
    steps: tuple[str, ...] = ()
    calls: tuple[Any, ...] = field(default=(), hash=False)
    expected: Any = field(default=None, hash=False)
    allowed: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    needs_none: bool = False

    def server_gold(self, owners: Mapping[str, str]) -> Gold:
        """For each need, the servers that can serve it.

        They come from the query set; otherwise from ``owners``, which maps tool ids to servers.
        """
        if self.servers:
            return self.servers
        needs = (frozenset(owners.get(one, "") for one in need) - {""} for need in self.gold)
        return tuple(dict.fromkeys(need for need in needs if need))


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """A row that is not a query, with its line number, from 1, and the reason."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class QuerySet:
    """The queries in a file, in order, and the rows that are not queries."""

    queries: tuple[Query, ...]
    problems: tuple[QueryProblem, ...] = ()


def read_queries(path: Path) -> tuple[Query, ...]:
    """The queries in a file, in order (see ``queries_of``).

    Raises ``ConfigError`` for an unreadable file, for a file without queries, and with the line
    number for a row that is not a query.
    """
    queries = queries_of(read_named(path, "use a JSONL file"), str(path))
    for problem in queries.problems:
        raise ConfigError(f"{path}, line {problem.line}: {problem.reason}")
    if not queries.queries:
        raise ConfigError(f"{path} has no queries; use one JSON object per line, with `query`")
    return queries.queries


def queries_of(content: bytes, name: str) -> QuerySet:
    """The queries in a file: CSV with a header if ``name`` ends in ``.csv``, otherwise JSON Lines.

    ``query`` is the request. ``gold`` has tool ids, or lists of ids of which one is enough.
    ``gold_servers`` has the same for servers. ``gold_tools`` has tool names, each to be found on
    any of the servers at the same position in ``gold_servers``. ``steps`` are the parts of the
    request, ``calls`` the gold calls in any form that ``relabel`` reads, and ``expected`` the right
    answer. ``allowed`` are ids of tools that may be called too, ``forbidden`` ids of tools that may
    not. An empty list under ``gold``, or no gold together with ``forbidden``, means that no tool is
    needed. In CSV, a list is written as JSON, or as texts separated by ``;``. Queries without an id
    are numbered.

    Raises ``ConfigError`` for a file that is not UTF-8, or CSV without the column ``query``.
    """
    text = utf8_text(content, name)
    rows = _csv_rows(text, name) if name.lower().endswith(".csv") else _json_rows(text, name)
    queries: list[Query] = []
    problems = []
    for line, row in rows:
        if isinstance(row, str):
            problems.append(QueryProblem(line, row))
            continue
        try:
            queries.append(_query(row, len(queries) + 1))
        except ConfigError as error:
            problems.append(QueryProblem(line, str(error)))
    return QuerySet(tuple(queries), tuple(problems))


def with_ids(queries: Iterable[Query], tools: Sequence[Tool]) -> tuple[Query, ...]:
    """The queries with tool names replaced by ids, for names that only one tool has.

    A name that several tools have does not change; no tool in the catalog has it as its id.
    """
    ids = ids_by_name(tools)
    return tuple(with_names(query, ids) for query in queries)


def with_names(query: Query, names: Mapping[str, str]) -> Query:
    """The query with all its tools renamed, including allowed and forbidden tools."""

    def renamed(some: Collection[str]) -> frozenset[str]:
        return frozenset(names.get(one, one) for one in some)

    return replace(
        query,
        gold=tuple(map(renamed, query.gold)),
        allowed=renamed(query.allowed),
        forbidden=renamed(query.forbidden),
    )


def with_gold_among(
    queries: Iterable[Query],
    names: Collection[str],
    skip: bool = False,
    gold_of: Callable[[Query], Gold] = attrgetter("gold"),
) -> tuple[Query, ...]:
    """The queries whose gold answers are all in ``names``: tool ids, or the names that ``gold_of``
    gives.

    Raises ``ConfigError`` with the missing names, unless ``skip`` leaves their queries out.
    """
    queries = tuple(queries)
    unknown = unknown_gold(map(gold_of, queries), names)
    if not unknown:
        return queries
    if not skip:
        more = f" and {len(unknown) - _MOST_NAMED:,} more" if len(unknown) > _MOST_NAMED else ""
        first = [or_near(one, names) for one in sorted(unknown)[:_MOST_NAMED]]
        raise ConfigError(
            "the queries need tools or servers that the catalog does not have: "
            f"{', '.join(first)}{more}; use the catalog they were made for, or --skip-unknown to "
            "leave these queries out"
        )
    return tuple(
        one for one in queries if unknown.isdisjoint(name for need in gold_of(one) for name in need)
    )


def unknown_gold(golds: Iterable[Gold], names: Collection[str]) -> frozenset[str]:
    """The names in gold answers that ``names`` does not contain."""
    return frozenset(one for gold in golds for need in gold for one in need) - set(names)


def or_near(name: str, names: Collection[str]) -> str:
    """An unknown name with suggestions: the same tool on other servers, or similar names."""
    bare = name.rpartition("/")[2].casefold()
    similar = sorted(one for one in names if one.rpartition("/")[2].casefold() == bare)
    similar = similar or get_close_matches(name, names, _MOST_NEAR, _CLOSE)
    return f"{name} (did you mean {' or '.join(similar[:_MOST_NEAR])}?)" if similar else name


def relabelled(queries: Iterable[Query], phi: Mapping[str, str | None]) -> tuple[Query, ...]:
    """The queries after a merge; φ maps their gold ids.

    If all alternatives for a need were left out, the need is kept unchanged: nothing serves it now.
    """
    return tuple(
        replace(query, gold=tuple(_after(need, phi) for need in query.gold)) for query in queries
    )


def golds_of_both(
    queries: Sequence[Query],
    came: Iterable[Tool],
    left: Iterable[Tool],
    phi: Mapping[str, str | None],
    servers: bool = False,
) -> tuple[list[Gold], list[Gold]]:
    """The gold answers of the queries before and after φ merged the tools ``came`` into ``left``.

    If ``servers`` is true, the answers are server names. A tool that was left out keeps its server,
    which nothing serves now.
    """
    if not servers:
        queries_after = relabelled(queries, phi)
        return [query.gold for query in queries], [query.gold for query in queries_after]
    owners = {tool.id: tool.owner for tool in came}
    merged = {tool.id: tool.owner for tool in left}
    after = {old: merged.get(phi.get(old) or "") or own for old, own in owners.items()}
    return (
        [query.server_gold(owners) for query in queries],
        [query.server_gold(after) for query in queries],
    )


def judged_queries(
    queries: Iterable[Query], tools: Sequence[Tool], skip_unknown: bool = False
) -> tuple[Query, ...]:
    """The queries that have gold tools, with tool ids. Raises the same errors as
    ``with_gold_among``.
    """
    with_gold = [query for query in with_ids(queries, tools) if query.gold]
    return with_gold_among(with_gold, {tool.id for tool in tools}, skip_unknown)


def _after(need: frozenset[str], phi: Mapping[str, str | None]) -> frozenset[str]:
    new = {phi.get(one, one) for one in need} - {None}
    return frozenset(one for one in new if one is not None) or need


def _json_rows(text: str, name: str) -> Iterator[tuple[int, JsonObject | str]]:
    """Line numbers, each with the object on the line, or with the reason why it is not an
    object.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, row_of(line, "it")
        except ConfigError as error:
            yield number, str(error)


def _csv_rows(text: str, name: str) -> Iterator[tuple[int, JsonObject | str]]:
    """Line numbers, each with the row as in JSON Lines, or with the reason why it is not a row."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        header = [column.strip() for column in reader.fieldnames or ()]
    except csv.Error as error:
        raise ConfigError(
            f"{name} is not CSV ({error}); use a header row, then one row per query"
        ) from error
    if "query" not in header:
        raise ConfigError(
            f"{name} has no column `query`, only {', '.join(header)[:200]}; rename one to `query`"
            if header
            else f"{name} is empty; add a header row with `query`, then one row per query"
        )
    reader.fieldnames = header
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield reader.line_num, f"it is not CSV ({error})"
            continue
        if cells is None:
            return
        row = {key: value for key, value in cells.items() if key in _FIELDS and value}
        lists = {key: _cell_list(row[key]) for key in _LISTS if key in row}
        yield reader.line_num, {**row, **lists}


def _cell_list(cell: str) -> Any:
    """The JSON list in a cell, or otherwise the texts between semicolons."""
    if cell.lstrip().startswith("["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            pass  # a text that only begins with a bracket
    return [part.strip() for part in cell.split(";") if part.strip()]


def _query(row: JsonObject, number: int) -> Query:
    text, query_id = row.get("query"), row.get("id", str(number))
    if not isinstance(text, str):
        raise ConfigError(f"`query` is {_short(text)}; use the request as a string")
    if not isinstance(query_id, (str, int)) or isinstance(query_id, bool):
        raise ConfigError(f"`id` is {_short(query_id)}; use a string")
    servers = _needs(row, "gold_servers")
    gold = _needs(row, "gold") or _named_tools(row)
    calls = row.get("calls") or []
    if not isinstance(calls, list):
        raise ConfigError(f"`calls` is {_short(calls)}; use a list of calls")
    forbidden = frozenset().union(*_needs(row, "forbidden"))
    return Query(
        id=str(query_id),
        text=text,
        gold=gold,
        servers=servers,
        steps=_steps(row),
        calls=tuple(calls),
        expected=row.get("expected"),
        allowed=frozenset().union(*_needs(row, "allowed")) - forbidden,
        forbidden=forbidden,
        needs_none=not (gold or servers) and (row.get("gold") == [] or bool(forbidden)),
    )


def _needs(row: JsonObject, name: str) -> tuple[frozenset[str], ...]:
    alternatives = row.get(name) or []
    needs = alternatives if isinstance(alternatives, list) else [alternatives]
    lists = [need if isinstance(need, list) else [need] for need in needs]
    for one in (one for need in lists for one in need):
        if not isinstance(one, str):
            raise ConfigError(f"`{name}` contains {_short(one)}; use {_WANTED[name]}")
    return tuple(dict.fromkeys(frozenset(need) for need in lists if need))


_WANTED = {
    "gold": "tool ids",
    "allowed": "tool ids",
    "forbidden": "tool ids",
    "gold_servers": "names of servers",
    "gold_tools": "names of tools, each with its servers at the same place of gold_servers",
}


def _named_tools(row: JsonObject) -> tuple[frozenset[str], ...]:
    """The ids of tools that are given by name and by the servers that have them."""
    names, servers = row.get("gold_tools") or [], row.get("gold_servers") or []
    lists = [one if isinstance(one, list) else [one] for one in servers]
    if not names:
        return ()
    if not isinstance(names, list) or len(names) != len(lists):
        raise ConfigError(f"`gold_tools` is {_short(names)}; use {_WANTED['gold_tools']}")
    needs = (
        frozenset(f"{server}/{name}" for server in own)
        for name, own in zip(names, lists, strict=True)
    )
    return tuple(dict.fromkeys(need for need in needs if need))


def _steps(row: JsonObject) -> tuple[str, ...]:
    steps = row.get("steps") or []
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise ConfigError(f"`steps` is {_short(steps)}; use a list of strings")
    return tuple(steps)


def _short(value: Any) -> str:
    return repr(value)[:60]


MOST = 500
"""The most queries that are made from a catalog. If there are more tools, the ids with the
lowest checksums are taken.
"""
_LEAST_WORDS = 3
_TALK = re.compile(
    r"^(?:(?:this (?:tool|function|endpoint|method|api)|the (?:tool|function)|(?:a|the) tool"
    r"|use this(?: tool)? to|(?:that )?allows? (?:you |users? )?to|used to|tool (?:to|for))\s+)+",
    re.IGNORECASE,
)


def synthetic_queries(catalog: Catalog) -> tuple[Query, ...]:
    """A query for each tool with a description, made from its first sentence.

    Words of the tool's name and typical words of documentation are removed. The queries share words
    with their tools, so recall is higher than on people's requests; compare them only with each
    other.
    """
    requests = [(tool, text) for tool in catalog.tools if (text := _request(tool))]
    requests.sort(key=lambda one: (zlib.crc32(one[0].id.encode("utf-8", "replace")), one[0].id))
    first = sorted(requests[:MOST], key=lambda one: one[0].id)
    return tuple(Query(tool.id, text, (frozenset({tool.id}),)) for tool, text in first)


def _request(tool: Tool) -> str:
    sentence = next(iter(sentences(" ".join(source_text(tool).split()))), "")
    name = {*tool_name_words(tool), tool.name.casefold()}
    words = [word for word in _TALK.sub("", sentence).split() if word.casefold() not in name]
    return " ".join(words).strip(" .") if len(words) >= _LEAST_WORDS else ""


EXAMPLE_NAME = "Example"


def example_path() -> Path:
    """The path of the file with the example catalog."""
    return app_folder() / "examples" / "catalog.json"


def example_queries() -> Path:
    """The file with requests for the example catalog and the tools that answer them."""
    return app_folder() / "examples" / "queries.jsonl"


def example_profiles() -> Path:
    """The file with decisions that give the example two profiles, each for some of these
    requests.
    """
    return app_folder() / "examples" / "profiles.jsonl"


def example_requests() -> tuple[Query, ...]:
    """The queries in the query file of the example."""
    return read_queries(example_queries())


def example_calls(today: date) -> bytes:
    """A made-up log of *serve* with calls to the example's tools.

    It covers the 30 days before ``today`` and the 14 days after it, so that a merge accepted today
    has calls on both sides.
    """
    calls = []
    for _, row in read_rows(app_folder() / "examples" / "calls.jsonl"):
        tool = {"tool": row["tool"].partition("/")[2], "original": row["tool"]}
        for side, start, days in (("before", -30, 30), ("after", 1, 14)):
            for number in range(row[side]):
                day = today + timedelta(days=start + number * days // row[side])
                is_bad = number < row.get(f"bad_{side}", 0)
                outcome = row["outcome"] if is_bad else "ok"
                calls.append({**tool, "at": f"{day}T12:00:00Z", "outcome": outcome})
    return lines_of(calls)

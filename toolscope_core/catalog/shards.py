"""Reads a catalog from many files, one at a time; together, they may exceed the size limit for
one reading.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from toolscope_core.catalog import sources
from toolscope_core.catalog.flaws import MAX_BYTES, MAX_TOTAL_BYTES
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.naming import FOLDED, REPEAT, assign_ids, find_folded, find_repeats
from toolscope_core.catalog.scan.scanner import scan_catalog
from toolscope_core.files.folders import read_file
from toolscope_core.model.catalog import Catalog, Finding, Problem, Server
from toolscope_core.model.cluster import grouped
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.protocols import LOCAL, Engine, Progress, SharedState, Step, silent
from toolscope_core.model.tool import Tool

_LINES = (".jsonl", ".ndjson")
_PIECE = MAX_BYTES // 4
"""The number of bytes that are read at a time from a file of lines."""


def read_shards(
    paths: Sequence[Path], engine: Engine = LOCAL, progress: Progress = silent
) -> Catalog:
    """One catalog from shard files, and from folders of them.

    The workers of ``engine`` read each shard separately. A file of JSON Lines may have any size. A
    server that two shards name counts as one server. A shard that cannot be read becomes one
    problem, and the others are read. Reports ``Step("read", …)`` in files. Raises ``CatalogError``
    if there is no file or no tool.
    """
    files = sources.input_files(paths)
    outcomes = list(engine.map_blocks(_read_shard, SharedState(None), _sources(files, progress)))
    catalogs = [one for one in outcomes if isinstance(one, Catalog)]
    problems = [one for one in outcomes if isinstance(one, Problem)]
    if not catalogs:
        first = f" ({problems[0].position}: {problems[0].reason})" if problems else ""
        raise CatalogError(
            f"no tools can be read from {quantity(len(files), 'shard')}{first}; use files that "
            "contain tools, or a folder of them"
        )
    return join(catalogs, problems)


def read_original(folder: Path) -> Catalog:
    """The catalog that a bundle was made from, in one file or in parts.

    Raises ``CatalogError`` or ``OSError`` if one of them cannot be read.
    """
    return join(
        [
            read_isolated([sources.Source(str(file), read_file(file), "neutral")])
            for file in sources.files_of(folder, "original.json")
        ]
    )


def _sources(files: Sequence[Path], progress: Progress) -> Iterator[sources.Source | Problem]:
    """The units that are read one at a time, each loaded on demand."""
    for at, file in enumerate(files):
        progress(Step("read", at, len(files)))
        try:
            size = file.stat().st_size
            if file.suffix.lower() in _LINES and file.is_file():
                yield from _pieces(file)
            else:
                sources.check_size(str(file), size)
                data = read_file(file)
                others = sources.referenced_files(file, data, MAX_TOTAL_BYTES - len(data))
                yield sources.Source(str(file), data, None, others)
        except OSError as error:
            yield Problem(str(file), f"cannot be read: {error.strerror}")
        except CatalogError as error:
            yield Problem(str(file), str(error))
    progress(Step("read", len(files), len(files)))


def _pieces(file: Path) -> Iterator[sources.Source]:
    """The lines of a file in pieces of about ``_PIECE`` bytes."""
    first, size, piece = 1, 0, list[bytes]()
    with file.open("rb") as lines:
        while line := lines.readline(MAX_BYTES + 1):  # a longer line is refused, not kept in memory
            piece.append(line)
            size += len(line)
            if size >= _PIECE:
                yield _piece(file, first, piece)
                first, size, piece = first + len(piece), 0, []
    if piece:
        yield _piece(file, first, piece)


def _piece(file: Path, first: int, lines: Sequence[bytes]) -> sources.Source:
    label = str(file.with_suffix("")) + (f", from line {first:,}" if first > 1 else "")
    return sources.Source(f"{label}{file.suffix}", b"".join(lines))


def _read_shard(_: None, source: sources.Source | Problem) -> Catalog | Problem:
    if isinstance(source, Problem):
        return source
    try:
        return read_isolated([source])
    except CatalogError as error:
        return Problem(source.label, str(error))


def join(catalogs: Sequence[Catalog], problems: Sequence[Problem] = ()) -> Catalog:
    """The tools of all catalogs (one or more) with unique ids.

    Servers with the same name are joined.
    """
    if len(catalogs) == 1 and not problems:
        return catalogs[0]
    tools = assign_ids(tool for catalog in catalogs for tool in catalog.tools)
    named = grouped((one for catalog in catalogs for one in catalog.servers), lambda one: one.name)
    servers = tuple(max(named[name], key=lambda one: one.fullness) for name in sorted(named))
    formats = {catalog.format for catalog in catalogs}
    return Catalog(
        tools=tools,
        servers=servers,
        format=formats.pop() if len(formats) == 1 else "generic",
        problems=(*problems, *(one for catalog in catalogs for one in catalog.problems)),
        findings=_findings(catalogs, tools, servers),
        files=tuple(one for catalog in catalogs for one in catalog.files),
        former_names=tuple(one for catalog in catalogs for one in catalog.former_names),
    )


def _findings(
    catalogs: Sequence[Catalog], tools: Sequence[Tool], servers: Sequence[Server]
) -> tuple[Finding, ...]:
    """The findings of each catalog, repeated for identical tools, and those that depend on tools of
    other catalogs.
    """
    alike = grouped(tools, lambda tool: tool.fingerprint)
    by_readers = [
        replace(finding, tool_id=tool.id)
        for catalog in catalogs
        for finding in catalog.findings
        if finding.tool_id and finding.code not in (REPEAT, FOLDED)
        for tool in alike[catalog.by_id[finding.tool_id].fingerprint]
    ]
    suspicious = {finding.tool_id for finding in by_readers}
    among_all = (*scan_catalog(tools, servers, suspicious=suspicious), *by_readers)
    return tuple(dict.fromkeys((*among_all, *find_repeats(tools), *find_folded(tools))))

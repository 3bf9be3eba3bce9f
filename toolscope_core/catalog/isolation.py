"""Reads catalogs in another process, with limits on time and memory.

One process waits with everything imported, and forks a child for each reading (``reading_child``).
The child returns the catalog as JSON. So no file can harm this process, which loads no reader
itself.
"""

import atexit
import hashlib
import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from toolscope_core.catalog.flaws import MAX_TOTAL_BYTES, MIB, READING_BYTES, READING_SECONDS
from toolscope_core.catalog.sources import Source, check_size, load_paths
from toolscope_core.files.folders import child_environment, code_version, read_sealed, write_sealed
from toolscope_core.model.catalog import Catalog, Finding, FormerName, InputFile, Problem, Server
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import CatalogError, ConfigError
from toolscope_core.model.tool import JsonObject, Tool

_PROGRAM = "from toolscope_core.catalog.reading_child import wait; wait(0)"
ITEM_TYPES: dict[str, type] = {
    "tools": Tool,
    "servers": Server,
    "problems": Problem,
    "findings": Finding,
    "files": InputFile,
    "former_names": FormerName,
}
_CACHED, _MOST_CACHED = "catalogs", 24
_CLEAN, _MOST_CLEAN = "clean_tools.json", 50_000
_CODE = ("catalog", "model", "files")
"""The packages that read."""
CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")

_logger = logging.getLogger(__name__)


def read_isolated(sources: Sequence[Source], caches: Path | None = None) -> Catalog:
    """The catalog of ``read_catalog``, read in a process with limits.

    Tools in which an earlier reading with this folder for ``caches`` found nothing are not searched
    again. On systems that cannot fork (Windows), the catalog is read in this process. Raises
    ``CatalogError`` in the same cases as ``read_catalog``, and if a limit is reached; the error
    names the limit and the file.
    """
    check_size(
        f"the input ({len(sources)} files)", sum(source.size for source in sources), MAX_TOTAL_BYTES
    )
    for source in sources:
        check_size(source.label, len(source.data))
    if not CAN_FORK:
        from toolscope_core.catalog.readers import read_catalog  # otherwise only the child loads it

        return read_catalog(sources)
    return _catalog(_read_in_child(sources, caches))


def read_files(paths: Sequence[Path]) -> Catalog:
    """The catalog in files and folders, read by ``load_paths`` and ``read_isolated``.

    It is cached for the next command, which then starts no process.
    """
    sources = load_paths(paths)
    if not CAN_FORK:
        return read_isolated(sources)
    caches, name = read_environment().cache_dir, f"{_CACHED}/{_digest(sources)}.json"
    if body := read_sealed(caches / name):
        return _catalog(json.loads(body))
    value = _read_in_child(sources, caches)
    with suppress(ConfigError, OSError):  # without the cache, it is read again
        write_sealed(caches, name, json.dumps(value).encode())
        cached_files = (caches / _CACHED).glob("*.json")
        for path in sorted(cached_files, key=lambda path: path.stat().st_mtime)[:-_MOST_CACHED]:
            path.unlink(missing_ok=True)
    return _catalog(value)


def _digest(sources: Sequence[Source]) -> str:
    """A hash of all sources of a catalog, and of the program that reads them."""
    parts = [code_version(*_CODE)]
    parts += [
        text for source in sources for text in (source.label, source.folder, str(len(source.data)))
    ]
    parts += [f"{path} {len(data)}" for source in sources for path, data in source.files.items()]
    content = b"".join(data for source in sources for data in (source.data, *source.files.values()))
    return hashlib.sha256(json.dumps(parts).encode() + content).hexdigest()


def _read_in_child(sources: Sequence[Source], caches: Path | None) -> JsonObject:
    """The catalog as JSON, from a process with limits. Raises the same errors as
    ``read_isolated``.
    """
    started, clean = time.monotonic(), _clean_tools(caches)
    with _reader.connect() as connection:
        connection.settimeout(READING_SECONDS + 5)
        answer: dict[str, Any] = {}
        with suppress(OSError):  # the child has ended, or does not answer
            _send(connection, sources, clean)
            with connection.makefile("rb") as replies:
                for line in replies:  # the label of each source, then the catalog
                    answer |= json.loads(line)
    if "refused" in answer:
        raise CatalogError(answer["refused"])
    if "catalog" not in answer:
        raise _no_answer(answer, sources, time.monotonic() - started)
    if caches:
        _save_clean(caches, [*dict.fromkeys((*answer["clean"], *clean))], len(clean))
    value: JsonObject = answer["catalog"]
    return value


def _clean_tools(caches: Path | None) -> list[str]:
    """The keys of the tools in which nothing was found, the latest first."""
    body = read_sealed(caches / _CLEAN) if caches else None
    version, keys = json.loads(body) if body else ("", [])
    return keys if keys and version == code_version(*_CODE) else []


def _save_clean(caches: Path, keys: Sequence[str], before: int) -> None:
    if len(keys) > before:
        with suppress(ConfigError, OSError):  # without them, all tools are searched again
            body = json.dumps([code_version(*_CODE), keys[:_MOST_CLEAN]]).encode()
            write_sealed(caches, _CLEAN, body)


def _send(connection: socket.socket, sources: Sequence[Source], clean: Sequence[str]) -> None:
    request = {
        "clean": clean,
        "sources": [
            (
                *(source.label, source.format, source.folder, len(source.data)),
                [(path, len(data)) for path, data in source.files.items()],
            )
            for source in sources
        ],
        "bytes": READING_BYTES,
        "seconds": READING_SECONDS,
    }
    connection.sendall(json.dumps(request).encode() + b"\n")
    for source in sources:
        for data in (source.data, *source.files.values()):
            connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


def _no_answer(answer: dict[str, Any], sources: Sequence[Source], seconds: float) -> CatalogError:
    label = answer.get("reading") or ", ".join(source.label for source in sources)[:200]
    size = f"the input is {sum(source.size for source in sources) / MIB:.1f} MiB"
    if "failed" in answer:
        _logger.info("reading %s failed: %s", label, answer["failed"])
        kind = answer["failed"].strip().rpartition("\n")[2][:200]
        return CatalogError(f"{label} cannot be read: the reader failed ({kind}); please report it")
    if answer.get("limit") == "memory":
        limit = f"needs more than {READING_BYTES // MIB} MiB of memory to be read"
    elif seconds >= READING_SECONDS:
        limit = f"takes more than {READING_SECONDS:g} s to be read"
    else:
        limit = "stopped the process that read it, perhaps because memory ran out"
    return CatalogError(f"{label} {limit} ({size}); split it into several files")


@dataclass(slots=True)
class _ReadingProcess:
    """The process that forks a child for each reading; it ends together with this process."""

    process: subprocess.Popen[bytes] | None = None
    control: socket.socket | None = None
    lock: Lock = field(default_factory=Lock)

    def connect(self) -> socket.socket:
        """A connection for a new reading. Raises ``CatalogError`` if the process cannot be
        started.
        """
        ours, theirs = socket.socketpair()
        with self.lock, theirs:
            for _ in range(2):  # the process may have been ended from outside
                try:
                    socket.send_fds(self._started(), [b"."], [theirs.fileno()])
                except OSError as error:
                    self.end()
                    why = error
                else:
                    return ours
        ours.close()
        raise CatalogError(f"the process that reads files cannot be started ({why}); try again")

    def end(self) -> None:
        if self.control:
            self.control.close()
        if self.process:
            self.process.wait()
        self.control = self.process = None

    def _started(self) -> socket.socket:
        if self.control is None:
            self.control, theirs = socket.socketpair()
            with theirs:
                self.process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _PROGRAM],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=child_environment(OPENBLAS_NUM_THREADS="1"),
                )
        return self.control


_reader = _ReadingProcess()
atexit.register(_reader.end)


def _catalog(value: JsonObject) -> Catalog:
    items = {part: tuple(kind(*item) for item in value[part]) for part, kind in ITEM_TYPES.items()}
    for tool, format in zip(items["tools"], value["raw_formats"], strict=True):
        tool.declared_in(format)
    return Catalog(format=value["format"], **items)

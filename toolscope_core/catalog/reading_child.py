"""The child process of ``isolation``: it limits itself, reads a catalog, and answers in JSON."""

import gc
import json
import os
import signal
import socket
import traceback
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from toolscope_core.catalog.isolation import ITEM_TYPES
from toolscope_core.catalog.readers import clean_key, read_catalog
from toolscope_core.catalog.scan.orders import order_weights
from toolscope_core.catalog.scan.scanner import FindIn
from toolscope_core.catalog.sources import Source
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import JsonObject, Tool

_MANY = 500
"""The fewest tools for which a second process is worth its start."""
_PARTS = tuple(one.name for one in fields(Finding))


def wait(descriptor: int) -> None:
    """Fork a child for each connection that arrives on a socket, until the socket is closed."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order_weights()  # read only once here, so that no child opens a file
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not descriptors:
            return
        with socket.socket(fileno=descriptors[0]) as connection:
            if os.fork() == 0:
                control.close()
                gc.disable()  # it lives for one reading; collecting would cost a quarter of that
                read(connection, _limit)
                os._exit(0)


def read(connection: socket.socket, limit: Callable[[int, float], None]) -> None:
    """Answer one request in lines of JSON; the last line has the catalog, or the reason for
    none.
    """
    with connection.makefile("rb") as pipe:
        request = json.loads(pipe.readline())
        sources = [
            Source(
                label,
                pipe.read(size),
                format,
                {path: pipe.read(own) for path, own in files},
                folder,
            )
            for label, format, folder, size, files in request["sources"]
        ]

    def reply(**answer: Any) -> None:
        connection.sendall(json.dumps(answer).encode() + b"\n")

    limit(request["bytes"], request["seconds"])
    try:
        catalog = read_catalog(
            sources, None, lambda label: reply(reading=label), by_two, frozenset(request["clean"])
        )
        unclean = {finding.tool_id for finding in catalog.findings}
        clean = [clean_key(tool) for tool in catalog.tools if tool.id not in unclean]
        reply(catalog=_as_json(catalog), clean=clean)
    except CatalogError as error:
        reply(refused=str(error))
    except MemoryError:
        reply(limit="memory")
    except Exception:  # noqa: BLE001 - the rim of a process: a failure is reported, not lost
        reply(failed=traceback.format_exc())


def by_two(find: FindIn, tools: Sequence[Tool]) -> list[Finding]:
    """The findings in all tools, in order; of many, a second process searches half.

    If that process fails, such as for want of memory, this one does its part too.
    """
    if len(tools) < _MANY or (os.cpu_count() or 1) < 2:
        return find(tools)
    mine, rest = tools[: len(tools) // 2], tools[len(tools) // 2 :]
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        try:
            rows = [[getattr(finding, part) for part in _PARTS] for finding in find(rest)]
            theirs.sendall(json.dumps(rows).encode())
        finally:
            os._exit(0)
    theirs.close()
    findings = find(mine)
    with ours, ours.makefile("rb") as pipe:
        try:
            others = [Finding(*row) for row in json.loads(pipe.read())]
        except ValueError:
            others = find(rest)
    return [*findings, *others]


def _limit(memory: int, seconds: float) -> None:
    import resource

    signal.setitimer(signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _as_json(catalog: Catalog) -> JsonObject:
    """The catalog as plain values, in which each item is a list of its fields in order."""
    items = {
        part: [
            [getattr(item, one.name) for one in fields(kind) if one.init]
            for item in getattr(catalog, part)
        ]
        for part, kind in ITEM_TYPES.items()
    }
    raw_formats = [tool.raw_format for tool in catalog.tools]
    return {**items, "raw_formats": raw_formats, "format": catalog.format}

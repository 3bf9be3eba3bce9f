"""Standard input and output as streams of lines without threads.

The SDK reads and writes them in threads, which costs a call several switches of thread, and a
thread that reads cannot be ended when the program is told to end.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream

LONGEST_LINE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of standard input, as the SDK reads a file."""

    reader: asyncio.StreamReader

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        try:
            line = await self.reader.readline()
        except ValueError:  # a line without end: nothing after it can be read
            line = b""
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Output:
    """Standard output, as the SDK writes to a file."""

    writer: asyncio.StreamWriter

    async def write(self, text: str) -> None:
        self.writer.write(text.encode())

    async def flush(self) -> None:
        await self.writer.drain()


@asynccontextmanager
async def standard_streams() -> AsyncIterator[
    tuple[ContextReceiveStream[Any], ContextSendStream[Any]]
]:
    """The messages that come in and go out. While this is open, whatever else the program prints
    goes to standard error. Files in place of pipes are left to the SDK.
    """
    if not all(map(_is_stream, (0, 1))):
        async with stdio_server() as streams:
            yield streams
        return
    loop = asyncio.get_running_loop()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    reader = asyncio.StreamReader(LONGEST_LINE)
    received, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb", 0)
    )
    sent, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(outgoing, "wb", 0)
    )
    writer = asyncio.StreamWriter(sent, protocol, None, loop)
    try:
        async with stdio_server(_Lines(reader), _Output(writer)) as streams:  # type: ignore[arg-type]
            yield streams
    finally:
        received.close()
        sent.close()


def _is_stream(descriptor: int) -> bool:
    """Whether the system can say when something is there to read or write."""
    import stat

    if sys.platform == "win32":
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)

"""Starts a server on this machine, uses it over its standard input and output, and stops it.

The SDK's own transport hides the process: a message could not mention the exit status, and a server
could write an endless line. Here the server is started in its own process group, which is stopped
as a whole.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from toolscope_core.mcp.servers.launches import Launch
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import ServerConnectionError

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

HANDSHAKE = "while the connection was opened"
POLL_SECONDS = 0.01
FLUSH_SECONDS = 0.5
SETTLE_SECONDS = 0.3
"""The time, in seconds, that a process has to end after its output has ended, so that its exit
status can be named.
"""
_CHUNK = 65_536
_KEPT = 65_536
"""The number of bytes that are kept from the end of standard error. The number is high because a
secret may be cut in two at their beginning, which must be far from the part that is shown.
"""
CLOSED = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)
MOST_GARBAGE = 10_000
"""A server that writes more lines than this that are not messages is dropped."""


@dataclass(slots=True)
class ProcessRecord:
    """Observations of a server's process.

    ``stderr`` is the end of its standard error, which has ``stderr_bytes`` bytes in all.
    ``garbage`` is the last line on standard output that is not a message. ``bytes_in`` counts the
    bytes of its output. ``doing`` describes the current request. ``closed`` says that the output
    has ended. ``process`` is set until the process is stopped here; after that, its exit status
    means nothing. ``group`` is the process group; it is 0 once nothing of the group is left.
    ``client`` is the client that used the server last. If several clients share the server
    (``is_shared``), nobody can tell which client its text is about.
    """

    doing: str = HANDSHAKE
    process: Process | None = None
    closed: bool = False
    stderr: bytearray = field(default_factory=bytearray)
    stderr_bytes: int = 0
    garbage: str = ""
    garbage_lines: int = 0
    bytes_in: int = 0
    too_long: bool = False
    client: Hashable = None
    is_shared: bool = False
    group: int = 0
    last_status: int | None = None

    @property
    def status(self) -> int | None:
        """The exit status; ``None`` unless the process has ended by itself."""
        return self.process.returncode if self.process else self.last_status

    def used_by(self, client: Hashable) -> None:
        """Record the client that uses the server now."""
        self.is_shared = self.is_shared or self.client not in (None, client)
        self.client = client

    def since(self, earlier: ProcessRecord) -> ProcessRecord:
        """The observations made after ``earlier``, which is a copy of an earlier record.

        The text has only whole lines, and none that may be about another client.
        """
        lines = self.garbage_lines - earlier.garbage_lines
        at = max(0, len(self.stderr) + earlier.stderr_bytes - self.stderr_bytes)
        before, new = self.stderr[:at], self.stderr[at:]
        if before and not before.endswith(b"\n"):
            new = new.partition(b"\n")[2]
        return replace(
            self,
            stderr=bytearray() if self.is_shared else new,
            garbage=self.garbage if lines and not self.is_shared else "",
            garbage_lines=lines,
        )


@asynccontextmanager
async def server_process(
    launch: Launch, limits: ConnectionLimits, record: ProcessRecord
) -> AsyncIterator[TransportStreams]:
    """The message streams of a server that runs while the context is open. Observations of the
    server are noted in ``record``.

    When the context is left in any way, the server and its process group are stopped. First the
    server's input is closed, then the group gets a signal to stop, then a signal that cannot be
    ignored; ``limits.grace_seconds`` pass between these steps. Raises ``ServerConnectionError`` if
    the server cannot be started.
    """
    from mcp.shared.message import SessionMessage

    process = record.process = await _started(launch)
    record.group = process.pid
    # no await from here to the task group: a cancellation in between would leave the process
    # running
    arrived, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    done_writing = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(_read_messages, process, arrived, limits, record)
        group.start_soon(_keep_stderr, process, record)
        group.start_soon(_watch_group, process, record)
        group.start_soon(_write_messages, process, leaving, arrived, done_writing)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                incoming.close()
                outgoing.close()
                with anyio.move_on_after(FLUSH_SECONDS):
                    await done_writing.wait()
                with anyio.move_on_after(SETTLE_SECONDS if record.closed else 0.0):
                    await process.wait()
                record.last_status, record.process = process.returncode, None
                await _end(process, record, limits.grace_seconds)
                for stream in (arrived, incoming, outgoing, leaving):
                    await stream.aclose()
            group.cancel_scope.cancel()


async def _started(launch: Launch) -> Process:
    """Starts the server in its own process group. Raises ``ServerConnectionError`` if it cannot be
    started.
    """
    from mcp.client.stdio import get_default_environment

    if sys.platform == "win32":
        raise ServerConnectionError(
            f"{launch.name} cannot be started on Windows yet; run ToolScope in WSL, or use the "
            "address of a running server",
            "command",
        )
    command = [launch.command, *launch.args]
    environment = {**get_default_environment(), **launch.variables}
    if launch.cwd and not Path(launch.cwd).is_dir():
        raise ServerConnectionError(
            f"{launch.name} should run in {launch.cwd!r}, which is not a folder; correct its `cwd`",
            "command",
        )
    try:
        with anyio.CancelScope(shield=True):  # asyncio leaves pipes open if this is cancelled
            process = await anyio.open_process(
                command, env=environment, cwd=launch.cwd, start_new_session=True
            )
    except (OSError, ValueError) as error:
        number = getattr(error, "errno", None) or 0
        raise _not_started(launch, environment.get("PATH", ""), number) from error
    return process


def _not_started(launch: Launch, path: str, number: int) -> ServerConnectionError:
    command = launch.definition.command
    if shutil.which(launch.command, path=path) is None and number == errno.ENOENT:
        return ServerConnectionError(
            f"the command {command!r} of {launch.name} does not exist here; install it, or use "
            "its full path",
            "command",
        )
    why = os.strerror(number) if number else "it is not valid"
    return ServerConnectionError(
        f"the command {command!r} of {launch.name} cannot be started: {why}; check its path "
        "and permissions",
        "command",
    )


async def _read_messages(
    process: Process,
    arrived: MemoryObjectSendStream[SessionMessage | Exception],
    limits: ConnectionLimits,
    record: ProcessRecord,
) -> None:
    """Pass on each line of the output as a message until the session is gone.

    After that, the rest is read and dropped, so that a server that is still writing can end.
    """
    buffer = bytearray()
    closed_errors = (anyio.ClosedResourceError, anyio.BrokenResourceError)
    async with arrived:
        with suppress(*closed_errors):
            async for chunk in _chunks(process.stdout):
                record.bytes_in += len(chunk)
                first, *lines = chunk.split(b"\n")
                buffer += first
                if lines:
                    lines, buffer = [bytes(buffer), *lines[:-1]], bytearray(lines[-1])
                for line in lines:
                    message = _message(line, record)
                    if message is not None:
                        await arrived.send(message)
                record.too_long = len(buffer) > limits.message_bytes
                if record.too_long or record.garbage_lines > MOST_GARBAGE:
                    break
            else:
                record.closed = True
    async for _ in _chunks(process.stdout):
        pass


def _message(line: bytes, record: ProcessRecord) -> SessionMessage | None:
    """The message in a line. ``None`` for an empty or invalid line; an invalid line is counted."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    if not line.strip():
        return None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        record.garbage_lines += 1
        record.garbage = line[:_CHUNK].decode("utf-8", "replace")
        return None


async def _write_messages(
    process: Process,
    leaving: MemoryObjectReceiveStream[SessionMessage],
    arrived: MemoryObjectSendStream[SessionMessage | Exception],
    done_writing: anyio.Event,
) -> None:
    """Write the messages of the session, one on each line.

    If the server no longer reads them, the session's incoming stream ends.
    """
    stdin = process.stdin
    try:
        async with leaving:
            async for item in leaving:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                if stdin is not None:
                    await stdin.send(text.encode() + b"\n")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        await arrived.aclose()
    finally:
        done_writing.set()


async def _keep_stderr(process: Process, record: ProcessRecord) -> None:
    async for chunk in _chunks(process.stderr):
        record.stderr += chunk
        record.stderr_bytes += len(chunk)
        del record.stderr[:-_KEPT]


async def _chunks(stream: ByteReceiveStream | None) -> AsyncIterator[bytes]:
    """The data of a pipe until it ends or is closed."""
    with suppress(*CLOSED):
        while stream is not None:
            yield await stream.receive(_CHUNK)


async def _watch_group(process: Process, record: ProcessRecord) -> None:
    """Forget the process group if it ends with the server, because its number may be reused."""
    await process.wait()
    with suppress(PermissionError):
        _signal(record, 0)


async def _end(process: Process, record: ProcessRecord, grace: float) -> None:
    """Stop the server and its process group. If the group cannot be stopped,
    ``record`` keeps it.
    """
    if process.stdin is not None:
        with suppress(*CLOSED):
            await process.stdin.aclose()
    with anyio.move_on_after(grace):
        await process.wait()
    with suppress(PermissionError):
        for number in (signal.SIGTERM, signal.SIGKILL):
            _signal(record, number)
            with anyio.move_on_after(grace):
                while record.group:
                    await anyio.sleep(POLL_SECONDS)
                    _signal(record, 0)
        record.group = 0
    with suppress(PermissionError), anyio.move_on_after(grace):
        await process.aclose()


def _signal(record: ProcessRecord, number: int) -> None:
    """Send a signal to the process group; 0 only checks whether anything of the group is left."""
    try:
        if record.group:
            os.killpg(record.group, number)
    except ProcessLookupError:
        record.group = 0

"""A server that is started here, used over its standard input and output, and stopped.

The SDK's own transport hides the process: a message could not mention the exit status, and a server
could write an endless line. It is started in its own process group, which is stopped as a whole.
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
"""The time for a process to end after its output has ended, so that its status can be named."""
_CHUNK = 65_536
_KEPT = 65_536
"""This many of the last bytes of standard error are kept, so that a secret cut in two at their
beginning is far from what is shown.
"""
CLOSED = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)
MOST_GARBAGE = 10_000
"""A server is dropped if it writes more lines than this that are not messages."""


@dataclass(slots=True)
class ProcessRecord:
    """Observations of a server's process.

    They include the end of its standard error (``stderr_bytes`` in all), and the last line on
    standard output that is not a message. ``bytes_in`` counts its output in bytes. ``doing``
    describes the current request; ``closed`` says that its output has ended. ``process`` is set
    until it is stopped here; after that its status means nothing. ``group`` is its process group, 0
    once nothing of it is left. ``client`` used it last; once it ``is_shared`` by several, nobody
    can tell which client its text is about.
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
        """The exit status; ``None`` unless it has ended by itself."""
        return self.process.returncode if self.process else self.last_status

    def used_by(self, client: Hashable) -> None:
        """Record the client that uses the server now."""
        self.is_shared = self.is_shared or self.client not in (None, client)
        self.client = client

    def since(self, earlier: ProcessRecord) -> ProcessRecord:
        """The observations made after ``earlier``, a copy.

        Its text has whole lines, and none that may be about another client.
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
    """The message streams of a server that runs while the context is open; fills ``record``.

    On leaving in any way, the server and its group are stopped: its input is closed, then a signal
    to stop, then one that cannot be ignored, each ``limits.grace_seconds`` apart. Raises
    ``ServerConnectionError`` if it cannot be started.
    """
    from mcp.shared.message import SessionMessage

    process = record.process = await _started(launch)
    record.group = process.pid
    # no await from here to the task group: a cancellation in between would leave the process alone
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
    """The server in its own process group. Raises ``ServerConnectionError``."""
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
    """Pass each output line on as a message until the session is gone.

    Then the rest is read and dropped, so that a server that is still writing can end.
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
    """The message of a line, or ``None`` for an invalid one, which is counted."""
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
    """Write what the session sends, one line each.

    If nobody reads it, the session's incoming stream ends.
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
    """Forget the group if it ends with the server, because its number may be reused."""
    await process.wait()
    with suppress(PermissionError):
        _signal(record, 0)


async def _end(process: Process, record: ProcessRecord, grace: float) -> None:
    """Stop the server and its process group; ``record`` keeps a group that could not be stopped."""
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
    """Send a signal to the group; 0 checks whether anything of it is left."""
    try:
        if record.group:
            os.killpg(record.group, number)
    except ProcessLookupError:
        record.group = 0

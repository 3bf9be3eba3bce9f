"""A server that is started here, spoken to over its standard input and output, and ended.

The SDK's own transport hides the process: a message could name no exit status, a server could
write a line without end, and what it starts in turn would outlive a program that is killed.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import ByteReceiveStream, Process, SocketStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from toolscope_core.mcp.servers import server_keeper
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
"""A process whose output has ended has this long to end, so that its status can be named."""
KEEPER_SECONDS = 5.0
"""A keeper that takes longer than this, beside the pauses between its signals, is ended."""
CHUNK = 65_536
KEPT = 65_536
"""So many of the last bytes of standard error are kept, so that a secret cut in two at their
beginning is far from what is shown."""
CLOSED = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)
MOST_GARBAGE = 10_000
"""A server that writes more lines than this that are no messages is given up."""


@dataclass(slots=True)
class ProcessRecord:
    """What is seen of a server's process: its exit status, the end of its standard error, of which
    there were ``stderr_bytes``, and the last line on its standard output that is no message.
    ``received`` counts the bytes of its output. ``doing`` is what it is asked for at the moment, in
    words; ``closed`` says that its output has ended, ``ending`` that it is ended here, so that its
    status says nothing, ``left`` what could not be ended. ``client`` used it last; once it
    ``is_shared`` by several, nobody can say whom its words are about.
    """

    doing: str = HANDSHAKE
    status: int | None = None
    closed: bool = False
    ending: bool = False
    stderr: bytearray = field(default_factory=bytearray)
    stderr_bytes: int = 0
    garbage: str = ""
    garbage_lines: int = 0
    received: int = 0
    too_long: bool = False
    client: Hashable = None
    is_shared: bool = False
    left: list[str] = field(default_factory=list)

    def used_by(self, client: Hashable) -> None:
        """The client uses the server from now on."""
        self.is_shared = self.is_shared or self.client not in (None, client)
        self.client = client

    def since(self, earlier: ProcessRecord) -> ProcessRecord:
        """What was seen after ``earlier``, a copy: of its words whole lines, and none where they
        may be about another client.
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
    """The message streams of a server that runs while the context is open; ``record`` is filled.

    On leaving, however it is left, the server and all that it started are ended: its input is
    closed, then a signal to stop, then one that cannot be ignored, ``limits.grace_seconds`` apart.
    Raises ``ServerConnectionError`` where it cannot be started.
    """
    from mcp.shared.message import SessionMessage

    kept = await _started(launch, limits.grace_seconds)
    process = kept.process
    # no await from here to the task group: a cancellation in between would leave the process alone
    arrived, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    written = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(_read_messages, process, arrived, limits, record)
        group.start_soon(_keep_stderr, process, record)
        group.start_soon(_keep_status, kept, record)
        group.start_soon(_write_messages, process, leaving, arrived, written)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                incoming.close()
                outgoing.close()
                with anyio.move_on_after(FLUSH_SECONDS):
                    await written.wait()
                if record.closed:
                    await kept.has_exited(SETTLE_SECONDS)
                record.ending = True
                await _end(kept, limits.grace_seconds)
                for stream in (arrived, incoming, outgoing, leaving):
                    await stream.aclose()
            group.cancel_scope.cancel()


@dataclass(slots=True)
class _Kept:
    """The ``process`` of a keeper and its ``server``, 0 once nothing of that is left; ``exited``
    is set when the server has ended, ``over`` when the keeper says no more. It ends the server
    when ``control`` closes.
    """

    process: Process
    control: SocketStream
    server: int = 0
    exited: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)
    unread: bytes = b""

    async def line(self) -> list[str]:
        """The words of the keeper's next line; none where it says no more."""
        while b"\n" not in self.unread:
            self.unread += await self.control.receive()
        line, _, self.unread = self.unread.partition(b"\n")
        return line.decode("utf-8", "replace").split(maxsplit=2)

    async def has_exited(self, seconds: float) -> None:
        """Wait until the server has ended, not longer than ``seconds``."""
        with anyio.move_on_after(seconds):
            await self.exited.wait()


async def _started(launch: Launch, grace: float) -> _Kept:
    """The server, started by a keeper of its own. Raises ``ServerConnectionError``."""
    from mcp.client.stdio import get_default_environment

    if sys.platform == "win32":
        raise ServerConnectionError(
            f"{launch.name} cannot be started on Windows yet; run ToolScope in WSL, or give the "
            "address of a server that runs",
            "command",
        )
    environment = {**get_default_environment(), **launch.variables}
    if launch.cwd and not Path(launch.cwd).is_dir():
        raise ServerConnectionError(
            f"{launch.name} is to run in {launch.cwd!r}, which is no folder; correct its cwd",
            "command",
        )
    command = [launch.command, *launch.args]
    wanted = {"command": command, "environment": environment, "grace": grace}
    kept = await _with_keeper(launch.cwd)
    try:
        await kept.control.send(json.dumps(wanted).encode() + b"\n")
        what, number = await kept.line()
        if what == "failed":
            raise _not_started(launch, environment.get("PATH", ""), int(number))
    except BaseException:
        with anyio.CancelScope(shield=True):
            await _end(kept, grace)
        raise
    kept.server = int(number)
    return kept


async def _with_keeper(cwd: str | None) -> _Kept:
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            process = await anyio.open_process(
                [sys.executable, "-I", "-S", server_keeper.__file__, str(theirs.fileno())],
                env={},
                cwd=cwd,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        return _Kept(process, await SocketStream.from_socket(ours))
    except BaseException:  # given up meanwhile: the keeper ends when nobody is at the other end
        ours.close()
        raise


def _not_started(launch: Launch, path: str, number: int) -> ServerConnectionError:
    command = launch.definition.command
    if shutil.which(launch.command, path=path) is None and number == errno.ENOENT:
        return ServerConnectionError(
            f"the command {command!r} of {launch.name} does not exist here; install it, or write "
            "its whole path",
            "command",
        )
    why = os.strerror(number) if number else "it is not valid"
    return ServerConnectionError(
        f"the command {command!r} of {launch.name} cannot be started: {why}; check its path and "
        "its rights",
        "command",
    )


async def _read_messages(
    process: Process,
    arrived: MemoryObjectSendStream[SessionMessage | Exception],
    limits: ConnectionLimits,
    record: ProcessRecord,
) -> None:
    """Pass each line of the standard output on as a message, until the session is gone; then
    read and drop the rest, so that a server that is still writing can end.
    """
    buffer = bytearray()
    gone = (anyio.ClosedResourceError, anyio.BrokenResourceError)
    async with arrived:
        with suppress(*gone):
            async for chunk in _chunks(process.stdout):
                record.received += len(chunk)
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
    """The message of a line, or ``None`` for one that is none, which is counted."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    if not line.strip():
        return None
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        record.garbage_lines += 1
        record.garbage = line[:CHUNK].decode("utf-8", "replace")
        return None


async def _write_messages(
    process: Process,
    leaving: MemoryObjectReceiveStream[SessionMessage],
    arrived: MemoryObjectSendStream[SessionMessage | Exception],
    written: anyio.Event,
) -> None:
    """Write what the session sends, a line each. Where nobody reads it, the session is told by the
    end of what it receives.
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
        written.set()


async def _keep_stderr(process: Process, record: ProcessRecord) -> None:
    async for chunk in _chunks(process.stderr):
        record.stderr += chunk
        record.stderr_bytes += len(chunk)
        del record.stderr[:-KEPT]


async def _keep_status(kept: _Kept, record: ProcessRecord) -> None:
    """Note what the keeper says, until it has ended."""
    try:
        with suppress(*CLOSED):
            while line := await kept.line():
                if line[0] == "exit":
                    record.status = None if record.ending else int(line[1])
                    kept.exited.set()
                elif line[0] == "left":
                    record.left.append(f"{line[2]} ({line[1]})")
                elif line[0] == "ended":
                    kept.server = 0
    finally:
        kept.exited.set()
        kept.over.set()


async def _chunks(stream: ByteReceiveStream | None) -> AsyncIterator[bytes]:
    """What a pipe gives until it ends or is closed."""
    with suppress(*CLOSED):
        while stream is not None:
            yield await stream.receive(CHUNK)


async def _end(kept: _Kept, grace: float) -> None:
    """End the server and all that it started."""
    process = kept.process
    with suppress(*CLOSED):
        if process.stdin is not None:
            await process.stdin.aclose()
    if kept.server:
        await kept.has_exited(grace)
    with suppress(*CLOSED):
        await kept.control.send_eof()
    with anyio.move_on_after(2 * grace + KEEPER_SECONDS):
        while process.returncode is None:
            await anyio.sleep(POLL_SECONDS)
    if kept.server:
        with anyio.move_on_after(SETTLE_SECONDS):
            await kept.over.wait()
    if kept.server:  # somebody ended the keeper
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(kept.server, signal.SIGKILL)
    with suppress(ProcessLookupError):
        process.kill()
    await kept.control.aclose()
    with anyio.move_on_after(grace):
        await process.aclose()

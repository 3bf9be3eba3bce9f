"""The program that starts one server, and ends it with all that it started, also when the program
that asked for it is killed.

Where the system has it (Linux) the keeper adopts what a server leaves behind, so that nothing gets
away by leaving its group or by clearing its environment; elsewhere the group is ended. It is run
by itself, so it imports little; the socket brings what to start and takes, a line each, what
becomes of it: ``failed ERRNO``, ``started PID``, ``exit STATUS`` of the server, ``left PID NAME``
of a process that could not be ended, ``ended`` when all else is.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress

PROCESSES = "/proc"
LONGEST_START = 1_000_000
_ADOPT_ORPHANS = 36
_PAUSE = 0.01


def keep(control: socket.socket) -> None:
    """Start what the first line asks for; end it when the socket closes."""
    waking, woken = os.pipe()
    for end in (waking, woken):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _adopt_orphans()
    line = _first_line(control)
    if not line.endswith(b"\n"):
        return
    wanted = json.loads(line)
    server = _start(control, wanted["command"], wanted["environment"])
    if server is None:
        return
    while True:
        readable, _, _ = select.select([control.fileno(), waking], [], [])
        if waking in readable:
            os.read(waking, 4096)
        _reap(control, server)
        if control.fileno() in readable and not _received(control):
            break
    for number in (signal.SIGTERM, signal.SIGKILL):
        _end(control, server, number, wanted["grace"])
    _reap(control, server)
    for pid in living(server):
        _say(control, f"left {abs(pid)} {_name(abs(pid))}")
    _say(control, "ended")


def living(server: int) -> list[int]:
    """The ids of all that the server started and that lives; where the system does not show whose
    child a process is, its group as a negative number.
    """
    parents = _parents()
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    if parents:
        return sorted(ours - {os.getpid()})
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server, 0)
        return [-server]
    return []


def _end(control: socket.socket, server: int, number: int, grace: float) -> None:
    """Send a signal once to each process that lives, until none does or the time is over."""
    sent: set[int] = set()
    deadline = time.monotonic() + grace
    while there := living(server):
        for pid in set(there) - sent:
            sent.add(pid)
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        _reap(control, server)
        if time.monotonic() > deadline:
            return
        time.sleep(_PAUSE)


def _start(control: socket.socket, command: list[str], environment: dict[str, str]) -> int | None:
    os.environ.clear()
    os.environ.update(environment)
    reset = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    try:
        server = os.posix_spawnp(command[0], command, os.environ, setsid=True, setsigdef=reset)
    except (OSError, ValueError, NotImplementedError) as error:
        _say(control, f"failed {getattr(error, 'errno', None) or 0}")
        return None
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    _say(control, f"started {server}")
    return server


def _reap(control: socket.socket, server: int) -> None:
    """Let every process that ended go, and say the status of the server."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            if pid == server:
                _say(control, f"exit {os.waitstatus_to_exitcode(status)}")


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)


def _parents() -> dict[int, int]:
    """The parent of each process that is no zombie."""
    parents = {}
    with suppress(OSError):
        for name in filter(str.isdigit, os.listdir(PROCESSES)):  # noqa: PTH208 - starts quickly
            with suppress(OSError), open(f"{PROCESSES}/{name}/stat", "rb") as file:  # noqa: PTH123
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state != b"Z":
                    parents[int(name)] = int(parent)
    return parents


def _name(pid: int) -> str:
    with suppress(OSError), open(f"{PROCESSES}/{pid}/comm", encoding="utf-8") as file:  # noqa: PTH123
        return file.read().strip() or "?"
    return "?"


def _first_line(control: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n") and len(line) < LONGEST_START and (part := control.recv(65_536)):
        line += part
    return line


def _received(control: socket.socket) -> bytes:
    with suppress(OSError):
        return control.recv(4096)
    return b""


def _say(control: socket.socket, line: str) -> None:
    with suppress(OSError):
        control.sendall(f"{line}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    number = int(sys.argv[1])
    with socket.socket(fileno=os.dup(number)) as given:  # select takes small numbers only
        os.close(number)
        keep(given)

"""A small process that ends servers whose own program died without ending them.

It reads which process groups to watch from standard input; when that ends, the program is gone,
and whatever is still watched is ended. Runs by itself, so it imports the standard library only.
"""

import os
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

MARKER = "TOOLSCOPE_SERVER"
"""The environment variable by which every process that a server started is recognised, one that
left its process group too."""
GRACE = 1.0
PROCESSES = Path("/proc")


def signal_all(group: int, marker: str, number: int) -> bool:
    """Send a signal to a process group and to each process marked; whether any was there."""
    there = False
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        there = True
    for pid in marked_processes(marker):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            there = True
    return there


def marked_processes(marker: str) -> list[int]:
    """The ids of living processes that have the marker in their environment, where the system
    shows it (``/proc``); none elsewhere.
    """
    wanted = f"{MARKER}={marker}".encode()
    if not PROCESSES.is_dir():
        return []
    pids = [int(entry.name) for entry in PROCESSES.iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if wanted in _environment(pid)]


def watch(lines: Iterable[str]) -> None:
    """Follow ``+ group marker`` and ``- group marker`` lines; at their end, end what is watched."""
    watched: set[tuple[int, str]] = set()
    for line in lines:
        sign, group, marker = line.split()
        (watched.add if sign == "+" else watched.discard)((int(group), marker))
    for number in (signal.SIGTERM, signal.SIGKILL):
        there = [signal_all(group, marker, number) for group, marker in watched]
        deadline = time.monotonic() + GRACE * any(there)
        while time.monotonic() < deadline and any(
            signal_all(group, marker, 0) for group, marker in watched
        ):
            time.sleep(0.02)


def _environment(pid: int) -> tuple[bytes, ...]:
    try:
        return tuple((PROCESSES / str(pid) / "environ").read_bytes().split(b"\0"))
    except OSError:
        return ()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch(sys.stdin)

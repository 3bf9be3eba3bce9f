"""Servers of a program that was killed are ended by the guard that it started."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.mcp.servers.stubs import MARK, STUB, living, new_mark, wait_until
from toolscope_core.mcp.servers import process_guard
from toolscope_core.mcp.servers.guarding import Guard
from toolscope_core.mcp.servers.process_guard import MARKER, marked_processes, signal_all, watch

PROGRAM = f"""
import subprocess, sys, time
from toolscope_core.mcp.servers.guarding import GUARD
server = subprocess.Popen(
    [sys.executable, "-I", "-S", {STUB!r}, sys.argv[1]],
    env={{{MARKER!r}: "abc" + sys.argv[2], {MARK!r}: sys.argv[2]}},
    stdin=subprocess.PIPE,
    start_new_session=True,
)
GUARD.watch(server.pid, "abc" + sys.argv[2])
print("ready", flush=True)
time.sleep(60)
"""
ROOT = Path(__file__).parents[3]


def sleeping(marker):
    """A process that sleeps, in a group of its own, marked as a server's."""
    command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]
    return subprocess.Popen(command, env={MARKER: marker}, start_new_session=True)


@pytest.mark.parametrize(
    ("number", "act", "processes"), [(signal.SIGKILL, "parent", 3), (signal.SIGTERM, "good", 1)]
)
def test_no_server_outlives_a_program_that_is_killed(number, act, processes):
    mark = new_mark()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, act, mark], stdout=subprocess.PIPE, cwd=ROOT
    ) as program:
        assert program.stdout.readline() == b"ready\n"
        wait_until(lambda: len(living(mark)) == processes)
        program.send_signal(number)
    wait_until(lambda: living(mark) == [])


def test_what_is_still_watched_at_the_end_is_ended():
    marker, other = new_mark(), new_mark()
    with sleeping(marker) as watched, sleeping(other) as forgotten:
        reaper = threading.Thread(target=watched.wait)
        reaper.start()
        what_is_forgotten = f"{forgotten.pid} {other}\n"
        watch([f"+ {watched.pid} {marker}\n", f"+ {what_is_forgotten}", f"- {what_is_forgotten}"])
        reaper.join(5)
        assert watched.returncode == -signal.SIGTERM
        assert forgotten.poll() is None
        forgotten.kill()


def test_what_does_not_end_is_ended_so_that_it_has_to(monkeypatch):
    monkeypatch.setattr(process_guard, "GRACE", 0.1)
    marker = new_mark()
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code],
        env={MARKER: marker},
        start_new_session=True,
        stdout=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        watch([f"+ {process.pid} {marker}\n"])
        assert process.wait(5) == -signal.SIGKILL


def test_where_the_system_shows_no_processes_the_group_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(process_guard, "PROCESSES", tmp_path / "none")
    assert marked_processes("any") == []


def test_what_is_forgotten_is_left_alone():
    guard, marker = Guard(), new_mark()
    with sleeping(marker) as process:
        guard.watch(process.pid, marker)
        guard.forget(process.pid)
        guard.process.stdin.close()
        assert guard.process.wait(5) == 0
        assert process.poll() is None
        assert marked_processes(marker) == [process.pid]
        assert signal_all(process.pid, marker, signal.SIGKILL)
        process.wait(5)
    assert not signal_all(process.pid, marker, signal.SIGKILL)


def test_a_guard_that_was_ended_is_replaced_and_knows_all():
    guard, marker = Guard(), new_mark()
    with sleeping(marker) as process:
        guard.watch(process.pid, marker)
        guard.process.kill()
        guard.process.wait(5)
        guard.watch(2**22 - 1, "none")
        guard.process.stdin.close()
        assert process.wait(5) == -signal.SIGTERM
        assert guard.process.wait(5) == 0

"""Servers are ended with all that they started, also what left their group, and whatever happens."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.mcp.servers.stubs import MARK, QUICK, launch, living, new_mark, wait_until
from toolscope_core.mcp.servers import server_keeper, server_processes
from toolscope_core.mcp.servers.offers import read_offer
from toolscope_core.mcp.servers.sessions import connected

ROOT = Path(__file__).parents[3]
PROGRAM = """
import asyncio, sys
from tests.mcp.servers.stubs import MARK, QUICK, launch
from toolscope_core.mcp.servers.sessions import connected

async def run():
    env = {MARK: sys.argv[1]}
    async with (
        connected(launch("parent", **env), QUICK),
        connected(launch("daemon", sys.argv[2], **env), QUICK),
    ):
        print("ready", flush=True)
        await asyncio.sleep(600)

asyncio.run(run())
"""
POWERLESS = """
import socket, sys
from toolscope_core.mcp.servers import server_keeper
server_keeper.living = lambda server: [1]
server_keeper.os.kill = lambda *args: None
with socket.socket(fileno=int(sys.argv[1])) as given:
    given.set_inheritable(False)
    server_keeper.keep(given)
"""


def exists(file):
    """Whether the process whose id stands in the file lives, and is no zombie."""
    try:
        stat = Path("/proc", file.read_text() or "none", "stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_server_outlives_a_program_that_is_killed(number, tmp_path):
    """One with two children, and one whose child has left its group and its environment."""
    mark, file = new_mark(), tmp_path / "pid"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, mark, str(file)], stdout=subprocess.PIPE, cwd=ROOT
    ) as program:
        assert program.stdout.readline() == b"ready\n"
        wait_until(lambda: len(living(mark)) == 3 + 1)
        wait_until(lambda: exists(file))
        program.send_signal(number)
    wait_until(lambda: living(mark) == [] and not exists(file))


def test_what_left_its_group_and_its_environment_ends_with_its_server(tmp_path):
    file = tmp_path / "pid"

    async def run():
        async with connected(launch("daemon", file), QUICK):
            wait_until(lambda: exists(file))

    asyncio.run(run())
    assert not exists(file)


def test_a_server_whose_keeper_was_ended_is_ended_too():
    mark = new_mark()

    async def run():
        async with connected(launch("good", **{MARK: mark}), QUICK):
            (server,) = living(mark)
            stat = Path(f"/proc/{server}/stat").read_text()
            subprocess.run(["kill", "-9", stat.rpartition(")")[2].split()[1]], check=True)

    asyncio.run(run())
    wait_until(lambda: living(mark) == [])


def test_what_cannot_be_ended_is_named(monkeypatch, tmp_path):
    keeper = tmp_path / "keeper.py"
    keeper.write_text(f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{POWERLESS}")
    monkeypatch.setattr(server_processes, "server_keeper", SimpleNamespace(__file__=str(keeper)))
    name = Path("/proc/1/comm").read_text().strip()
    words = f"stub left the process {name} (1) that could not be ended; end it by hand"
    assert asyncio.run(read_offer(launch("good"), QUICK)).notes == (words,)


def test_where_the_system_shows_no_parents_the_group_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(server_keeper, "PROCESSES", str(tmp_path / "none"))
    code = "import sys; sys.stdin.read()"
    command = [sys.executable, "-I", "-S", "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as process:
        assert server_keeper.living(process.pid) == [-process.pid]
    assert server_keeper.living(process.pid) == []

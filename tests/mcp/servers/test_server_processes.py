"""Servers are ended with what they started in their group, whatever happens."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.mcp.servers.stubs import MARK, QUICK, launch, living, new_mark, wait_until
from toolscope_core.mcp.servers.offers import read_offer
from toolscope_core.mcp.servers.sessions import connected

ROOT = Path(__file__).parents[3]
PROGRAM = """
import asyncio, sys
from tests.mcp.servers.stubs import MARK, QUICK, launch
from toolscope_core.mcp.servers.sessions import connected

async def run():
    env = {MARK: sys.argv[1]}
    async with connected(launch("good", **env), QUICK), connected(launch("good", **env), QUICK):
        print("ready", flush=True)
        await asyncio.sleep(600)

asyncio.run(run())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_its_input_when_the_program_is_killed(number):
    mark = new_mark()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, mark], stdout=subprocess.PIPE, cwd=ROOT
    ) as program:
        assert program.stdout.readline() == b"ready\n"
        assert len(living(mark)) == 2
        program.send_signal(number)
    wait_until(lambda: living(mark) == [])


def test_a_child_that_ignores_the_signal_to_stop_ends_with_its_server():
    mark = new_mark()

    async def run():
        async with connected(launch("parent", **{MARK: mark}), QUICK):
            wait_until(lambda: len(living(mark)) == 2)

    asyncio.run(run())
    assert living(mark) == []


def test_what_cannot_be_ended_is_named(monkeypatch):
    killpg, groups = os.killpg, []

    def refuse(group, number):
        groups.append(group)
        with suppress(ProcessLookupError):
            killpg(group, signal.SIGKILL)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "killpg", refuse)
    notes = asyncio.run(read_offer(launch("stubborn"), QUICK)).notes
    assert len(notes) == 1 and f"process group {groups[0]} " in notes[0]

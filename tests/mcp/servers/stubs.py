"""Configurations of the stub server, quick limits, and what is left of a server in /proc."""

import json
import os
import sys
import time
import uuid
from pathlib import Path

from toolscope_core.mcp.servers.configured_servers import read_configuration
from toolscope_core.mcp.servers.launches import Launch, read_launch
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration
from toolscope_core.model.configuration import ConnectionLimits

STUB = str(Path(__file__).with_name("stub_server.py"))
QUICK = ConnectionLimits(
    start_seconds=60.0,
    answer_seconds=60.0,
    total_seconds=120.0,
    grace_seconds=0.1,
    message_bytes=200_000,
)
TOKEN = "hunter2-abcdef-0123"
MARK = "STUB_MARK"


def entry(act: str, *rest: object, **env: str) -> dict:
    return {
        "command": sys.executable,
        "args": ["-I", "-S", STUB, act, *map(str, rest)],
        "env": {"API_TOKEN": TOKEN, **env},
    }


def configuration(**entries: dict) -> ClientConfiguration:
    return read_configuration("mcp.json", json.dumps({"mcpServers": entries}).encode())


def launch(act: str, *rest: object, **env: str) -> Launch:
    config = configuration(stub=entry(act, *rest, **env))
    return read_launch(config.servers[0], config.entries.get("stub"), os.environ)


def new_mark() -> str:
    return uuid.uuid4().hex


def wait_until(condition, seconds: float = 60.0) -> None:
    """Until the condition holds; fails where it does not within so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def living(mark: str) -> list[int]:
    """The processes that have the mark in their environment and are no zombies."""
    wanted, pids = f"{MARK}={mark}".encode(), []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and wanted in (place / "environ").read_bytes().split(b"\0"):
                pids.append(int(place.name))
        except OSError:
            continue
    return pids

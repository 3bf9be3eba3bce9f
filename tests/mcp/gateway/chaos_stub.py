"""An original MCP server that does what no server should: it answers late, or never, or under a
wrong id, writes half a message or what is none, loses its tool, and dies. Run as ``python -I -S
chaos_stub.py TOOLS_FILE``. A call's argument ``do`` says which, ``x`` is what it answers.
"""

import json
import os
import sys
import threading
import time

LOCK = threading.Lock()
GONE = []


def write(text):
    with LOCK:
        sys.stdout.write(text)
        sys.stdout.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def answer(number, x):
    send({"id": number, "result": {"content": [{"type": "text", "text": str(x)}]}})


def late(number, x):
    threading.Timer(0.05, answer, (number, x)).start()


def silent(number, x):
    """The client gives it up."""


def wrong_id(number, x):
    answer(f"not {number}", x)


def twice(number, x):
    answer(number, x)
    answer(number, f"not {x}")


def half(number, x):
    write('{"jsonrpc": "2.0", "id"')
    time.sleep(0.01)
    write("\n")
    answer(number, x)


def die(number, x):
    os._exit(3)


def die_half(number, x):
    write('{"jsonrpc": "2.0", "id": ')
    os._exit(3)


def vanish(number, x):
    GONE[:] = [] if GONE else [True]
    send({"method": "notifications/tools/list_changed"})
    answer(number, x)


ACTS = {
    act.__name__: act
    for act in (answer, late, silent, wrong_id, twice, half, die, die_half, vanish)
}


def handle(message):
    method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        can = {"tools": {"listChanged": True}}
        hello = {"protocolVersion": "2025-06-18", "capabilities": can}
        send({"id": number, "result": {**hello, "serverInfo": {"name": "chaos", "version": "1"}}})
    elif method == "tools/list":
        with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - pathlib starts slowly
            tools = json.load(file)
        send({"id": number, "result": {"tools": tools[:1] if GONE else tools}})
    elif method == "tools/call":
        arguments = params["arguments"]
        ACTS[arguments["do"]](number, arguments["x"])
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "no"}})


for line in sys.stdin:
    handle(json.loads(line))

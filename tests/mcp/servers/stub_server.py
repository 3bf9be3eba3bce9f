"""An MCP server of a few lines without the SDK, which starts in hundredths of a second.

What it does wrong is the first argument; see ``STARTS`` and ``tools``. Run it as ``python -I -S stub_server.py``.
"""

import json
import os
import signal
import sys
import time

ACT, REST = (sys.argv[1] if len(sys.argv) > 1 else "good"), sys.argv[2:]


def tool(name, description="", **more):
    return {
        "name": name,
        "description": description or f"Does {name}.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
        **more,
    }


def answer(request):
    """The result of a request; ``None`` where there is no such method."""
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "stub", "version": "1.2"},
            "instructions": "Use it.",
        }
    if method == "tools/list":
        return tools(params.get("cursor"))
    if method == "resources/list":
        return {"resources": [{"uri": f"file:///{n}", "name": str(n)} for n in range(3)]}
    if method == "prompts/list":
        return {"prompts": [{"name": "one"}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]}
    return None


def tools(cursor):
    if ACT == "pages":
        at = int(cursor or 0)
        page = {"tools": [tool(f"tool_{n:04}") for n in range(at, at + 50)]}
        return page if at == 950 else {**page, "nextCursor": str(at + 50)}
    if ACT == "dies-in-list":
        os._exit(3)
    if ACT == "mute":
        time.sleep(600)
    if ACT == "file":
        with open(REST[0], encoding="utf-8") as file:  # noqa: PTH123 - pathlib starts slowly
            return json.load(file)
    return LISTS.get(ACT, {"tools": [tool("read"), tool("write")]})


LISTS = {
    "environment": {"tools": [tool("show", json.dumps(sorted(os.environ)))]},
    "circles": {"tools": [tool("again")], "nextCursor": "same"},
    "refuses": None,
    "no-list": {"tools": "none"},
    "odd": {"tools": [tool("fine", vendorField={"kept": None}), {"name": "no_schema"}]},
    "secret": {"tools": [tool("show", f"Connected with {os.environ.get('API_TOKEN')}.")]},
}


def exits():
    sys.stderr.write(f"cannot log in with {os.environ.get('API_TOKEN')}\n")
    sys.exit(7)


def banner():
    sys.stdout.write("Server listening, hello\n")
    sys.stdout.flush()


def garbage():
    banner()
    time.sleep(600)


def endless():
    while True:
        sys.stdout.write("x" * 65536)


def floods():
    for _ in range(200):
        sys.stderr.write("noise " * 2000 + "\n")


def stubborn():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def parent():
    """Start a process in this group that ignores the signal to stop."""
    import subprocess

    code = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    subprocess.Popen([sys.executable, "-I", "-S", "-c", code])


STARTS = {
    "exits": exits,
    "silent": lambda: time.sleep(600),
    "slow": lambda: time.sleep(float(REST[0])),
    "banner": banner,
    "garbage": garbage,
    "endless": endless,
    "floods": floods,
    "stubborn": stubborn,
    "parent": parent,
}


NO = f"no access with {os.environ.get('API_TOKEN')}"


def main():
    STARTS.get(ACT, lambda: None)()
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request)
        if result is None and ACT == "old":
            continue
        outcome = {"result": result} if result else {"error": {"code": -32601, "message": NO}}
        reply = {"jsonrpc": "2.0", "id": request["id"], **outcome}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
    if ACT in ("stubborn", "parent"):
        time.sleep(600)


main()

"""Packages of npm, for the tests of the night: node, clients of both SDKs, the conformance suite."""

import shutil
import subprocess

NODE = "node@22"


def install(place, *packages):
    """Install packages in a folder; the path of its node."""
    command = [shutil.which("npm"), "install", "--silent", "--no-audit", "--prefix", str(place)]
    subprocess.run([*command, NODE, *packages], check=True)
    return place / "node_modules" / ".bin" / "node"

"""A big file is first read by a child process with little memory and time.

The child does what this process would do next and says only how it went, as JSON: nothing that it
built comes back, so nothing of the file's is trusted. What the child survives, this process does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from toolscope_core.catalog.limits import BIG_BYTES, CHILD_BYTES, CHILD_SECONDS, MIB
from toolscope_core.catalog.parts import read_parts
from toolscope_core.catalog.sources import Source, check_size
from toolscope_core.errors import CatalogError

ROOT = Path(__file__).parents[2]
MODULE = "toolscope_core.catalog.rehearsal"


def rehearse(source: Source, forced: str | None = None) -> None:
    """Raises ``CatalogError`` where a file over ``BIG_BYTES`` cannot be read within the limits."""
    check_size(source.label, len(source.data))
    if len(source.data) <= BIG_BYTES:
        return
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", MODULE, source.label, forced or "", str(CHILD_BYTES)]
    try:
        done = subprocess.run(
            [*command, str(CHILD_SECONDS)],
            input=source.data,
            capture_output=True,
            env=environment,
            timeout=CHILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _too_much(source) from error
    try:
        answer = json.loads(done.stdout)
    except ValueError as error:
        raise _too_much(source) from error
    if answer["refused"]:
        raise CatalogError(answer["refused"])


def _too_much(source: Source) -> CatalogError:
    return CatalogError(
        f"{source.label} needs more than {CHILD_SECONDS} s or {CHILD_BYTES // MIB} MiB of memory "
        f"to be read ({len(source.data) / MIB:.1f} MiB); split it into several files"
    )


def answer(source: Source, forced: str | None) -> dict[str, str]:
    """What the child tells its parent of a source: why it is refused, empty if it is not."""
    try:
        read_parts([source], forced)
    except CatalogError as error:
        return {"refused": str(error)}
    return {"refused": ""}


def _limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the parent's timeout remains
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _main(label: str, forced: str, memory: str, seconds: str) -> None:
    source = Source(label, sys.stdin.buffer.read())
    _limit(int(memory), int(float(seconds)) + 1)
    sys.stdout.write(json.dumps(answer(source, forced or None)))


if __name__ == "__main__":
    _main(*sys.argv[1:])

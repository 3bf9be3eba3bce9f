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
    """Raises ``CatalogError`` where a file over ``BIG_BYTES`` cannot be read within the limits,
    and where the child ends in any other way than with an answer.
    """
    check_size(source.label, len(source.data))
    if len(source.data) <= BIG_BYTES:
        return
    told = json.dumps([source.label, forced]).encode()
    try:
        done = subprocess.run(
            _command(),
            input=told + b"\n" + source.data,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": _python_path(), "OPENBLAS_NUM_THREADS": "1"},
            timeout=CHILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _too_much(source) from error
    except OSError as error:
        raise _no_answer(source, f"cannot be started ({error.strerror})") from error
    if done.returncode < 0 or b"MemoryError" in done.stderr:
        raise _too_much(source)
    refused = _refusal(done.stdout)
    if refused is None:
        raise _no_answer(source, f"ended without an answer (exit status {done.returncode})")
    if refused:
        raise CatalogError(refused)


def answer(source: Source, forced: str | None) -> dict[str, str]:
    """What the child tells its parent of a source: why it is refused, empty if it is not."""
    try:
        read_parts([source], forced)
    except CatalogError as error:
        return {"refused": str(error)}
    return {"refused": ""}


def _command() -> list[str]:
    """``-P``: the folder that this process happens to stand in gives the child no modules."""
    return [sys.executable, "-P", "-m", MODULE, str(CHILD_BYTES), str(CHILD_SECONDS)]


def _python_path() -> str:
    """Where the child imports from: our own package first, then what we were told ourselves."""
    return os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))


def _refusal(said: bytes) -> str | None:
    """The child's reason to refuse, empty if it has none; ``None`` for what is no answer."""
    try:
        told = json.loads(said)
    except ValueError:
        return None
    refused = told.get("refused") if isinstance(told, dict) else None
    return refused if isinstance(refused, str) else None


def _too_much(source: Source) -> CatalogError:
    return CatalogError(
        f"{source.label} needs more than {CHILD_SECONDS} s or {CHILD_BYTES // MIB} MiB of memory "
        f"to be read ({len(source.data) / MIB:.1f} MiB); split it into several files"
    )


def _no_answer(source: Source, how: str) -> CatalogError:
    return CatalogError(
        f"{source.label} has {len(source.data) / MIB:.1f} MiB, and the process that reads such a "
        f"file first {how}; try again, or split it into files of at most {BIG_BYTES // MIB} MiB"
    )


def _limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the parent's timeout remains
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _main(memory: str, seconds: str) -> None:
    label, forced = json.loads(sys.stdin.buffer.readline())
    source = Source(label, sys.stdin.buffer.read())
    _limit(int(memory), int(float(seconds)) + 1)
    sys.stdout.write(json.dumps(answer(source, forced)))


if __name__ == "__main__":
    _main(*sys.argv[1:])

"""Our side of the process guard: which server processes it is to end if this program dies."""

import logging
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock

from toolscope_core.mcp.servers import process_guard

logger = logging.getLogger(__name__)


class Guard:
    """Tells one guard process of this program which process groups to watch."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._watched: dict[int, str] = {}
        self.process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int, marker: str) -> None:
        """From now on the group is ended when this program dies, in whatever way."""
        with self._lock:
            self._watched[group] = marker
            if not self._tell(f"+ {group} {marker}\n"):
                self._start()

    def forget(self, group: int) -> None:
        """The group has been ended."""
        with self._lock:
            marker = self._watched.pop(group, "")
            if marker:
                self._tell(f"- {group} {marker}\n")

    def _tell(self, line: str) -> bool:
        """Whether a living guard took the line."""
        if self.process is None or self.process.poll() is not None:
            return False
        pipe = self.process.stdin
        with suppress(BrokenPipeError):
            if pipe is not None:
                pipe.write(line.encode())
                pipe.flush()
                return True
        return False

    def _start(self) -> None:
        """A guard that watches all there is to watch."""
        if self.process is not None and self.process.stdin is not None:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(Path(process_guard.__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={},
            )
        except OSError:
            logger.exception("no guard could be started; servers outlive a program that is killed")
            self.process = None
        for group, marker in self._watched.items():
            self._tell(f"+ {group} {marker}\n")


GUARD = Guard()
"""One for the program, since it outlives every connection; it starts with the first of them."""

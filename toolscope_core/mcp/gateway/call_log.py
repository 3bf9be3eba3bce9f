"""The log of calls: one JSON line each, with what was called and what came of it."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from toolscope_core.mcp.gateway.routing import Original
from toolscope_core.model.errors import ExportError
from toolscope_core.model.tool import JsonObject, canonical_json

Outcome = Literal["ok", "error", "refused", "held", "failed", "cancelled"]
"""*error*: the original said so; *refused*: no original takes the call as it is; *held*: the tool
is held back, whatever the call; *failed*: the original's server did not answer."""


NAMELESS = "a client without a name"


@dataclass(slots=True)
class AgentCall:
    """One call, as far as it is known: ``tool`` as it was called, ``client`` the name that the
    agent's client gives itself, the ``original`` that does it, ``None`` where none does;
    ``old_name`` where it was called by a name of before.
    """

    tool: str
    arguments: JsonObject
    client: str = ""
    original: Original | None = None
    old_name: str = ""
    outcome: Outcome = "cancelled"
    started: float = field(default_factory=time.monotonic)


class CallLog:
    """Counts calls, and writes them to a file where there is one; each line is written at once,
    and ``unwritten`` are those that could not be.

    Arguments are written only if ``with_arguments``; ``notice`` is told of the first call that
    each client makes by each old name. Raises ``ExportError`` where the file cannot be opened.
    """

    def __init__(
        self,
        path: Path | None = None,
        with_arguments: bool = False,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._with_arguments, self._notice = with_arguments, notice
        self.outcomes: Counter[str] = Counter()
        self.old_names: Counter[tuple[str, str]] = Counter()
        """How often each old name was called by which client."""
        self.unwritten = 0
        self._descriptor: int | None = None
        if path is not None:
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
                self._descriptor = os.open(path, flags, 0o600)
            except OSError as error:
                raise ExportError(
                    f"the log {path} cannot be written: {error.strerror}; give another with --log"
                ) from error

    def add(self, call: AgentCall) -> None:
        """Count a call that has ended now, and write its line."""
        self.outcomes[call.outcome] += 1
        if call.old_name:
            use = call.old_name, call.client
            self.old_names[use] += 1
            if self.old_names[use] == 1:
                with suppress(OSError, ValueError):  # nobody reads it any more
                    self._notice(
                        f"{call.client or NAMELESS} calls {call.tool} by its old name "
                        f"{call.old_name}"
                    )
        self._write(self._row(call))

    def _write(self, row: JsonObject) -> None:
        if self._descriptor is not None:
            line = canonical_json(row) + "\n"
            try:
                os.write(self._descriptor, line.encode("utf-8", "backslashreplace"))
            except OSError:  # the call was done, and its result is worth more than its line
                self.unwritten += 1

    def note_waiting(self, server: str, tools: Iterable[str]) -> None:
        """Write a line for each tool of a server that waits until somebody has reviewed it."""
        for tool in tools:
            self._write({"at": _now(), "server": server, "tool": tool, "outcome": "waiting"})

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _row(self, call: AgentCall) -> dict[str, Any]:
        row: dict[str, Any] = {
            "at": _now(),
            "client": call.client,
            "tool": call.tool,
            "original": call.original.tool_id if call.original else "",
            "server": call.original.server if call.original else "",
            "ms": round(1_000 * (time.monotonic() - call.started), 1),
            "outcome": call.outcome,
        }
        if call.old_name:
            row["old_name"] = call.old_name
        if self._with_arguments:
            row["arguments"] = dict(call.arguments)
        return row


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

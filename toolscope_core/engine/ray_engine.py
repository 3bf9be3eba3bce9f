"""An engine on a Ray cluster: the object store holds shared values, and actors run the
functions.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from toolscope_core.files.folders import code_version
from toolscope_core.model.errors import ConfigError, EngineError
from toolscope_core.model.protocols import SharedState, SharedValue, WorkBlock, WorkResult

_RETRIES = 3
"""How often a block is sent again after its worker died. Workers are restarted without limit."""
_AHEAD = 2
"""The number of blocks that a worker has at a time, so that a block is ready when another is
done.
"""
_SECONDS = 10.0
_PACKAGES = ("catalog", "embedding", "engine", "judging", "model", "wording")
"""The packages that affect the result of a block."""
_START = (
    "start one with `ray start --head`, set RAY_AUTH_MODE=token if it needs a token, or omit "
    "--ray-address to use one on this machine"
)


@contextmanager
def ray_engine(address: str | None) -> Iterator[RayEngine]:
    """An engine with one worker for each core of a Ray cluster.

    ``address`` is ``auto``, ``host:port`` or ``ray://host:port``. Without an address, a cluster is
    started on this machine and ends with the block. Raises ``ConfigError`` if there is no such
    cluster, or if the cluster has another version of the program.
    """
    os.environ["RAY_IGNORE_UNHANDLED_ERRORS"] = "1"  # the first error ends the run, and is shown
    if not address:
        _protect()
    elif address != "auto":
        _reach(address)
    import ray  # reads the environment

    try:
        ray.init(
            address or "local",
            include_dashboard=None if address else False,
            log_to_driver=False,
            logging_level="ERROR",
        )
    except (OSError, RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"no Ray cluster at {address or 'local'} ({reason}); {_START}") from error
    try:
        yield RayEngine(max(1, int(ray.cluster_resources().get("CPU", 1))))
    finally:
        ray.shutdown()


def _protect() -> None:
    """Keep our own cluster from sending reports and from accepting callers without this process's
    token.

    This is needed because Ray listens on all addresses of the machine.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


def _reach(address: str) -> None:
    """Raises ``ConfigError`` if nothing listens at the address; Ray itself notices only after
    minutes.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError(f"--ray-address is {address!r}; use auto, host:port or ray://host:port")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(f"no Ray cluster at {address} ({error}); {_START}") from error


class RayEngine:
    """An ``Engine`` that uses actors of the cluster to which this process is connected."""

    def __init__(self, workers: int) -> None:
        import ray

        self._ray = ray
        actor = ray.remote(
            max_restarts=-1, max_task_retries=_RETRIES, scheduling_strategy="SPREAD"
        )(RayWorker)
        names = (f"ToolScope {number}" for number in range(1, workers + 1))
        self._workers = [actor.options(name=name).remote() for name in names]
        self._refs: WeakKeyDictionary[SharedState[Any], Any] = WeakKeyDictionary()
        versions = {self._result(one.version.remote()) for one in self._workers}
        if versions != {code_version(*_PACKAGES)}:
            raise ConfigError(
                "a node of the Ray cluster runs a different version of ToolScope, which may judge "
                "differently; install the same version of toolscope-workbench on all nodes"
            )

    def map_blocks(
        self,
        function: Callable[[SharedValue, WorkBlock], WorkResult],
        shared: SharedState[SharedValue],
        blocks: Iterable[WorkBlock],
    ) -> Iterator[WorkResult]:
        """Gives the next block to the first idle worker; early results wait in the object store.

        Ray's dashboard shows a block under the name of its function, on an actor named *ToolScope
        1*, *ToolScope 2* and so on.
        """
        work = iter(blocks)
        running: dict[Any, Any] = {}
        name = getattr(function, "func", function).__name__.strip("_").replace("_", " ")
        in_order: deque[Any] = deque()

        def send(worker: Any) -> None:
            for block in work:
                result = worker.run.options(name=name).remote(function, [self._ref(shared)], block)
                running[result] = worker
                in_order.append(result)
                return

        for _ in range(_AHEAD):
            for worker in self._workers:
                send(worker)
        while in_order:
            while in_order[0] in running:
                done, _ = self._ray.wait(list(running), fetch_local=False)
                send(running.pop(done[0]))
            yield self._result(in_order.popleft())

    def _ref(self, shared: SharedState[Any]) -> Any:
        """A reference to the value in the object store; the first use stores the value there."""
        if shared not in self._refs:
            self._refs[shared] = self._ray.put(shared.value)
        return self._refs[shared]

    def _result(self, ref: Any) -> Any:
        try:
            return self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, MemoryError):
                raise EngineError(
                    "a worker of the Ray cluster ran out of memory; give its node more "
                    "memory, or fewer CPUs (`ray start --num-cpus`), and run the command "
                    "again; finished work is kept"
                ) from error
            raise error.cause from error
        except self._ray.exceptions.RayError as error:
            reason = " ".join(str(error).split())[:300]
            raise EngineError(
                f"a worker of the Ray cluster died {_RETRIES + 1} times on one block, or cannot "
                f"start ({reason}); give the nodes more memory, or install the same "
                "toolscope-workbench on them, and run the command again; finished work is kept"
            ) from error


class RayWorker:
    """Runs functions in a process of the cluster, and keeps the value that they used last."""

    def __init__(self) -> None:
        self._ref: Any = None
        self._value: Any = None

    def version(self) -> str:
        """The hash of the program on this node."""
        return code_version(*_PACKAGES)

    def run(
        self,
        function: Callable[[SharedValue, WorkBlock], WorkResult],
        refs: list[Any],
        block: WorkBlock,
    ) -> WorkResult:
        """Run a function on a block.

        ``refs`` is a list with one reference, because Ray would fetch a plain argument for each
        call.
        """
        import ray

        if self._ref != refs[0]:
            self._value = None
            self._value, self._ref = ray.get(refs[0]), refs[0]
        result: WorkResult = function(self._value, block)
        return result

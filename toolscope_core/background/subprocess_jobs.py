"""Heavy numbers in a process of their own, which a job watches and can end."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.backends import Progress, Step, Vectors, silent
from toolscope_core.errors import JobError
from toolscope_core.projection import GIVEN, MADE

JobName = Literal["umap", "tsne", "silhouettes"]

MODULE = "toolscope_core.projection"
ROOT = Path(__file__).parents[2]
LOOK_SECONDS = 0.2
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
"""The screen keeps a core, and sums come out in the same order everywhere."""

logger = logging.getLogger(__name__)


def compute(
    task: JobName, vectors: Vectors, counts: Sequence[int] = (), progress: Progress = silent
) -> NDArray[np.float64]:
    """What ``toolscope_core.projection`` makes of the vectors.

    Reports the child's steps; when ``progress`` raises, the child is ended. Raises ``JobError``
    where it ends by itself without a result.
    """
    with tempfile.TemporaryDirectory(prefix="toolscope-") as place:
        folder = Path(place)
        np.save(folder / GIVEN, vectors)
        with (folder / "said").open("w+") as said, (folder / "trouble").open("w+") as trouble:
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", MODULE, task, place, *map(str, counts)],
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=trouble,
                env={**os.environ, **_ONE_THREAD, "PYTHONPATH": _python_path()},
            )
            try:
                _watch(child, folder / "said", progress)
            finally:
                child.kill()
                child.wait()
                if child.stdin:
                    child.stdin.close()
            if child.returncode:
                trouble.seek(0)
                logger.error("%s ended early: %s", task, trouble.read()[-2_000:])
                raise JobError(
                    f"{task} of {len(vectors):,} tools ended early (exit status "
                    f"{child.returncode}); start it again, or look into the log"
                )
        return np.asarray(np.load(folder / MADE), dtype=np.float64)


def _watch(child: subprocess.Popen[bytes], said: Path, progress: Progress) -> None:
    while child.poll() is None:
        lines = said.read_text("utf-8").splitlines(keepends=True)
        told = next((line.split() for line in reversed(lines) if line.endswith("\n")), None)
        progress(Step(told[0], int(told[1]), int(told[2])) if told else Step("ready", 0, 0))
        time.sleep(LOOK_SECONDS)


def _python_path() -> str:
    """Where the child imports from: our own package first, then what we were told ourselves."""
    return os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))

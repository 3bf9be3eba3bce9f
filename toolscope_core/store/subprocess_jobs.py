"""Projections, computed in a child process that a job watches and can stop."""

import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.projection import RESULT_FILE, SAMPLE_FILE, VECTORS_FILE
from toolscope_core.files.folders import child_environment
from toolscope_core.model.errors import JobError
from toolscope_core.model.protocols import Progress, Step, Vectors, silent

JobName = Literal["umap", "tsne"]

MODULE = "toolscope_core.embedding.projection"
_LOOK_SECONDS = 0.2
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
"""One thread, so that a core is left for the screen, and sums are added in the same order
everywhere.
"""

_logger = logging.getLogger(__name__)


def compute(
    task: JobName,
    vectors: Vectors,
    progress: Progress = silent,
    on_sample: Callable[[NDArray[np.float64]], None] | None = None,
) -> NDArray[np.float64]:
    """The result of ``embedding.projection`` for the vectors, computed in a child process.

    Reports the child's steps; if ``progress`` raises, the child is stopped. ``on_sample`` receives
    the projection of a sample as soon as there is one. Raises ``JobError`` if the child exits by
    itself without a result.
    """
    with tempfile.TemporaryDirectory(prefix="toolscope-") as place:
        folder = Path(place)
        np.save(folder / VECTORS_FILE, vectors)
        with (folder / "said").open("w+") as output, (folder / "trouble").open("w+") as trouble:
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", MODULE, task, place],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=trouble,
                env=child_environment(**_ONE_THREAD),
            )
            try:
                _watch(child, folder, progress, on_sample)
            finally:
                child.kill()
                child.wait()
                if child.stdin:
                    child.stdin.close()
            if child.returncode:
                trouble.seek(0)
                _logger.error("%s stopped early: %s", task, trouble.read()[-2_000:])
                raise JobError(
                    f"{task} of {len(vectors):,} tools stopped early (exit status "
                    f"{child.returncode}); start the job again, or look in the log"
                )
        return np.asarray(np.load(folder / RESULT_FILE), dtype=np.float64)


def _watch(
    child: subprocess.Popen[bytes],
    folder: Path,
    progress: Progress,
    on_sample: Callable[[NDArray[np.float64]], None] | None,
) -> None:
    while child.poll() is None:
        if on_sample is not None and (folder / SAMPLE_FILE).exists():
            on_sample(np.load(folder / SAMPLE_FILE))
            on_sample = None
        lines = (folder / "said").read_text("utf-8").splitlines(keepends=True)
        words = next((line.split() for line in reversed(lines) if line.endswith("\n")), None)
        progress(Step(words[0], int(words[1]), int(words[2])) if words else Step("ready", 0, 0))
        time.sleep(_LOOK_SECONDS)

import subprocess

import numpy as np
import pytest

from tests.embedding.test_projection import unit
from toolscope_core.model.errors import JobError
from toolscope_core.store import subprocess_jobs

VECTORS = unit(200, groups=4)


@pytest.fixture
def children(monkeypatch):
    """The processes that were started."""
    started = []

    class Watched(subprocess.Popen):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    return started


def test_the_child_computes_the_same_and_tells_its_steps(children):
    steps = []
    made = subprocess_jobs.compute("tsne", VECTORS, steps.append)
    away = np.linalg.norm(made[:, None] - made[None], axis=2)
    np.fill_diagonal(away, np.inf)
    assert (away.argmin(axis=1) % 4 == np.arange(200) % 4).all()
    assert {"ready"} <= {step.stage for step in steps} <= {"ready", "neighbours", "layout"}
    assert children[0].returncode == 0


def test_a_cancelled_child_is_ended_at_once(children):
    def stop(step):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        subprocess_jobs.compute("umap", VECTORS, progress=stop)
    assert [child.returncode for child in children] == [-9]


def test_a_child_that_fails_is_an_error_with_a_remedy():
    with pytest.raises(JobError, match=r"such-task .* again"):
        subprocess_jobs.compute("no-such-task", VECTORS)


def test_a_child_ends_when_its_parent_does(children):
    """The parent's end closes the child's input."""

    def close(step):
        children[0].stdin.close()

    with pytest.raises(JobError, match="stopped early"):
        subprocess_jobs.compute("umap", VECTORS, progress=close)

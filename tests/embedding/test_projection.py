"""Projections: seeded, in a process of their own, against scikit-learn."""

import io

import numpy as np
import pytest
from sklearn.decomposition import PCA

from toolscope_core.embedding import projection
from toolscope_core.model.protocols import Step


def unit(rows, width=8, seed=0, groups=0):
    """Random unit rows; around as many centres as there are groups."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(rows, width))
    if groups:
        vectors = rng.normal(size=(groups, width))[np.arange(rows) % groups] + 0.2 * vectors
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_pca_has_a_fixed_sign():
    vectors = unit(40)
    flat = projection.pca(vectors)
    oracle = PCA(2, svd_solver="full").fit_transform(vectors.astype(np.float64))
    assert flat.shape == (40, 2)
    assert np.allclose(np.abs(flat), np.abs(oracle), atol=1e-6)
    order = np.random.default_rng(1).permutation(40)
    assert np.allclose(projection.pca(vectors[order]), flat[order], atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 0), (1, 3), (2, 1), (3, 0)])
def test_tiny_catalogs_have_a_projection(shape):
    flat = projection.pca(np.ones(shape, dtype=np.float32))
    assert flat.shape == (shape[0], 2)
    assert np.isfinite(flat).all()


@pytest.mark.parametrize(
    "method", [pytest.param(projection.umap, marks=pytest.mark.nightly), projection.tsne]
)
def test_a_projection_is_the_same_each_time_and_keeps_groups_together(method):
    vectors, steps = unit(60, groups=3), []
    points = method(vectors, steps.append)
    assert np.array_equal(points, method(vectors)), "deterministic for a seed"
    away = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(away, np.inf)
    assert (away.argmin(axis=1) % 3 == np.arange(60) % 3).all()
    layout = [step for step in steps if step.stage == "layout"]
    assert layout, "passes are told while they are made"
    assert layout[-1].done == layout[-1].total


def test_by_a_sample_the_others_lie_between_their_nearest(monkeypatch):
    monkeypatch.setattr(projection, "SAMPLE", 60)
    vectors, steps = unit(150, groups=3), []
    points = projection.sampled("tsne", vectors, steps.append)
    assert {step.stage for step in steps} == {"sample"}
    middles = np.array([points[group::3].mean(axis=0) for group in range(3)])
    away = np.linalg.norm(points[:, None] - middles[None], axis=2)
    assert (away.argmin(axis=1) == np.arange(150) % 3).all()
    assert np.array_equal(points, projection.sampled("tsne", vectors))


def test_copies_find_themselves_first():
    vectors = np.repeat(unit(1), 40, axis=0)
    rows, distances = projection._neighbours(vectors, 15)
    assert rows[:, 0].tolist() == list(range(40))
    assert np.abs(distances).max() < 1e-3


def test_what_libraries_print_becomes_steps():
    steps = []
    heard = projection._PassCounter(steps.append, 1_000)
    for text in ("[t-SNE] Iteration 50: error = 7", "\r7/500", "nothing", "\n"):
        heard.write(text)
    heard.flush()
    assert steps == [Step("layout", 50, 1_000), Step("layout", 7, 500)]


def test_the_process_of_its_own_writes_what_it_made(tmp_path, monkeypatch):
    output = io.StringIO()
    monkeypatch.setattr("sys.__stdout__", output)
    monkeypatch.setattr(projection, "_end_with_the_parent", lambda: None)
    vectors = unit(20, groups=2)
    np.save(tmp_path / projection.VECTORS_FILE, vectors)
    projection._main("tsne", str(tmp_path))
    made = np.load(tmp_path / projection.RESULT_FILE)
    assert np.array_equal(made, projection.tsne(vectors))
    assert output.getvalue().startswith("neighbours 0 0\nlayout ")

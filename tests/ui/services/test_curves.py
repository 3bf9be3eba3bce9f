import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from tests.ui.services import small_workspace
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError
from toolscope_core.wording.boilerplate import compared_texts
from ui.overlap import curves
from ui.shared.services import review


def at(view, threshold):
    row = view.thresholds.index(threshold)
    return {variant.name: int(variant.pairs[row]) for variant in view.variants}


def reopened():
    return small_workspace.opened(read_environment())


def test_copies_collide_before_the_merge_and_not_after_it(opened):
    work, i = opened
    view = curves.curve(work.snapshot(i))
    # three mails, two weathers, two files: 3 + 1 + 1 pairs of copies, of which only the files,
    # on one server, are safe to merge
    assert at(view, 1.0) == {"original": 5, "merged": 4}
    assert [variant.tools for variant in view.variants] == [8, 7]
    small_workspace.accept_drop_in(work, i)
    view = curves.curve(work.snapshot(i))
    assert at(view, 1.0) == {"original": 5, "merged": 1}
    vectors = work.snapshot(i).analysed.vectors
    product = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    assert at(view, 0.5)["original"] == (product >= 0.5).sum()
    assert view.uncounted == ()
    assert view.floor == work.snapshot(i).analysed.threshold


def test_counts_are_made_once_and_a_damaged_file_is_made_again(opened, counts_folder, monkeypatch):
    work, i = opened
    first = curves.curve(work.snapshot(i))
    assert curves.curve(work.snapshot(i)).variants[0] is first.variants[0]
    files = sorted(counts_folder.iterdir())
    assert len(files) == 2
    again = reopened()
    with monkeypatch.context() as patch:
        patch.setattr(curves, "pairs_above", None)
        assert at(curves.curve(again.snapshot(i)), 0.5) == at(first, 0.5)
    for file in files:
        file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    assert at(curves.curve(reopened().snapshot(i)), 0.5) == at(first, 0.5)
    assert sorted(counts_folder.iterdir()) == files


def test_only_a_text_that_changed_is_embedded(opened):
    work, i = opened
    cluster = small_workspace.by_name(work, i, "list_files")
    text = {"description": "List what a folder holds."}
    review.decide(work.snapshot(i), "edit", cluster, "ann", text)
    review.decide(work.snapshot(i), "accept", small_workspace.by_name(work, i, "list_files"), "ann")
    assert curves.curve(work.snapshot(i)).uncounted == ("merged",), "no page waits for a model"
    work.analyses.wait(curves.start(work.snapshot(i)))
    view = curves.curve(work.snapshot(i))
    assert view.uncounted == ()
    assert work.snapshot(i).job(curves.KIND).state == "done"
    analysis = work.snapshot(i).analysed
    plan = work.snapshot(i).plan_under(PlanConfig(accept="auto"))
    assert list(curves.new_texts(analysis, plan).values()) == ["list_files: " + text["description"]]
    oracle = WordEmbedder().encode(compared_texts([item.tool for item in plan.tools]))
    known = curves.plan_vectors(analysis, plan, WordEmbedder().encode)
    assert np.allclose(known, oracle)
    assert at(curves.curve(reopened().snapshot(i)), 0.5) == at(view, 0.5)


def test_an_unusable_folder_is_named(opened, counts_folder):
    work, i = opened
    counts_folder.parent.mkdir(exist_ok=True)
    counts_folder.write_text("a file")
    with pytest.raises(ConfigError, match=str(counts_folder.parent)):
        curves.curve(work.snapshot(i))

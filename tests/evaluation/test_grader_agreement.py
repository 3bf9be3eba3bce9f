"""Grades of people: pairwise κ and τ with the model, on hand-computed cases."""

import pytest

from toolscope_core.evaluation.grader_agreement import (
    IN_A_BAND,
    grader_agreement,
    read_grades,
    tools_to_grade,
)
from toolscope_core.merging.model_verdicts import DocumentationGrade
from toolscope_core.model.errors import ConfigError

MODEL = {f"t{at}": DocumentationGrade(score) for at, score in enumerate((1, 2, 3, 4, 5))}


def test_kappa_is_of_bands_on_the_tools_of_both():
    """Bands L L M H and L M M H: 3 of 4 agree, by chance (2·1 + 1·2 + 1·1) / 16 = 5/16."""
    ann = {"t0": 1, "t1": 2, "t2": 3, "t3": 4}
    bob = {"t0": 2, "t1": 3, "t2": 3, "t3": 5, "t4": 1}
    agreement = grader_agreement({"bob": bob, "ann": ann}, MODEL)
    (pair,) = agreement.pairs
    assert (pair.one, pair.other, pair.tools) == ("ann", "bob", 4)
    assert pair.kappa == pytest.approx((3 / 4 - 5 / 16) / (1 - 5 / 16))
    assert agreement.tools == 5


def test_tau_is_with_the_mean_of_the_bands():
    """One grader, bands L L M H H by the model and L M M H L by her.

    Of ten pairs of tools 4 are in the same order and 2 are not; each side has 2 ties, so τ-b is
    (4 - 2) / √(8 · 8).
    """
    same = {tool: grade.score for tool, grade in MODEL.items()}
    assert grader_agreement({"ann": same}, MODEL).tau == pytest.approx(1.0)
    turned = {tool: 6 - grade.score for tool, grade in MODEL.items()}
    assert grader_agreement({"ann": turned}, MODEL).tau == pytest.approx(-1.0)
    mixed = {"t0": 1, "t1": 3, "t2": 3, "t3": 4, "t4": 2}
    agreement = grader_agreement({"ann": mixed}, MODEL)
    assert agreement.tau == pytest.approx((4 - 2) / 8) and 0 < agreement.p < 1
    both = grader_agreement({"ann": mixed, "bob": same}, MODEL)
    assert agreement.tau < both.tau < 1.0


def test_what_never_varies_has_no_figure():
    alike = dict.fromkeys(MODEL, 3)
    agreement = grader_agreement({"ann": alike, "bob": alike}, MODEL)
    assert (agreement.tau, agreement.p, agreement.pairs[0].kappa) == (None, None, None)
    apart = grader_agreement({"ann": {"t0": 1}, "bob": {"t1": 1}}, MODEL)
    assert (apart.pairs[0].tools, apart.pairs[0].kappa) == (0, None)


def test_the_sheet_has_as_many_tools_of_each_band():
    model = {
        f"{score}-{at:02}": DocumentationGrade(score) for score in (1, 3, 5) for at in range(25)
    }
    model |= {"alone": DocumentationGrade(2)}
    drawn = tools_to_grade(model)
    assert len(drawn) == 3 * IN_A_BAND and drawn == tools_to_grade(dict(reversed(model.items())))
    bands = [model[tool].band for tool in drawn]
    assert {band: bands.count(band) for band in set(bands)} == dict.fromkeys(
        ("Low", "Medium", "High"), IN_A_BAND
    )
    assert tools_to_grade({"a": DocumentationGrade(1)}) == ("a",)


def test_a_sheet_is_read_and_what_is_wrong_with_it_is_said():
    sheet = b"tool,name,grade\n'@a,x,4\nb,y,\nc,z, 1 \n"
    assert read_grades(sheet, "ann.csv") == {"@a": 4, "c": 1}
    for content, word in (
        (b"tool,score\na,1\n", "columns"),
        (b"tool,grade\na,6\n", "'6'"),
        (b"tool,grade\na,\n", "no grades"),
        (b"", "columns"),
        (b"\xff", "UTF-8"),
    ):
        with pytest.raises(ConfigError, match=word) as raised:
            read_grades(content, "ann.csv")
        assert "ann.csv" in str(raised.value)

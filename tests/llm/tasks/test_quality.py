import pytest

from tests.llm.tasks.strategies import reader, tool
from toolscope_core.llm.tasks.quality import QUALITY_TASK
from toolscope_core.merging.model_verdicts import DocumentationGrade

read = reader(QUALITY_TASK, tool(), score=3, lacking=["result"], reason="Thin.")


def test_a_good_answer_is_read():
    assert read() == {"score": 3, "lacking": ["result"], "reason": "Thin."}
    assert read(lacking=["result", "parameters", "result"])["lacking"] == ["parameters", "result"]


@pytest.mark.parametrize(
    "bad",
    [
        *({"score": 0}, {"score": 6}, {"score": 3.5}, {"score": True}, {"score": "5"}),
        *({"lacking": ["x"]}, {"lacking": "result"}, {"lacking": [1]}),
    ],
)
def test_anything_else_is_a_reason(bad):
    assert isinstance(read(**bad), str)


@pytest.mark.parametrize(
    ("score", "band"), [(1, "Low"), (2, "Low"), (3, "Medium"), (4, "High"), (5, "High")]
)
def test_bands(score, band):
    assert DocumentationGrade(score).band == band

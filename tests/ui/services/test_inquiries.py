from dataclasses import asdict

import pytest

from tests.ui.services.small_workspace import catalog
from toolscope_core.llm.run_configuration import configuration, still_holds
from toolscope_core.model.configuration import Endpoint, QuestionConfig

CATALOG = catalog()
TOLD = configuration("quality", Endpoint("http://h/v1", "m"), CATALOG)
TOLD = {**TOLD, "questions": asdict(QuestionConfig())}


def test_what_is_told_today_holds():
    assert still_holds(TOLD, CATALOG)


@pytest.mark.parametrize("name", sorted(TOLD.keys() - {"questions"}))
def test_a_run_of_another_version_of_this_program_does_not_hold(name):
    assert not still_holds({key: value for key, value in TOLD.items() if key != name}, CATALOG)


@pytest.mark.parametrize("questions", [{}, {"paper": True}, {**TOLD["questions"], "more": 1}])
def test_other_knobs_of_its_questions_do_not_hold(questions):
    assert not still_holds({**TOLD, "questions": questions}, CATALOG)

from dataclasses import replace
from itertools import combinations

import pytest

from tests.support.fakes import MemoryLedger, ScriptedModel, WordEmbedder
from tests.support.replies import answering
from tests.support.scripted import judge_says
from tests.ui.services.small_workspace import MAIL, catalog, on
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.llm.estimates import Estimates, judging_estimates
from toolscope_core.llm.merge_questions import ask_for_verdicts
from toolscope_core.llm.model_requests import ModelRequests
from toolscope_core.llm.request_workers import Terms
from toolscope_core.merging.analysing import analyse
from toolscope_core.model.configuration import AnalysisConfig, Prices, QuestionConfig
from toolscope_core.model.decision import Constraints

NOBODY, QUESTIONS = Constraints(), QuestionConfig()


@pytest.fixture
def three(tmp_path, monkeypatch):
    """Three tools that the offline judge makes one of, no two of them copies."""
    said = ("a person.", "a person now.", "one person.")
    tools = [
        replace(on(server, MAIL), description=f"Send a mail to {end}")
        for server, end in zip(("alpha", "beta", "gamma"), said, strict=True)
    ]
    ids = sorted(tool.id for tool in tools)
    judge_says(monkeypatch, dict.fromkeys(combinations(ids, 2), 0.95))
    config = AnalysisConfig(threshold=0.4)
    return analyse(catalog(*tools), config, WordEmbedder(), VectorCache(tmp_path))


@pytest.mark.parametrize("sure", [0.9, 0.05])
def test_what_is_not_known_is_presumed_to_be_what_the_offline_judge_says(three, sure):
    """Merges are implied and bring an audit; if all were presumed *keep*, neither would be."""
    model, ledger = ScriptedModel(answering(lambda one, other: ("merge", sure))), MemoryLedger()
    takes = judging_estimates(three, NOBODY, False, model, ledger, Prices(1.0, 1.0)).tasks
    assert not model.requests and takes["audit"].questions == 1 and takes["audit"].cost > 0
    asking = ModelRequests(model, ledger, Terms("run"))
    ask_for_verdicts(three, NOBODY, asking, QUESTIONS)
    spent = {one.task: (one.questions, one.calls) for one in asking.costs}
    assert spent == {name: (task.questions, task.calls) for name, task in takes.items()}
    assert takes["judge"].questions == 2, "the third follows from two"


def test_what_is_known_is_heard_above_the_offline_judge(three):
    model, ledger = ScriptedModel(answering(lambda one, other: "keep")), MemoryLedger()
    ask_for_verdicts(three, NOBODY, ModelRequests(model, ledger, Terms("run")), QUESTIONS)
    takes = judging_estimates(three, NOBODY, False, model, ledger).tasks
    assert takes["audit"].questions == 0 and Estimates(takes).questions == 0
    assert takes["judge"].reused == takes["judge"].questions == 3

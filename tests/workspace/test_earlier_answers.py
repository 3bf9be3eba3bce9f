"""Answers to a prompt that is no longer in use: not heard, counted, and asked for anew."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.model_server import ModelServer
from tests.replies import answering, same_verb, served
from toolscope_core.backends import Answer, Call
from toolscope_core.config import Budget, Endpoint, read_environment
from toolscope_core.errors import PausedError
from toolscope_core.store import StoredLedger, count_earlier
from toolscope_core.workspace.judging import OFFLINE
from toolscope_core.workspace.workspace import Workspace

STORE = Path(__file__).resolve().parents[1] / "data/version1/store.db"
TOWN = 2
CALL = Call("run", "judge", "m", "http://127.0.0.1", 1)


@pytest.fixture
def work():
    """A desk on the store that the first version of the prompts filled."""
    settings = read_environment()
    shutil.copy(STORE, settings.store_url.removeprefix("sqlite:///"))
    work = Workspace(settings)
    yield work
    work.close()


@pytest.fixture
def server():
    with ModelServer(served(answering(same_verb))) as running:
        yield running


def answer(key, version, *subjects, task="judge"):
    return Answer(key, task, version, subjects, "m", "http://127.0.0.1", {})


def test_only_answers_of_another_version_wholly_on_these_tools_are_counted(work):
    StoredLedger(work.store).commit(
        CALL,
        [
            answer("k1", "1", "a", "b"),
            answer("k2", "0", "a"),
            answer("k3", "2", "a", "b"),
            answer("k4", "1", "a", "elsewhere"),
            answer("k5", "1", "a", task="quality"),
        ],
    )
    assert count_earlier(work.store, {"judge": "2"}, "abc") == 2
    assert count_earlier(work.store, {"judge": "2", "quality": "2"}, "abc") == 3
    assert count_earlier(work.store, {"audit": "2"}, "abc") == 0


def test_a_run_by_the_earlier_prompt_is_not_heard(work):
    (run,) = work.judging.runs(TOWN)
    assert run.state == "done" and run.configuration["prompts"] == {"judge": "1", "audit": "1"}
    assert work.judging.used(TOWN) == run.id, "what was chosen is kept"
    assert work.judging.choices(TOWN) == () and work.judging.opinions(TOWN) is None
    assert work.judging.judge_of(TOWN) == OFFLINE
    assert work.review.disagreements(TOWN) == ()


def test_its_answers_are_counted_with_what_asking_again_takes(work):
    takes = work.judging.estimate(TOWN)
    assert takes.earlier == work.judging.earlier(TOWN) == 14
    assert all(task.reused == 0 for task in takes.tasks.values())
    assert takes.questions > 0 and takes.calls > 0 and takes.cost > 0
    assert work.judging.earlier(1) == 0, "no model was asked about the example"
    assert work.judging.earlier(TOWN, "quality") == 0, "that prompt is still the same"


def test_once_all_is_asked_again_they_are_no_matter(work, server):
    work.endpoints.save(Endpoint(server.url, "m", budget=Budget(calls=0)))
    with pytest.raises(PausedError):
        work.judging.run(TOWN)
    assert not server.received and work.judging.earlier(TOWN) == 14
    work.endpoints.save(replace(work.endpoints.get(), budget=Budget()))
    assert work.judging.run(TOWN).state == "done"
    assert work.judging.estimate(TOWN).earlier == 0
    assert work.judging.judge_of(TOWN).startswith("m at ")

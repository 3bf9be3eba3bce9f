"""Answers in a file: sorted lines, replayed without a model, and why one is missing."""

import json
import re
from dataclasses import replace

import pytest

from toolscope_core.llm.answer_file import AnswerFile, FileRequests
from toolscope_core.llm.chat import EndpointModel
from toolscope_core.llm.tasks import prompt_task
from toolscope_core.llm.tasks.quality import QUALITY_TASK
from toolscope_core.llm.tasks.selection_prompt import SELECTION_TASK, SelectionQuestion
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import ApiKey
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Answer, silent
from toolscope_core.model.tool import Tool

MAIL, WEATHER, NEWS = (Tool(f"a/{n}", n, f"About {n}.") for n in ("mail", "weather", "news"))
RAIN = SelectionQuestion("Will it\u2028rain?", "Will it rain?", (WEATHER, MAIL))
WIND = SelectionQuestion("Is it windy?", "Is it windy?", (WEATHER,))


def model(name="m", **options):
    endpoint = Endpoint("http://localhost:1/v1", name, **options)
    return EndpointModel(endpoint, ApiKey(endpoint.origin, ""))


class Everything:
    """A ledger that has an answer to every question."""

    def answers(self, keys):
        return {key: Answer(key, "", "", (), "", "", {"tool": 1}) for key in keys}


def written(path, *items, task=SELECTION_TASK, by=None):
    file = AnswerFile(path)
    FileRequests(by or model(), Everything(), None, silent, file)(task, items)
    file.write(is_whole=True)
    return path.read_bytes()


def replayed(path, *items, task=SELECTION_TASK, by=None):
    """The values that the file has, and what it says of the others."""
    file = AnswerFile(path, is_required=True)
    answers = FileRequests(by or model(), None, None, silent, file)(task, items)
    return [answer and answer.value for answer in answers], file.open_in_words


def test_answers_are_sorted_lines_and_come_back_without_a_model(tmp_path):
    path = tmp_path / "answers.jsonl"
    first = written(path, WIND, RAIN)
    assert written(path, RAIN, WIND) == first
    rows = [json.loads(line) for line in first.decode().splitlines()]
    assert [row["texts"][1] for row in rows] == ["Is it windy?", "Will it rain?"]
    assert rows[1]["tools"] == ["a/mail", "a/weather"] and rows[1]["value"] == {"tool": 1}
    assert replayed(path, RAIN, WIND) == ([{"tool": 1}] * 2, "")
    assert len(written(path, RAIN).splitlines()) == 1, "what is asked no more is left out"


CHANGED = replace(WEATHER, description="About the weather of tomorrow.")


@pytest.mark.parametrize(
    ("item", "by", "why"),
    [
        (replace(RAIN, tools=(CHANGED, MAIL)), model(), "tools: a/weather"),
        (replace(RAIN, tools=(WEATHER, NEWS)), model(), "tools: a/news"),
        (replace(RAIN, tools=(WEATHER,)), model(), "different set"),
        (replace(RAIN, request="And snow?"), model(), "never asked"),
        (RAIN, model("n"), 'asked of ["n","http://localhost:1",{"temperature":0.0}];'),
        (RAIN, model(temperature=0.5), '{"temperature":0.5}];'),
    ],
)
def test_a_stale_answer_is_named_with_what_changed(tmp_path, item, by, why):
    written(tmp_path / "answers.jsonl", RAIN)
    values, words = replayed(tmp_path / "answers.jsonl", item, by=by)
    assert values == [None] and f" 1 question:\n  selection: {item.request[:3]}" in words
    assert why in words


def test_a_changed_prompt_is_named(tmp_path, monkeypatch):
    written(tmp_path / "answers.jsonl", MAIL, WEATHER, task=QUALITY_TASK)
    versions = {**prompt_task.PROMPT_VERSIONS, "quality": "99"}
    monkeypatch.setattr(prompt_task, "PROMPT_VERSIONS", versions)
    _, words = replayed(tmp_path / "answers.jsonl", MAIL, NEWS, task=QUALITY_TASK)
    assert re.search("quality: a/mail: .* version 99", words)
    assert "a/news: never asked" in words


@pytest.mark.parametrize("damage", [lambda text: '{"task": "selection"}', lambda text: "[]"])
def test_a_file_of_something_else_is_refused(tmp_path, damage):
    path = tmp_path / "answers.jsonl"
    path.write_text(f"{damage(written(path, RAIN).decode())}\n")
    with pytest.raises(ConfigError, match="line 1 is"):
        AnswerFile(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        AnswerFile(tmp_path / "missing.jsonl", is_required=True)


def test_an_answer_that_somebody_edited_is_refused(tmp_path):
    path = tmp_path / "answers.jsonl"
    text = written(path, RAIN).decode()
    path.write_text(text.replace('"tool":1', '"tool":"one"'))
    with pytest.raises(ConfigError, match="line 1 is not a model"):
        AnswerFile(path)

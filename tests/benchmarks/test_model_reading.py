"""A run's prompts are written to a folder, and answers from it count as a model's."""

import json
import re
from itertools import combinations

import pytest

from benchmarks import model_reading
from benchmarks.model_reading import FolderModel, Reading, print_labelled
from tests.support.analyses import analysed
from tests.support.scripted import judge_says
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool

NAMES = ("find_notes", "get_notes", "list_notes")


@pytest.fixture
def analysis(tmp_path, monkeypatch):
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    tools = tuple(Tool(f"a/{name}", name, f"Will {name}.", "a", schema) for name in NAMES)
    judge_says(monkeypatch, dict.fromkeys(combinations([one.id for one in tools], 2), 0.6))
    made = analysed(Catalog(tools), tmp_path, threshold=0.1)
    monkeypatch.setattr(model_reading, "_analysed", lambda reading: made)
    return made


@pytest.fixture
def folder(tmp_path, analysis):
    folder = tmp_path / "reading"
    folder.mkdir()
    run = {"catalog": "a.json", "labels": str(tmp_path / "labels.jsonl"), "batch": 2}
    (folder / model_reading.RUN).write_text(json.dumps(run), "utf-8")
    return folder


def answer(folder, name, **fields):
    """Answer every question of a prompt, in a file of lines beside it."""
    prompt = (folder / f"{name}.md").read_text("utf-8")
    questions = re.findall(r"^(\w{12}): ", prompt, re.MULTILINE)
    lines = [json.dumps({"question": one, "reason": "So.", **fields}) for one in questions]
    (folder / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
    return questions


SAME = {"relation": "duplicate", "serves": "both", "confidence": 0.9}


def test_prompts_wait_until_they_are_answered_and_then_raise_others(folder, capsys):
    model_reading.print_reading(folder)
    assert sorted(path.name for path in folder.glob("*.md")) == [
        *("verdicts-001.md", "verdicts-002.md", "verdicts.md")
    ]
    how = (folder / "verdicts.md").read_text("utf-8")
    assert '"duplicate", "subsumes"' in how and "You curate the toolset" in how
    first = answer(folder, "verdicts-001", **SAME)
    assert len(first) == 2 and first[0] not in how
    model_reading.print_reading(folder)
    assert "waits: verdicts-002.md: 1 answers" in capsys.readouterr().out.splitlines()[-1]
    answer(folder, "verdicts-002", **SAME)
    model_reading.print_reading(folder)
    assert "waits: groups-001.md" in capsys.readouterr().out
    answer(folder, "groups-001", groups=[["t1", "t2", "t3"]])
    model_reading.print_reading(folder)
    shown = capsys.readouterr().out
    assert "judge: 3 questions, 1 calls" in shown and "audit: 1 questions, 1 calls" in shown
    assert "waits:" not in shown and "'drop_in': 1" in shown.split("with the model")[1]
    assert "## drop_in: a/" in (folder / model_reading.PROPOSED).read_text("utf-8")


def test_a_prompt_with_a_missing_or_unusable_answer_is_named(folder, capsys):
    model_reading.print_reading(folder)
    _, second = answer(folder, "verdicts-001", **SAME)
    rows = (folder / "verdicts-001.jsonl").read_text("utf-8").splitlines()
    (folder / "verdicts-001.jsonl").write_text(rows[0], "utf-8")
    capsys.readouterr()
    model_reading.print_reading(folder)
    assert f"verdicts-001.md: 1 answers, {second} " in capsys.readouterr().out
    answer(folder, "verdicts-001", **{**SAME, "relation": "same"})
    model_reading.print_reading(folder)
    assert "unusable: relation is 'same'" in capsys.readouterr().out
    assert len(list(folder.glob("verdicts-*.md"))) == 2, "nothing is written anew"


@pytest.mark.parametrize("text", ["{", '{"question": "x"', "[1]", "{}"])
def test_an_answer_that_is_no_json_is_named(folder, text):
    (folder / "mine.json").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"mine\.json"):
        FolderModel(folder)


def test_labelled_pairs_are_counted_by_the_card_they_are_on(analysis, capsys):
    (cluster,) = (plan := plan_merge(analysis, (), PlanConfig(accept="none"))).clusters or (None,)
    assert cluster is None and plan.tools
    labels = [
        {"left": "a/find_notes", "right": "a/get_notes", "relation": "duplicate", "serves": "both"}
    ]
    print_labelled(plan, labels)
    assert "merges: 0 right, 0 wrong, 1 missed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("catalog", "name"),
    [("/x/files.json", "files"), ("/x/livemcpbench/servers.json", "livemcpbench")],
)
def test_a_catalog_is_named_by_its_file_or_folder(catalog, name):
    assert Reading(catalog).name == name

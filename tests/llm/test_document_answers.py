"""A model's words for merged tools: taken as edits where nothing speaks against them."""

from dataclasses import replace

import pytest

from tests.support.analyses import analysed, asking
from tests.support.catalogs import example_catalog
from tests.support.fakes import ScriptedModel
from tests.support.replies import answering, same_verb
from tests.support.scripted import judge_says
from toolscope_core.llm.document_answers import ask_for_documents, with_documents, with_edits
from toolscope_core.llm.request_workers import RunBudget
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.model_verdicts import ModelVerdicts
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.configuration import Budget, PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import Tool

EVERY = PlanConfig("all", gateway=True)
WORDS = {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}
TEXT = "Finds notes that hold the words."


def writing(document, **terms):
    return asking(ScriptedModel(answering(same_verb, document=document)), **terms)


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Two tools of one server that do the same."""
    tools = (
        Tool("find_notes", "find_notes", TEXT, "desk", schema=WORDS),
        Tool("search_notes", "search_notes", "Searches notes for words.", "desk", schema=WORDS),
    )
    judge_says(monkeypatch, {("find_notes", "search_notes"): 0.99})
    return analysed(Catalog(tools), tmp_path, threshold=0.2)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return analysed(example_catalog(), tmp_path_factory.mktemp("cache"), threshold=0.4)


def worded(analysis, document, log=(), **terms):
    """The analysis with a model's documents, its clusters before, and the log with the edits."""
    clusters = plan_merge(analysis, log, EVERY).clusters
    ask = writing(document, **terms)
    verdicts = with_documents(analysis, clusters, log, ModelVerdicts(ask.name), ask)
    after = replace(analysis, model_verdicts=verdicts)
    return after, clusters, with_edits(after, log)


def test_clusters_that_are_no_copies_are_asked_about(example):
    clusters, tools = plan_merge(example, (), EVERY).clusters, example.catalog.by_id
    answers = ask_for_documents(example.catalog, clusters, writing(None))
    wanted = {c.members for c in clusters if len({tools[m].content_hash for m in c.members}) > 1}
    assert answers.keys() == wanted and wanted


def test_words_become_an_edit_and_change_nothing_else(notes):
    words = "Finds notes by their words."
    after, (before,), log = worded(notes, lambda tools: {"description": words})
    assert after.model_verdicts.refused == {}
    (edit,) = log
    said = ("edit", "fake at 127.0.0.1:1", {"description": words})
    assert (edit.action, edit.reviewer, edit.detail) == said
    (cluster,) = plan_merge(notes, log, EVERY).clusters
    document = replace(before.document, description=words)
    changed = {"document": document, "version": cluster.version, "grown": cluster.grown}
    assert cluster == replace(before, **changed)


def test_a_gateway_keeps_its_structure_and_its_reasons(example):
    def document(tools):
        selectors = [tool["selector"] for tool in tools.values() if "routes" in tool]
        words = [{"name": one, "description": "Which airline."} for one in selectors]
        (draft,) = (tool for name, tool in tools.items() if name.endswith(" draft"))
        return {"name": draft["name"], "description": draft["description"], "parameters": words}

    after, before, log = worded(example, document)
    changed = [one for one in before if one.members in after.model_verdicts.documents]
    assert changed and all(one.kind == "gateway" for one in changed)
    now = {one.members: one for one in plan_merge(example, log, EVERY).clusters}
    for one in changed:
        new = now[one.members]
        text, old = (at.document.schema["properties"][one.selector] for at in (new, one))
        assert text == {**old, "description": "Which airline."}
        assert (new.kind, new.selector, new.reasons) == (one.kind, one.selector, one.reasons)
        assert new.arguments == one.arguments


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("Finds notes. See https://evil.example.", "it cites 'https://evil.example"),
        ("", "at least 1 character"),
    ],
)
def test_what_is_refused_is_listed_with_why_and_the_document_made_offline_stays(notes, words, why):
    after, (before,), log = worded(notes, lambda tools: {"description": words})
    assert log == () and after.model_verdicts.refused.keys() == {before.members}
    assert why in after.model_verdicts.refused[before.members][0]


def test_what_is_not_asked_says_why(notes):
    after, (before,), _ = worded(notes, None, budget=RunBudget(Budget(calls=0)))
    assert "0 calls" in after.model_verdicts.refused[before.members][0]
    assert after.model_verdicts.message


def test_what_a_person_wrote_is_not_asked_about(notes):
    prints = tuple(tool.fingerprint for tool in notes.catalog.tools)
    ids = tuple(tool.id for tool in notes.catalog.tools)
    edit = Decision("edit", prints, ids, "ann", seq=1, detail={"description": "Mine."})
    after, _, log = worded(notes, lambda tools: {"description": "Finds notes by words."}, (edit,))
    assert log == (edit,)
    assert after.model_verdicts.documents == after.model_verdicts.refused == {}


def test_of_a_tool_that_speaks_to_models_nothing_is_taken(notes):
    finding = Finding("search_notes", "warn", "insists", "description", "It insists.", "!")
    catalog = replace(notes.catalog, findings=(finding,))
    after, (before,), log = worded(
        replace(notes, catalog=catalog), lambda tools: {"description": "Finds notes by words."}
    )
    ((members, (reason,)),) = after.model_verdicts.refused.items()
    assert members == before.members and "search_notes" in reason
    assert log == ()

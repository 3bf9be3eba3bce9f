"""The papers' prompts, asked of a real server: quoted whole, read in their own form, kept apart."""

import re
from pathlib import Path

import pytest
from hypothesis import given

from tests.llm.conftest import model_at
from tests.llm.tasks.strategies import ANY_TEXT, TOOLS, keyed, tool
from tests.support.analyses import asking
from tests.support.fakes import MemoryLedger
from toolscope_core.llm.model_requests import key_of
from toolscope_core.llm.tasks import paper_prompts
from toolscope_core.llm.tasks.fence import RULES
from toolscope_core.llm.tasks.judge_prompt import (
    AUDIT_TASK,
    FAMILY_AUDIT_TASK,
    JUDGE_TASK,
    ClusterTools,
    ToolPair,
)
from toolscope_core.llm.tasks.query_draft_prompt import (
    DRAFT_TASK,
    POLISH_TASK,
    DraftQuestion,
    ExampleQuery,
    PolishQuestion,
)
from toolscope_core.llm.tasks.selection_prompt import SELECTION_TASK, SelectionQuestion

A, B, C = tool("find_notes", server="desk"), tool("send_mail", "Send."), tool("read", server="old")
PAIR, CLUSTER = ToolPair(A, B), ClusterTools((A, B, C))
JOB = SelectionQuestion("Find my notes and mail them.", "Find my notes", (A, B))
DRAFT = DraftQuestion((A, B), (ExampleQuery("Is it warm in Oslo?", ("weather",)),))
POLISH = PolishQuestion("Find 3 notes, then mail them.", (A, B))
CANDIDATE = PAIR.ordered[1].name
TOKENS = [*CLUSTER.tokens.values()]
PLACE = DRAFT.in_order.index(B) + 1
SIMILAR = {"relation": "duplicate", "serves": "none", "confidence": 1.0, "reason": "One job."}
OTHER = {**SIMILAR, "relation": "different", "reason": "Two jobs."}
REPLIES = [
    (JUDGE_TASK, PAIR, f"{CANDIDATE}\nOne job.", SIMILAR),
    (JUDGE_TASK, PAIR, f"**Line 1:** `{CANDIDATE}`\n**Line 2:** One job.", SIMILAR),
    (JUDGE_TASK, PAIR, f"<think>None?</think>{CANDIDATE}(text)\n\nOne job.", SIMILAR),
    (JUDGE_TASK, PAIR, "None\nTwo jobs.", OTHER),
    (AUDIT_TASK, CLUSTER, {"merge": "MERGE_OK", "reason": "x"}, {"groups": [TOKENS]}),
    (
        AUDIT_TASK,
        CLUSTER,
        {"merge": "MERGE_BAD", "clusters": [TOKENS[1:]], "reason": "x"},
        {"groups": [TOKENS[:1], TOKENS[1:]]},
    ),
    (SELECTION_TASK, JOB, "None", {"tool": 0}),
    (
        SELECTION_TASK,
        JOB,
        "`send_mail`",
        {"tool": 1 + (JOB.tools[0].content_hash < B.content_hash)},
    ),
    (
        DRAFT_TASK,
        DRAFT,
        {"instruction": "Mail my notes to Ann.", "functions": ["send_mail", "find_notes"]},
        {"tools": [1, 2], "request": "Mail my notes to Ann."},
    ),
    (POLISH_TASK, POLISH, {"instruction": "Mail me 3 notes."}, {"request": "Mail me 3 notes."}),
]
UNUSABLE = [
    (JUDGE_TASK, PAIR, f"{PAIR.ordered[0].name}\nThe target.", "candidate"),
    (AUDIT_TASK, CLUSTER, {"merge": "PERHAPS"}, "MERGE_OK"),
    (AUDIT_TASK, CLUSTER, {"merge": "MERGE_BAD", "clusters": [["t9"]]}, "not asked about"),
    (SELECTION_TASK, JOB, "delete_everything", "listed"),
    (DRAFT_TASK, DRAFT, {"instruction": "Mail it to Ann.", "functions": ["rm", "read"]}, "names"),
    (POLISH_TASK, POLISH, {"instruction": "Mail me my notes."}, "number"),
]


@pytest.mark.parametrize(("task", "item", "reply", "expected"), REPLIES)
def test_a_reply_in_the_form_of_the_paper_is_stored_as_an_answer_of_ours(
    server, task, item, reply, expected
):
    server.answer = lambda body: reply
    requests = asking(model_at(server, prompts="paper"))
    (answer,) = requests(task, [item])
    assert expected.items() <= answer.value.items()
    (received,) = server.received
    assert ("response_format" in received.body) == isinstance(reply, dict)


@pytest.mark.parametrize(("task", "item", "reply", "reason"), UNUSABLE)
def test_a_reply_in_another_form_is_asked_for_again_and_then_unusable(
    server, task, item, reply, reason
):
    server.answer = lambda body: reply
    (answer,) = asking(model_at(server, prompts="paper"))(task, [item])
    assert answer.value is None and reason in answer.reason and len(server.received) == 2


@pytest.mark.parametrize(
    ("task", "item"), {task.name: (task, item) for task, item, *_ in REPLIES}.values()
)
def test_the_paper_is_quoted_whole_and_only_its_slots_are_filled(server, task, item):
    path = Path(paper_prompts.__file__).parent / f"quotations/{task.name.replace(' ', '_')}.txt"
    source, _, printed = path.read_text("utf-8").partition("\n---\n")
    assert source.startswith("Quoted from ") and "appendix" in source
    asking(model_at(server, prompts="paper"))(task, [item])
    (received, *_) = server.received
    assert received.system == RULES
    at = 0
    for part in re.split(r"\{\w+\}", printed):
        at = received.user.index(part, at) + len(part)


def test_answers_in_both_wordings_are_kept_apart(server):
    """Each model is asked once, whatever the other said."""
    ledger, own = MemoryLedger(), model_at(server)
    quoting = model_at(server, prompts="paper")
    server.answer = lambda body: f"{CANDIDATE}\nOne job."
    for _ in range(2):
        (answer,) = asking(quoting, ledger)(JUDGE_TASK, [PAIR])
        assert answer.value["relation"] == "duplicate"
    assert len(server.received) == 1
    assert asking(own, ledger)(JUDGE_TASK, [PAIR])[0].value is None
    assert key_of(JUDGE_TASK, PAIR, own) != key_of(JUDGE_TASK, PAIR, quoting)
    assert asking(own).name != asking(quoting).name
    for model in (own, quoting):
        assert paper_prompts.task_for(FAMILY_AUDIT_TASK, model) is FAMILY_AUDIT_TASK


def test_tools_of_one_name_are_told_apart():
    twins = SelectionQuestion("Find.", "Find", (A, tool("find_notes", "Other notes.", id="b")))
    task = paper_prompts._QUOTED["selection"]
    (key,) = items = keyed(task, twins)
    names = re.findall(r'"name": "(\w+)"', task.request(items).user)
    assert len(set(names)) == 2
    chosen = [task.read(items, {"text": name})[key] for name in names]
    assert chosen == [{"tool": 1}, {"tool": 2}]


@given(ANY_TEXT, ANY_TEXT, TOOLS)
def test_no_text_of_a_stranger_leaves_its_fence(text, job, one):
    for item, task, blocks in (
        (ToolPair(one, B), JUDGE_TASK, 2),
        (ClusterTools((one, B)), AUDIT_TASK, 2),
        (SelectionQuestion(text, job, (one,)), SELECTION_TASK, 3),
        (DraftQuestion((one, B), (ExampleQuery(text, (job,)),)), DRAFT_TASK, 3),
        (PolishQuestion(text, (one,)), POLISH_TASK, 2),
    ):
        quoted = paper_prompts._QUOTED[task.name]
        lines = quoted.request(keyed(task, item)).user.split("\n")
        marks = [line for line in lines if line.startswith("--- ")]
        assert [line.split(" ")[1] for line in marks] == ["begin", "end"] * blocks
        assert len({line.rpartition(" ")[2] for line in marks}) == 1
        printed = paper_prompts._quotation(task.name).split("\n")
        assert len(lines) == len(printed) + 3 * blocks

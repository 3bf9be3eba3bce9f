"""The prompt of each task: as its version names it, and with strangers' text in its fences."""

import pytest
from hypothesis import given

from tests.llm.tasks.strategies import ANY_TEXT, TOOLS, keyed, tool
from toolscope_core.llm.tasks import judge_prompt
from toolscope_core.llm.tasks.quality import QUALITY_TASK
from toolscope_core.llm.tasks.query_draft_prompt import (
    DRAFT_TASK,
    POLISH_TASK,
    DraftQuestion,
    ExampleQuery,
    PolishQuestion,
)
from toolscope_core.llm.tasks.selection_prompt import (
    FILTER_TASK,
    REPHRASING_TASK,
    SELECTION_TASK,
    SPLIT_TASKS,
    WORKER_TASK,
    FilterQuestion,
    SelectionQuestion,
    SplitQuestion,
)
from toolscope_core.llm.tasks.synthesis_prompt import (
    AUGMENTATION_TASK,
    NAMESPACE_TASK,
    SYNTHESIS_TASK,
    MergeDraft,
    NamespaceQuestion,
)
from toolscope_core.merging.synthesis import synthesise
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import digest

A, B, C = tool("find_notes", server="desk"), tool("send_mail", "Send."), tool("read", server="old")
GATEWAY_TOOL = synthesise((A, B))
DESK = (Server("desk", "Notes on a desk."),)
JOBS = (
    SelectionQuestion("Find my notes and mail them.", "Find my notes", (A, B)),
    SelectionQuestion("Read it.", "Read it", (C,)),
)
ONE_BY_ONE = judge_prompt.ToolPair(A, B), judge_prompt.ToolPair(C, A)
GROUPS = judge_prompt.ClusterTools((A, B)), judge_prompt.ClusterTools((B, C, A), DESK)
FILTERS = FilterQuestion("Find, read.", (A, C), {A.id: ("Find",)}), FilterQuestion("Mail", (B,))
SPACES = NamespaceQuestion(DESK[0], (A, B)), NamespaceQuestion(Server("old"), (C,))
DRAFTS = DraftQuestion((A, B), (ExampleQuery("Warm?", ("met",)),)), DraftQuestion((C, A))
POLISHES = PolishQuestion("Find 3.", (A,)), PolishQuestion("Read 4.", (C,))
REQUESTS = SplitQuestion("Find it."), SplitQuestion("Read it.")
SPLITS = SplitQuestion("Find it.", (A,)), SplitQuestion("Mail it.", (B, C))
PROMPTS = [
    (judge_prompt.AUDIT_TASK, GROUPS, "4 2e50e849d4d8"),
    (judge_prompt.FAMILY_AUDIT_TASK, GROUPS, "2 525e30c7b2b2"),
    (AUGMENTATION_TASK, (A, B, C), "2 4974514d8023"),
    (
        judge_prompt.JUDGE_TASK,
        (judge_prompt.ToolPair(A, B, DESK), judge_prompt.ToolPair(C, A)),
        "5 8d1dabb8ee78",
    ),
    (FILTER_TASK, FILTERS, "2 0d8bf68a622b"),
    (NAMESPACE_TASK, SPACES, "1 897471785e3c"),
    (QUALITY_TASK, (A, B, C), "2 8c86624f29c9"),
    (DRAFT_TASK, DRAFTS, "2 4e236ef71e3e"),
    (POLISH_TASK, POLISHES, "1 23a3e433e2cd"),
    (REPHRASING_TASK, JOBS, "1 179096d856ac"),
    (SELECTION_TASK, JOBS, "2 31b3c3c76016"),
    (judge_prompt.SIBLINGS_TASK, ONE_BY_ONE, "3 22c68b89acbe"),
    (SPLIT_TASKS["dummy"], REQUESTS, "1 806db33e0642"),
    (SPLIT_TASKS["context"], SPLITS, "2 a34d3c210c9e"),
    (SYNTHESIS_TASK, (MergeDraft((A, B), GATEWAY_TOOL),), "2 b61ef856c102"),
    (WORKER_TASK, JOBS, "1 08d7d40b555f"),
]


@pytest.mark.parametrize(("task", "items", "expected"), PROMPTS, ids=[t.name for t, *_ in PROMPTS])
def test_a_prompt_stays_as_its_version_names_it(task, items, expected):
    by_key = keyed(task, *items)
    for order in (by_key, dict(reversed(by_key.items()))):
        sent = task.request(order)
        schema = repr(sent.schema)
        shown = (sent.system, sent.user, sent.name, schema, sent.most_tokens, task.batch)
        assert f"{task.version} {digest(*shown)[:12]}" == expected


@given(ANY_TEXT, ANY_TEXT, TOOLS)
def test_no_text_of_a_stranger_leaves_its_fence(text, job, one):
    question = SelectionQuestion(text, job, (one,))
    cases = (
        (SELECTION_TASK, question, 3),
        (WORKER_TASK, question, 3),
        (REPHRASING_TASK, question, 2),
        (FILTER_TASK, FilterQuestion(text, (one,), {one.id: (job,)}), 3),
        (SPLIT_TASKS["context"], SplitQuestion(text, (one,)), 2),
        (DRAFT_TASK, DraftQuestion((one, B), (ExampleQuery(text, (job,)),)), 3),
        (POLISH_TASK, PolishQuestion(text, (one,)), 1),
        (judge_prompt.SIBLINGS_TASK, judge_prompt.ToolPair(one, B), 2),
        (AUGMENTATION_TASK, one, 1),
        (QUALITY_TASK, one, 1),
        (NAMESPACE_TASK, NamespaceQuestion(Server(job, text), (one,)), 1),
    )
    for task, item, blocks in cases:
        lines = task.request(keyed(task, item)).user.split("\n")
        marks = [line for line in lines if line.startswith("--- ")]
        assert [line.split(" ")[1] for line in marks] == ["begin", "end"] * blocks
        assert len({line.rpartition(" ")[2] for line in marks}) == 1
        assert len(lines) == 3 * blocks + 3

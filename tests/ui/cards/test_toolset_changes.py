"""Two states of a toolset: every tool of both is in one row, of the right kind."""

from collections import Counter

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.tool import Tool
from ui.history.decision_list import CHANGES
from ui.history.histories import change_counts, toolset_changes
from ui.shared import data_tables


def plan(*groups, **texts):
    """A plan whose tools stand for these groups; the first of each gives the id."""
    tools = tuple(
        MergedTool(Tool(group[0], group[0], texts.get(group[0], "words")), tuple(sorted(group)))
        for group in sorted(groups)
    )
    return MergePlan(Catalog(()), (), tools, (), ())


def kinds(before, after):
    return [(one.kind, len(one.before), len(one.after)) for one in toolset_changes(before, after)]


def test_merged_split_regrouped():
    assert kinds(plan("a", "b", "c"), plan("ab", "c")) == [("merged", 2, 1), ("unchanged", 1, 1)]
    assert kinds(plan("abc"), plan("ab", "c")) == [("split", 1, 2)]
    assert kinds(plan("ab", "cd"), plan("ac", "bd")) == [("regrouped", 2, 2)]
    assert kinds(plan("ab"), plan("abc")) == [("merged", 1, 1)], "c came and was taken in"
    assert kinds(plan("abc"), plan("ab")) == [("split", 1, 1)], "c was left out"


def test_new_gone_reworded_unchanged():
    now = [("new", 0, 1), ("gone", 1, 0), ("unchanged", 1, 1)]
    assert kinds(plan("a", "b"), plan("b", "c")) == now
    changes = toolset_changes(plan("ab"), plan("ab", a="other words"))
    (row,) = data_tables.records(changes, CHANGES)
    assert row == {"change": "reworded", "before": "a ← b", "after": "a ← b", "what": "description"}
    (row,) = data_tables.records(toolset_changes(plan("ab"), plan("ba")), CHANGES)
    assert (row["before"], row["after"], row["what"]) == ("a ← b", "b ← a", "id, name")


def test_the_count_is_one_phrase_and_every_tool_counts_once():
    before, after = plan("a", "b", "cd", "e"), plan("ab", "c", "d", "f")
    changes = toolset_changes(before, after)
    assert change_counts(changes).split(", ") == ["1 merged", "1 split", "1 new", "1 gone"]
    seen = Counter(item.tool.id for one in changes for item in one.before)
    assert seen == Counter(item.tool.id for item in before.tools)
    seen = Counter(item.tool.id for one in changes for item in one.after)
    assert seen == Counter(item.tool.id for item in after.tools)
    assert change_counts(toolset_changes(before, before)) == ""

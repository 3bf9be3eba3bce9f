"""Whether calls fail more often after a merge than before it, and of how many that can be said."""

import re
from datetime import date
from math import comb

import pytest

from tests.support.catalogs import example_catalog
from toolscope_core.evaluation.calls_after_merges import DatedMerge, calls_after_merges
from toolscope_core.evaluation.query_sets import example_calls
from toolscope_core.model.tool import Tool
from toolscope_core.usage.call_counts import count_calls
from toolscope_core.usage.trace_formats import read_trace
from toolscope_core.usage.traced_calls import CallTrace, TracedCall

A, B, OTHER = (Tool(f"{server}/get", "get", server=server) for server in "abc")
EARLY, DECIDED, LATE = "2026-01-01T09:00:00+00:00", "2026-01-05T12:00:00+00:00", "2026-01-06"
MERGE = DatedMerge((A.id, B.id), "get", DECIDED)


def calls(at, good, failed=0, malformed=0, tool="x", original="a/get"):
    return (
        *[TracedCall(tool, original, at=at)] * good,
        *[TracedCall(tool, original, True, at)] * failed,
        *[TracedCall(tool, original, at=at, is_malformed=True)] * malformed,
    )


def after(*traced, tools=(A, B), **merges):
    figures = count_calls(CallTrace(traced), tools)
    return calls_after_merges(figures, tools, merges or {"merge": MERGE})


def test_a_merge_goes_bad_where_more_calls_fail_or_are_malformed_after_its_day():
    one = after(
        *calls(EARLY, 19, 1),
        *calls(EARLY, 20, original="b/get"),
        *calls(DECIDED, 0, 50),
        *calls("", 0, 50),
        *calls(LATE, 8, 6, 6),
    )["merge"]
    assert (one.before, one.after) == ((40, 1), (20, 12))
    assert (one.of_members[A.id].before, one.of_members[B.id].after) == ((20, 1), (0, 0))
    worse = sum(comb(13, bad) * comb(47, 20 - bad) for bad in (12, 13))
    assert one.corrected_p == pytest.approx(worse / comb(60, 20))
    assert one.went_bad
    rate_before, rate_after, test = re.split(r"(?<=\)) (?:before|after), ", one.in_words)
    assert rate_before.endswith(" 0.025 [0.004, 0.129] (n = 40)")
    assert rate_after == "0.600 [0.387, 0.781] (n = 20)"
    assert "Fisher" in test and " p 0.000 " in test


def test_a_merge_that_got_better_or_stayed_did_not_go_bad():
    assert not after(*calls(EARLY, 0, 20), *calls(LATE, 20))["merge"].went_bad
    assert not after(*calls(EARLY, 15, 5), *calls(LATE, 14, 6))["merge"].went_bad


def test_too_few_calls_on_a_side_say_so_whatever_they_say():
    for early, late, n in ((0, 90, 0), (90, 0, 0), (3, 2, 2)):
        one = after(*calls(EARLY, early), *calls(LATE, 0, late))["merge"]
        assert (one.in_words, one.went_bad) == (f"not enough calls to tell (n = {n})", False)


def test_a_name_counts_for_the_merge_that_alone_has_it():
    refused = calls(LATE, 0, 0, 10, tool="mcp__gateway__get", original="")
    traced = (*calls(EARLY, 10), *refused)
    assert after(*traced)["merge"].after == (10, 10)
    assert after(*traced, tools=(A, B, OTHER))["merge"].after == (0, 0)
    renamed = calls(LATE, 0, 0, 10, tool="get_any", original="")
    merge = DatedMerge(MERGE.members, "get_any", DECIDED)
    assert after(*renamed, merge=merge)["merge"].after == (10, 10)


def test_chances_are_corrected_for_the_merges_that_there_are_calls_of():
    tools = [Tool(f"{server}/{name}", name, server=server) for name in "pq" for server in "ab"]
    merges = {name: DatedMerge((f"a/{name}", f"b/{name}"), name, DECIDED) for name in "pqr"}
    worse = []
    for name in "pq":
        worse += calls(EARLY, 12, original=f"a/{name}")
        worse += calls(LATE, 8, 4, original=f"b/{name}")
    alone = after(*worse, tools=tools, p=merges["p"])["p"]
    both = after(*worse, tools=tools, **merges)
    assert alone.went_bad and not both["p"].went_bad
    assert both["p"].corrected_p == pytest.approx(2 * alone.corrected_p)


def test_the_log_of_the_example_has_one_merge_that_went_bad():
    tools = example_catalog().tools
    trace = read_trace(example_calls(date(2026, 1, 5)), "calls.jsonl")
    assert {call.original for call in trace.calls} <= {tool.id for tool in tools}
    pairs = {
        "calculate": ("day-clock/calculate", "odds-and-ends/calculate"),
        "get_note": ("pinboard-notes/fetch_note", "pinboard-notes/get_note"),
    }
    merges = {name: DatedMerge(ids, name, DECIDED) for name, ids in pairs.items()}
    by_key = calls_after_merges(count_calls(trace, tools), tools, merges)
    assert [name for name, one in by_key.items() if one.went_bad] == ["calculate"]
    assert by_key["get_note"].has_enough

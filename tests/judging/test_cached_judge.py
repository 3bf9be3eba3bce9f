"""A pair is judged once: what is on disk is what the judge says, of these two tools as they are."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tests.judging.test_judge import TOOLS, embed
from toolscope_core.embedding.candidate_pairs import cosines
from toolscope_core.files import cached_values
from toolscope_core.judging import cached_judge
from toolscope_core.judging.cached_judge import CachedJudge
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.model.pair import PairScores

SERVED = tuple(replace(one, server="rates", id=f"rates/{one.id}") for one in TOOLS)


def cached(folder, tools=TOOLS):
    return CachedJudge.of(OfflineJudge.of(tools, embed(tools)), folder)


def all_pairs(tools):
    left, right = np.array(list(combinations(range(len(tools)), 2)), dtype=np.int32).T
    return left, right


def answers(judge, tools=TOOLS):
    left, right = all_pairs(tools)
    answer = judge.pair_probabilities(left, right)
    near = cosines(embed(tools), left, right)
    scores = PairScores(left, right, near, answer.same_job, answer.family)
    return answer.same_job.tolist(), answer.family.tolist(), [*judge.brief_verdicts(scores)]


def judged_anew(tools, monkeypatch, folder):
    """How many pairs of the tools the judge itself is asked about."""
    counts, judge = [], cached(folder, tools)
    for name in ("pair_probabilities", "verdicts"):
        own = getattr(OfflineJudge, name)

        def counted(self, left, right, *rest, own=own, **named):
            counts.append(len(left))
            return own(self, left, right, *rest, **named)

        monkeypatch.setattr(OfflineJudge, name, counted)
    answers(judge, tools)
    monkeypatch.undo()
    return sum(counts)


@pytest.mark.parametrize("tools", [TOOLS, SERVED])
def test_what_is_read_back_is_what_was_said(tools, tmp_path):
    judge = cached(tmp_path, tools)
    fresh = OfflineJudge.of(tools, embed(tools))
    first = answers(judge, tools)
    assert first[0] == fresh.probabilities(*all_pairs(tools)).tolist()
    assert first[2] == [*fresh.verdicts(*all_pairs(tools), brief=True)]
    judge.save()
    assert answers(cached(tmp_path, tools), tools) == first


def test_of_very_many_pairs_those_that_are_kept_apart_have_no_reasons(tmp_path, monkeypatch):
    *first, verdicts = answers(cached(tmp_path))
    outcomes = [verdict.outcome for verdict in verdicts]
    assert 0 < outcomes.count("keep") < len(outcomes)
    monkeypatch.setattr(cached_judge, "MOST_EXPLAINED", 10)
    monkeypatch.setattr(cached_judge, "_BLOCK", 7)
    judge = cached(tmp_path)
    shortened = [
        replace(one, evidence=(), differs=((), ())) if one.outcome == "keep" else one
        for one in verdicts
    ]
    assert answers(judge) == (*first, shortened)
    judge.save()
    assert [path.name for path in (tmp_path / "verdicts").iterdir()] == ["probabilities.json"]


def test_a_run_that_is_killed_goes_on_where_the_file_was_last_written(tmp_path, monkeypatch):
    monkeypatch.setattr(cached_values, "_SAVED", 10)
    monkeypatch.setattr(cached_judge, "_BLOCK", 7)
    left, right = all_pairs(TOOLS)
    blocks = []

    def killed(step):
        blocks.append(step.done)
        if step.done >= 14:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached(tmp_path).pair_probabilities(left, right, killed)
    assert blocks == [0, 7, 14]
    cached(tmp_path).pair_probabilities(left, right, lambda step: blocks.append(step.done))
    assert blocks[3] == 14


def test_only_pairs_of_a_changed_tool_are_judged_again(tmp_path, monkeypatch):
    judge = cached(tmp_path)
    answers(judge)
    judge.save()
    assert judged_anew(TOOLS, monkeypatch, tmp_path) == 0
    for change in (
        {"description": "Get the exchange rate of a day."},
        {"schema": {"type": "object", "properties": {"day": {"type": "string"}}}},
        {"annotations": {"destructiveHint": True}},
        {"raw": {"path": "/rates"}},
        {"name": "exchange_rate_of_a_day"},
    ):
        new_tools = (replace(TOOLS[0], **change), *TOOLS[1:])
        assert judged_anew(new_tools, monkeypatch, tmp_path) == 2 * (len(TOOLS) - 1), change
        fresh = OfflineJudge.of(new_tools, embed(new_tools))
        same_job, _, verdicts = answers(cached(tmp_path, new_tools), new_tools)
        assert same_job == fresh.probabilities(*all_pairs(new_tools)).tolist()
        assert verdicts == [*fresh.verdicts(*all_pairs(new_tools), brief=True)]


def test_what_a_server_is_called_is_a_part_of_its_tools(tmp_path, monkeypatch):
    judge = cached(tmp_path, SERVED)
    answers(judge, SERVED)
    judge.save()
    moved = (replace(SERVED[0], server="notion"), *SERVED[1:])
    assert judged_anew(moved, monkeypatch, tmp_path) >= 2 * (len(SERVED) - 1)


def test_damage_and_another_judge_count_as_nothing(tmp_path, monkeypatch):
    judge = cached(tmp_path)
    first = answers(judge)
    judge.save()
    judge.save()  # nothing new
    size = len(TOOLS) * (len(TOOLS) - 1)
    files = sorted((tmp_path / "verdicts").iterdir())
    assert [path.name for path in files] == ["evidence.json", "probabilities.json"]
    whole = files[1].read_bytes()
    for damaged in (whole[:-1], whole[:-9] + b"7" + whole[-8:], b""):
        files[1].write_bytes(damaged)
        assert judged_anew(TOOLS, monkeypatch, tmp_path) == size / 2
        assert answers(cached(tmp_path)) == first
    files[1].write_bytes(whole)
    monkeypatch.setattr(cached_judge, "code_version", lambda *names: "newer")
    assert answers(cached(tmp_path)) == first
    later = cached(tmp_path)
    answers(later)
    later.save()
    assert files[1].read_bytes() != whole


def test_a_full_file_keeps_what_was_used_last(tmp_path, monkeypatch):
    monkeypatch.setattr(cached_judge, "_MOST", 150)
    first, second = cached(tmp_path), cached(tmp_path, SERVED)
    for judge, tools in ((first, TOOLS), (second, SERVED)):
        answers(judge, tools)
        judge.save()
    monkeypatch.setattr(cached_judge, "_MOST", 1_000)
    assert judged_anew(SERVED, monkeypatch, tmp_path) == 0
    assert judged_anew(TOOLS, monkeypatch, tmp_path) > 0


def test_the_progress_of_few_pairs_moves(tmp_path, monkeypatch):
    monkeypatch.setattr(cached_judge, "_LEAST_BLOCK", 2)
    left, right = all_pairs(TOOLS)
    steps = []
    cached(tmp_path).pair_probabilities(left, right, lambda step: steps.append(step.done))
    assert len(steps) >= 8 and steps == sorted(set(steps))
    assert steps[-1] == len(left)

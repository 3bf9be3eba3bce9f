"""A judge that says what a test wants, whatever the shipped weights are."""

import numpy as np

from toolscope_core.judging import cached_judge
from toolscope_core.judging.judge import OfflineJudge, PairProbabilities


def judge_says(monkeypatch, same_job=None, family=None):
    """From now on each pair of tools has these probabilities, by their ids sorted; 0 for others."""
    same_job, family = same_job or {}, family or {}

    def pair_probabilities(judge, left, right, _):
        ids = [
            tuple(sorted((judge.tools[a].id, judge.tools[b].id)))
            for a, b in zip(left, right, strict=True)
        ]
        return PairProbabilities(
            np.array([same_job.get(pair, 0.0) for pair in ids], dtype=np.float64),
            np.array([family.get(pair, 0.0) for pair in ids], dtype=np.float64),
        )

    monkeypatch.setattr(OfflineJudge, "_pair_probabilities", pair_probabilities)
    version = repr((sorted(same_job.items()), sorted(family.items())))
    monkeypatch.setattr(cached_judge, "code_version", lambda *_: version)  # cached apart

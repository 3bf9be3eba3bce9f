"""The recorded choices of a model on BFCL, replayed on today's lists."""

import pytest

from benchmarks.papers.paper_sets import PaperSet
from benchmarks.papers.toolscope_tables import by_recorded_model

LEAST_ANSWERED = 0.7
"""A change of the search or the merge may change some lists; their choices are recorded again."""


@pytest.mark.shared_data
def test_recorded_choices_of_a_model_are_replayed():
    before, after = by_recorded_model(PaperSet.read("bfcl"))
    for row in (before, after):
        answered, _, asked = row["requests answered"].split()
        assert int(answered) >= LEAST_ANSWERED * int(asked)
        assert row["by rule"][0] < row["csr@5"][0] <= row["oracle"][0]

"""How many tools have how many queries: the bars and their table."""

import pytest

from ui.shared.charts.query_coverage import (
    QueryCoverage,
    bin_of,
    coverage_rows,
)

VIEW = QueryCoverage(("a", "a", "b", "b", "<b>c</b>"), (0, 2, 0, 0, 12))


@pytest.mark.parametrize(
    ("number", "name"), [(0, "0"), (4, "4"), (5, "5–9"), (9, "5–9"), (10, "10 or more")]
)
def test_the_bins(number, name):
    assert bin_of(number) == name


def test_the_table_has_the_server_with_most_tools_left_first():
    rows = coverage_rows(VIEW)
    assert [(row["server"], row["tools"], row["with 0"], row["with 2"]) for row in rows] == [
        ("b", 2, 2, 0),
        ("a", 2, 1, 1),
        ("<b>c</b>", 1, 0, 0),
    ]
    assert rows[2]["with 10 or more"] == 1

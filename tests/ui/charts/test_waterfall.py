import math

from ui.shared.pairs.pair_view import Waterfall, waterfall, waterfall_rows

VIEW = Waterfall(
    ("start", "<b>words</b>", "copies"),
    (-1.0, 2.5, -0.5),
    1 / (1 + math.exp(-1.0)),
    (("merge", 0.8), ("unsure", 0.5)),
)


def test_each_bar_adds_and_the_last_is_the_sum():
    (bars,) = waterfall(VIEW).data
    assert list(bars.x)[:-1] == [-1.0, 2.5, -0.5]
    assert list(bars.measure) == ["relative"] * 3 + ["total"]
    assert list(bars.text) == ["−1.00", "+2.50", "−0.50", "+1.00"]


def test_names_are_plain_text_and_the_sum_is_told_as_a_probability():
    names = waterfall(VIEW).layout.yaxis.ticktext
    assert names[1] == "&lt;b&gt;words&lt;/b&gt;"
    assert names[-1] == "together: 0.73"


def test_the_table_ends_at_the_probability():
    rows = waterfall_rows(VIEW)
    assert [row["sum"] for row in rows] == [-1.0, 1.5, 1.0]
    assert rows[-1]["probability"] == round(VIEW.probability, 3)

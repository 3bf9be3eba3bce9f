import pytest

from toolscope_core.model.cluster import ArgumentMap

DROPPED = {"days": "it has no place"}


@pytest.mark.parametrize(
    ("changes", "lossless", "exact", "applicable"),
    [
        ({}, True, True, True),
        ({"inferred": ("q",)}, True, False, True),
        ({"dropped": DROPPED}, False, False, False),
        ({"dropped": DROPPED, "waived": ("days",)}, False, False, True),
        ({"lossy": ("it is cut",)}, False, False, False),
    ],
)
def test_what_a_map_loses_decides_what_it_is_good_for(changes, lossless, exact, applicable):
    alpha = ArgumentMap("a/find", "search", **changes)
    assert (alpha.lossless, alpha.exact, alpha.applicable) == (lossless, exact, applicable)

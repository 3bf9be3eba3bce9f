from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.merging.pair_graph import ClusterChanges, GroupChange, cluster_changes

SIZE = 8
PARTITIONS = st.lists(st.integers(0, 3), min_size=SIZE, max_size=SIZE).map(
    lambda places: tuple(
        members
        for at in range(4)
        if len(members := tuple(chr(97 + i) for i, p in enumerate(places) if p == at)) > 1
    )
)


def test_changes_are_named():
    before = (("a", "b"), ("c", "d", "e"), ("f", "g"), ("p", "q"))
    after = (("a", "b", "x"), ("c", "d"), ("h", "i"), ("p", "q"))
    assert cluster_changes(before, after) == ClusterChanges(
        appeared=(("h", "i"),),
        grown=(GroupChange(("a", "b", "x"), (("a", "b"), ("x",))),),
        split=(GroupChange(("c", "d", "e"), (("c", "d"), ("e",))),),
        vanished=(("f", "g"),),
    )
    joined = cluster_changes((("a", "b"), ("c", "d", "e")), (("a", "b", "c", "d", "e"),))
    assert joined.grown == (GroupChange(tuple("abcde"), (("c", "d", "e"), ("a", "b"))),)
    assert len(joined) == 1


@given(PARTITIONS, PARTITIONS)
def test_changes_turn_round(before, after):
    there, back = cluster_changes(before, after), cluster_changes(after, before)
    assert there.appeared == back.vanished
    assert there.grown == back.split
    assert len(cluster_changes(before, before)) == 0
    assert (len(there) == 0) == (set(before) == set(after))

from hypothesis import given
from hypothesis import strategies as st

from tests.support.catalogs import unmerged
from toolscope_core.catalog.splitting import parts_in_words, servers_of, split
from toolscope_core.model.tool import Tool


def items(**sizes):
    rows = [(server, n) for server, size in sizes.items() for n in range(size)]
    return unmerged(Tool(f"{server}/{n:02}", "t", server=server) for server, n in rows)


def sizes(parts):
    return [(servers_of(part), len(part)) for part in parts]


def test_servers_stay_whole_and_fill_up():
    parts = split(items(a=3, b=4, c=2, d=1), 5)
    assert sizes(parts) == [(("a", "c"), 5), (("b", "d"), 5)]
    assert parts_in_words(parts) == "a, c (5); b, d (5)"


def test_what_fits_is_one_part():
    assert split(items(a=3), 3) == (tuple(items(a=3)),)
    assert split(items(a=3), None) == (tuple(items(a=3)),)
    assert split([], 3) == ((),)


def test_many_parts_are_told_in_short():
    def words(servers, size, most):
        return parts_in_words(split(items(**{f"s{n}": size for n in range(servers)}), most))

    assert words(6, 2, 2) == "s0 (2); s1 (2); s2 (2); s3 (2); and 2 more"
    assert words(12, 1, 6).startswith("s0, s1, s10, s11 …")


@given(
    st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=30),
    st.integers(1, 7),
    st.randoms(use_true_random=False),
)
def test_every_tool_is_in_one_part_in_any_order(servers, most, random):
    tools = unmerged(Tool(f"{n:02}", "t", server=one) for n, one in enumerate(servers))
    parts = split(tools, most)
    ids_of_parts = sorted(item.tool.id for part in parts for item in part)
    assert ids_of_parts == [item.tool.id for item in tools]
    assert all(len(part) <= most for part in parts)
    for server in set(servers):
        if servers.count(server) <= most:
            assert sum(any(i.tool.server == server for i in part) for part in parts) == 1
    random.shuffle(tools)
    assert split(tools, most) == parts

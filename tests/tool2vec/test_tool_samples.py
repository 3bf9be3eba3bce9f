"""Which tools are shown together: all get their turn, and those of a server go together."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool
from toolscope_core.tool2vec.query_writing import ALIKE, TOOLS, tool_samples
from toolscope_core.wording.tool_text import tool_text


def tool(server, number, about=""):
    name = f"{server or 'tool'}{number:02}"
    return Tool(f"{server}/{name}", name, about or f"{server} does {name} for {number}", server)


SERVERS = Catalog(
    tuple(tool(server, number) for server in ("bank", "mail", "zoo") for number in range(8))
)


def vectors(catalog):
    return WordEmbedder().encode([tool_text(one) for one in catalog.tools])


def ids(samples):
    return [[one.id for one in sample] for sample in samples]


def drawn(count, catalog=SERVERS, **more):
    return tool_samples(catalog, vectors(catalog), count, **more)


def test_every_tool_leads_once_before_any_leads_again():
    leaders = Counter(sample[0].id for sample in drawn(2 * len(SERVERS.tools)))
    assert set(leaders.values()) == {2} and len(leaders) == len(SERVERS.tools)
    order = [sample[0].id for sample in drawn(2 * len(SERVERS.tools))]
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    assert len(set(first)) == len(first) and sorted(first) != first != second


def test_a_sample_is_ten_different_tools_most_of_one_server():
    for sample in drawn(24):
        assert len({one.id for one in sample}) == TOOLS
        own = sum(one.server == sample[0].server for one in sample)
        assert 6 <= own < TOOLS, "its server's come first, and others are there too"


def test_a_smaller_count_is_the_beginning_of_a_larger_and_a_seed_changes_it():
    assert ids(drawn(30))[:7] == ids(drawn(7))
    assert ids(drawn(7, seed=1)) != ids(drawn(7))
    turned = Catalog(SERVERS.tools, SERVERS.servers, "mcp")
    assert ids(drawn(7, turned)) == ids(drawn(7))


def test_tools_without_a_query_lead_first():
    have = {one.id: 2 for one in SERVERS.tools if one.server != "zoo"}
    leaders = [sample[0] for sample in drawn(32, queries=have)]
    assert [one.server for one in leaders[:16]] == ["zoo"] * 16, "two turns alone"
    assert {one.server for one in leaders[16:]} == {"bank", "mail", "zoo"}


def test_copies_and_blocked_tools_are_not_shown():
    copy = replace(SERVERS.tools[0], id="elsewhere", server="other")
    bad = Finding("mail/mail03", "block", "code", "name", "words")
    catalog = Catalog((*SERVERS.tools, copy), findings=(bad,))
    shown = {one for sample in ids(drawn(48, catalog)) for one in sample}
    assert shown == {one.id for one in SERVERS.tools} - {"mail/mail03"}


def test_without_servers_the_nearest_go_together():
    catalog = Catalog(
        tuple(
            replace(tool("", number, f"{word} {word} {word} {number}"), id=f"{word}{number}")
            for word in ("bread", "stone", "cloud", "piano", "river", "engine", "candle")
            for number in range(12)
        )
    )
    rows = vectors(catalog)
    near = np.mean(
        [
            [one.id[:5] == sample[0].id[:5] for one in sample[1:]]
            for sample in tool_samples(catalog, rows, 40)
        ]
    )
    assert near > 2 / 7, "more often than chance"


def test_of_tools_that_say_the_same_one_is_shown():
    names = ("a", "b", "c", "d")
    catalog = Catalog(tuple(Tool(one, one, "words") for one in names))
    same = np.zeros((4, 2), dtype=np.float32)
    same[:, 0] = (1, 1, 1, 0)
    same[3, 1] = 1
    for sample in tool_samples(catalog, same, 4):
        own = [one.id for one in sample]
        assert len(own) == 2 and "d" in own
    assert ALIKE < 1.0
    everything_alike = tool_samples(catalog, same[[0, 1, 2, 2]], 1)
    assert len(everything_alike[0]) == 4, "there is nothing else to show"


@pytest.mark.parametrize("tools", [(), (Tool("a", "a"),), (Tool("a", "a"), Tool("b", "a"))])
def test_fewer_than_two_different_tools_are_refused(tools):
    with pytest.raises(ConfigError, match="give a catalog"):
        drawn(1, Catalog(tools))

"""What stands beside the merge graph, on a chain of three tools."""

import pytest

from tests.support.scripted import judge_says
from tests.ui.services import small_workspace
from toolscope_core.model.pair import Pair, pair_key
from ui.shared.services import review
from ui.shared.tools import tool_selection

WORDS = {
    "add_book": "Add a book to the library.",
    "add_new_book": "Add a new book to the library.",
    "register_book": "Register a book in the library.",
}
ADD, NEW, REGISTER = (f"s{at}/{name}" for at, name in enumerate(WORDS))


@pytest.fixture
def chain(open_app, monkeypatch):
    """The ends are too far from each other to be candidates, so no edge joins them."""
    judge_says(monkeypatch, {(ADD, NEW): 0.99, (NEW, REGISTER): 0.95, (ADD, REGISTER): 0.9})
    shelf = {name: {"type": "string"} for name in ("title", "author", "year")}
    numbered = enumerate(WORDS.items())
    tools = (small_workspace.tool(f"s{at}", name, text, **shelf) for at, (name, text) in numbered)
    return open_app(*tools)


def opened(chain, **query):
    """The page with the one cluster drawn."""
    (cluster,) = chain.now.plan.clusters
    return chain.open("graph", drawn=cluster.id, **query)


def at_edge(chain, *ends):
    return opened(chain, edge=pair_key(Pair.of(*ends)))


def links_of(app):
    return app.widget("dataframe", "links_").value


def labels(app):
    """What the links to other pages say, but for the one to the card."""
    return [link.proto.label for link in app.at.get("page_link")][:-1]


def decisions(chain):
    return [decision.action for decision in review.active_decisions(chain.now)]


def test_the_bridges_are_offered_first(chain):
    links = links_of(opened(chain))
    assert list(links["tools without it"]) == ["2 and 1", "1 and 2"]
    assert list(links["tool A"]) == ["add_new_book", "add_book"], "the weakest first"


def test_split_here_makes_the_decision_and_draws_what_becomes_of_it(chain):
    at_edge(chain, NEW, REGISTER).press("split_")
    (split,) = review.active_decisions(chain.now)
    assert split.action == "recut"
    (left,) = chain.now.plan.clusters
    assert (left.members, left.state) == ((ADD, NEW), "proposed")
    assert chain.at.query_params["drawn"] == left.id
    assert chain.figures("kept out")[-1] == 2
    chain.expand("trail").press("recent_undo_")
    assert decisions(chain) == []
    whole = review.cluster(chain.now, chain.at.query_params["drawn"])
    assert whole.members == (ADD, NEW, REGISTER)


def test_where_correction_cut_already_there_is_no_button(chain):
    (cluster,) = chain.now.plan.clusters
    review.decide(chain.now, "drop", cluster, "ann", {"drop": [REGISTER]})
    opened(chain)
    assert list(links_of(chain)["tools without it"]) == [""], "two tools have no bridge"
    assert not chain.widgets("button", "split_")


def test_an_edge_of_another_part_is_not_shown_and_close_lets_go(chain):
    opened(chain, edge="000000000000~111111111111")
    assert not labels(chain)
    assert "Compare the pair" in labels(at_edge(chain, ADD, NEW))
    chain.press("edge_close")
    assert "edge" not in chain.at.query_params


def test_a_selected_tool_shows_its_links(chain):
    kept = tool_selection.keep(chain.now, [NEW], "the map")
    app = opened(chain, sel=kept.key)
    assert r"add\_new\_book" in app.text
    assert len(links_of(app)) == 2
    assert {"add_new_book"} < set(links_of(app)["tool B"]) | set(links_of(app)["tool A"])
    assert app.button("open_graph_")

"""Families on the screen: counted, queued, drawn, edited and exported apart from duplicates."""

from dataclasses import replace

import pytest

from tests.ui.services import family_catalog
from tests.ui.services.small_workspace import by_name
from toolscope_core.judging.relation_words import apart_of, serving_of
from toolscope_core.model.pair import Pair, Verdict
from toolscope_core.model.tool import Tool
from ui.documents.document_form import document_checks
from ui.shared.cards.queue import short_kind
from ui.shared.graph import components
from ui.shared.services import review

BANKS = tuple(tool.id for tool in family_catalog.BANKS)
SCHWAB = "get_positions_schwab"


@pytest.fixture
def own(monkeypatch):
    return family_catalog.open_families(monkeypatch)


# Counted and queued --------------------------------------------------------------------------


# Pairs ---------------------------------------------------------------------------------------


def test_what_tells_two_tools_apart_is_said_of_pairs_that_nobody_is_sure_of():
    def taking(key):
        return {"type": "object", "properties": {key: {}}, "required": [key]}

    def apart(outcome):
        tools = tuple(
            Tool(f"{place}_door", "get_door", "Get a door.", schema=taking(f"{place}_id"))
            for place in ("attic", "cellar")
        )
        verdict = Verdict(Pair.of("attic_door", "cellar_door"), 0.9, 0.7, outcome)
        return apart_of(verdict, tools)

    (key_of,) = apart("unsure")
    assert "key" in key_of and "attic / cellar" in key_of
    (nothing,) = apart("merge")
    assert "main words also occur" in nothing and "attic" not in nothing


# The graph -----------------------------------------------------------------------------------


def test_a_family_is_a_row_of_the_graph_and_drawn_by_its_own_links(work, catalog_id):
    (bank,) = components.clusters(work.snapshot(catalog_id))
    cluster = bank.cluster
    assert (cluster.document.name, short_kind(cluster)) == (SCHWAB, "family")
    assert (len(cluster.members), cluster.weakest_edge) == (3, 0.7)
    assert (bank.density, bank.bridges) == (1.0, 0)
    part = components.network(work.snapshot(catalog_id), cluster.id)
    assert [node.id for node in part.nodes] == list(BANKS)
    assert {edge.link for edge in part.edges} == {"family"} and len(part.edges) == 3
    assert not any(edge.joins for edge in part.edges)


def test_an_accepted_family_is_one_row_and_joined_by_the_person(work, catalog_id):
    review.decide(work.snapshot(catalog_id), "accept", by_name(work, catalog_id, SCHWAB), "ann")
    rows = components.clusters(work.snapshot(catalog_id))
    (bank,) = [row for row in rows if len(row.cluster.members) == 3]
    assert bank.cluster.state == "accepted"
    edges = components.network(work.snapshot(catalog_id), bank.cluster.id).edges
    assert sorted(edge.link for edge in edges) == ["family", "joined", "joined"]
    assert (bank.density, bank.bridges, bank.intransitive) == (1.0, 0, 0), "as before it was"
    assert {edge.probability for edge in edges} == {0.7, 0.8}, "the judge's, of a family"


# Documents and export ------------------------------------------------------------------------


BOTH_WAYS = Tool("a", "get_door", "Get a door.")


def test_nobody_is_said_to_serve_whom_where_parameters_are_not_known():
    def sentence(one, other, name="fetch_door"):
        pair = (replace(BOTH_WAYS, schema=one), replace(BOTH_WAYS, id="b", name=name, schema=other))
        return serving_of(Verdict(Pair("a", "b"), 0.9, 0.7, "unsure", relation="duplicate"), pair)

    known = {"type": "object", "properties": {"key": {"type": "string"}}}
    assert "of get_door and fetch_door are" in sentence(None, None)
    assert "of fetch_door are unknown" in sentence(known, None)
    by_maps = sentence(known, known)
    assert "each could take" in by_maps, "though the verdict says that none serves"
    assert sentence(known, known, "get_gate") == "", "a name says what the other does not"


def test_a_merge_of_unknown_parameters_is_not_called_lossless(work, catalog_id):
    cluster = by_name(work, catalog_id, "get_recipe")
    tools = [work.snapshot(catalog_id).catalog.by_id[member] for member in cluster.members]
    assert all(one.holds for one in document_checks(cluster, tools)[1:3])
    silent = document_checks(cluster, [replace(tool, schema=None) for tool in tools])
    unknown = f"the parameters of {', '.join(cluster.members)} are unknown"
    assert [(one.holds, one.reason) for one in silent[1:3]] == [(False, unknown)] * 2

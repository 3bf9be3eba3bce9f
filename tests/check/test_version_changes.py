"""Which tools of two catalogs are one, and what the diff says of the others."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.merging.strategies import tools
from toolscope_core.catalog import renamed_tools as module
from toolscope_core.catalog.renamed_tools import new_ids_of
from toolscope_core.check.version_changes import diff
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}


def tool(name, description, *parameters, server="s"):
    schema = {"type": "object", "properties": dict.fromkeys(parameters, TEXT)}
    return Tool(f"{server}/{name}", name, description, server, schema)


GET = tool("get_note", "Read one note by its identifier.", "note_id")
TAG = tool("tag_note", "Put a tag on a note.", "note_id", "tag")
PAY = tool("pay_bill", "Pay what is owed.", "account", "amount")


def catalog(*found):
    return Catalog(tuple(sorted(found, key=lambda item: item.id)))


def names(found):
    return [item.name for item in found]


def test_added_removed_and_changed_are_told_apart():
    other = replace(TAG, description="Put one tag on a note.")
    found = diff(catalog(GET, TAG), catalog(other, PAY))
    assert (names(found.added), names(found.removed)) == (["pay_bill"], ["get_note"])
    (change,) = found.changed
    assert not change.is_renamed
    assert [item.field for item in change.fields] == ["description"]
    assert [(row.kind, row.tool_id) for row in found.rows] == [
        ("removed", "s/get_note"),
        ("changed", "s/tag_note"),
        ("added", "s/pay_bill"),
    ]
    assert found.breaking == 1, "only the tool that is gone"


def test_a_rename_is_neither_removed_nor_added_and_breaks_callers():
    fetch = tool("fetch_note", "Read one note by its identifier.", "note_id")
    found = diff(catalog(GET, PAY), catalog(fetch, PAY))
    assert found.added == found.removed == ()
    assert [(c.old.id, c.new.id, c.is_renamed) for c in found.changed] == [
        ("s/get_note", "s/fetch_note", True)
    ]
    assert [(row.kind, row.change.field) for row in found.rows] == [("renamed", "name")]
    assert found.breaking == 1


def test_each_tool_is_renamed_once_and_to_the_most_alike():
    fetch = tool("fetch_note", "Read one note by its identifier.", "note_id")
    grab = tool("get_a_note", "Read one note by its identifier.", "note_id")
    found = diff(catalog(GET), catalog(fetch, grab))
    assert [(c.old.name, c.new.name) for c in found.changed] == [("get_note", "get_a_note")]
    assert names(found.added) == ["fetch_note"]


def test_ties_go_to_the_first_id_in_any_order():
    old, one, two = (tool(f"note_{n}", "Read one note.", "note_id") for n in (1, 2, 3))
    for come in ((one, two), (two, one)):
        found = diff(Catalog((old,)), Catalog(come))
        assert [(c.old, c.new) for c in found.changed] == [(old, one)]
        assert found.added == (two,)
        back = diff(Catalog(come), Catalog((old,)))
        assert [(c.new, c.old) for c in back.changed] == [(old, one)]
        assert back.removed == (two,)


def test_a_tool_with_a_new_id_is_the_same_tool():
    found = diff(catalog(GET), catalog(replace(GET, id="7", description="Other words.")))
    assert [item.field for item in found.changed[0].fields] == ["id", "description"]
    assert not found.changed[0].is_renamed


@pytest.mark.parametrize("blank", ["", "…"])
def test_blank_descriptions_decide_nothing_wrong(blank):
    found = diff(catalog(tool("a", blank)), catalog(tool("zzz", blank)))
    assert names(found.added) == ["zzz"]
    assert names(found.removed) == ["a"]


def test_too_many_unmatched_tools_are_not_compared(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 0)
    found = diff(catalog(GET), catalog(tool("fetch_note", GET.description, "note_id")))
    assert (len(found.added), len(found.removed), len(found.changed)) == (1, 1, 0)


@st.composite
def catalogs(draw):
    ids = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5))
    return Catalog(tuple(draw(tools(tool_id)) for tool_id in ids))


@given(catalogs(), catalogs(), st.randoms(use_true_random=False))
def test_the_way_back_mirrors_the_way_there(old, new, random):
    there, back = diff(old, new), diff(new, old)
    assert (there.added, there.removed) == (back.removed, back.added)
    ways = [sorted((c.old.id, c.new.id) for c in there.changed)]
    ways.append(sorted((c.new.id, c.old.id) for c in back.changed))
    assert ways[0] == ways[1]
    shuffled = [random.sample(c.tools, len(c.tools)) for c in (old, new)]
    assert diff(*(Catalog(tuple(found)) for found in shuffled)) == there


@given(catalogs(), catalogs())
def test_every_tool_is_told_of_once(old, new):
    found = diff(old, new)
    kept = {t.id for t in new.tools} - {t.id for t in found.added}
    assert len(kept) == len(old.tools) - len(found.removed)
    assert {c.new.id for c in found.changed} <= kept


FETCH = tool("fetch_note", "Read one note by its identifier.", "note_id")


def test_new_ids_are_those_of_renamed_tools_only():
    moved = replace(TAG, id="other/tag_note", server="other")
    assert diff(catalog(GET, PAY, TAG), catalog(FETCH, PAY, moved)).new_ids == {
        "s/get_note": "s/fetch_note",
        "s/tag_note": "other/tag_note",
    }


def test_a_tool_of_which_alone_is_known_is_looked_for_on_its_server():
    twin = replace(GET, id="other/get_note", server="other")
    assert new_ids_of([GET, PAY], catalog(FETCH, PAY, twin)) == {GET.id: FETCH.id}
    assert new_ids_of([GET, PAY], catalog(PAY, twin)) == {}, "the twin may have been there"
    assert new_ids_of([GET, PAY], catalog(GET, FETCH, PAY)) == {}
    assert new_ids_of([GET, FETCH], catalog(FETCH)) == {}, "that is another one of them"


def test_a_renamed_server_is_one_that_none_of_the_earlier_tools_had():
    on_new = replace(GET, id="new/get_note", server="new")
    decided = replace(PAY, id="other/pay_bill", server="other")
    on_other = replace(GET, id="other/get_note", server="other")
    assert new_ids_of([GET, decided], catalog(on_new, on_other, decided)) == {GET.id: on_new.id}

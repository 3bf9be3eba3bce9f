from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.catalogs import accepting
from tests.support.postgres import BOTH, new_url
from toolscope_core.model.catalog import Catalog, Finding, Problem, Server
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import StoreError
from toolscope_core.model.tool import Tool
from toolscope_core.store.catalog_rows import (
    delete_catalog,
    list_catalogs,
    load_catalog,
    rename_catalog,
    save_catalog,
)
from toolscope_core.store.decision_rows import append_decision, read_log
from toolscope_core.store.engine import Store
from toolscope_core.store.jobs import end_job, start_job

WEIRD = "\ud800 \x00 \u2028 null NaN 007 é 🙂"
CATALOG = Catalog(
    tools=(
        Tool("a", "a", schema=None, raw={"deep": [1, {"x": None}], "big": 10**30, "f": 1e-7}),
        Tool(
            *(WEIRD, WEIRD, WEIRD, "s", accepting(**{"z": {}, WEIRD: {"enum": [WEIRD]}})),
            *({"type": "string"}, {"readOnlyHint": True}, {WEIRD: WEIRD}),
        ),
    ),
    servers=(Server("s", WEIRD, {"type": "namespace", "name": "s", WEIRD: [WEIRD, None]}),),
    format="mcp",
    problems=(Problem("line 3", WEIRD, WEIRD),),
    findings=(Finding(WEIRD, "block", "hidden", "description", WEIRD, WEIRD),),
)


@pytest.fixture(scope="module", params=BOTH)
def store(request, tmp_path_factory):
    store = Store(new_url(request, tmp_path_factory.mktemp("store")))
    yield store
    store.close()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), json_values, max_size=3)
texts = st.text(st.characters())  # lone surrogates included
tools = st.builds(
    Tool.declared_in,
    st.builds(
        Tool, texts, texts, texts, texts, st.none() | objects, st.none() | objects, objects, objects
    ),
    texts,
)


@given(st.builds(Catalog, st.lists(tools, max_size=3).map(tuple), format=texts), texts)
def test_any_catalog_comes_back_exactly(store, catalog, name):
    record = save_catalog(store, f"n{name}", catalog)
    stored = load_catalog(store, record.id)
    assert stored == catalog
    assert [one.raw_format for one in stored.tools] == [one.raw_format for one in catalog.tools]
    assert save_catalog(store, f"n{name}", catalog) == record


def test_versions_of_a_name_are_kept_and_an_equal_import_adds_none(store):
    first = save_catalog(store, "shop", CATALOG)
    assert save_catalog(store, "shop", CATALOG) == first
    changed = replace(CATALOG, tools=CATALOG.tools[:1])
    second = save_catalog(store, "shop", changed)
    third = save_catalog(store, "shop", CATALOG)
    assert [record.number for record in (first, second, third)] == [1, 2, 3]
    listed = [record for record in list_catalogs(store) if record.name == "shop"]
    assert listed == [third, second, first]
    assert load_catalog(store, first.id) == CATALOG
    assert load_catalog(store, second.id) == changed


def test_what_the_version_leaves_out_is_not_lost_on_import(store):
    save_catalog(store, "servers", CATALOG)
    described = replace(CATALOG, servers=(Server("s", "new words"),))
    assert described.version == CATALOG.version
    assert load_catalog(store, save_catalog(store, "servers", described).id) == described


@pytest.mark.case(2, 31)
def test_an_import_that_breaks_half_way_leaves_nothing(store):
    broken = replace(CATALOG, tools=(*CATALOG.tools, Tool("z", "z", raw={"x": object()})))
    with pytest.raises(TypeError):
        save_catalog(store, "broken", broken)
    assert "broken" not in {record.name for record in list_catalogs(store)}


def test_a_blank_name_and_an_unknown_id_are_refused(store):
    with pytest.raises(StoreError, match="name is blank"):
        save_catalog(store, " ", CATALOG)
    with pytest.raises(StoreError, match="no catalog 999"):
        load_catalog(store, 999)


def test_more_tools_than_one_statement_takes_come_back(store):
    many = Catalog(tuple(Tool(f"{i:05}", f"tool {i}", "words " * 20) for i in range(2_500)))
    record = save_catalog(store, "many", many)
    assert load_catalog(store, record.id).version == many.version


def used(store, name):
    """A catalog of two versions and a decision; its ids."""
    ids = [save_catalog(store, name, Catalog((Tool(t, t),))).id for t in "ab"]
    said = Decision("edit", ("f",), ("a",), "ann", detail={"name": "x"})
    append_decision(store, ids[0], lambda log: said)
    return ids


def test_a_renamed_catalog_keeps_its_versions_and_decisions(store):
    old, _ = used(store, "old")
    rename_catalog(store, "old", "new name")
    names = {record.name: record.number for record in list_catalogs(store)[::-1]}
    assert names["new name"] == 2 and "old" not in names
    assert [one.reviewer for one in read_log(store, old)] == ["ann"]
    save_catalog(store, "old", Catalog((Tool("c", "c"),)))
    for new, words in (("old", "already"), (" ", "blank")):
        with pytest.raises(StoreError, match=words):
            rename_catalog(store, "new name", new)
    with pytest.raises(StoreError, match="catalog nobody"):
        rename_catalog(store, "nobody", "x")


def test_a_deleted_catalog_is_gone_and_no_other(store):
    kept = used(store, "kept")
    gone = used(store, "gone")
    delete_catalog(store, "gone")
    assert "gone" not in {record.name for record in list_catalogs(store)}
    assert read_log(store, kept[0]) and load_catalog(store, kept[1]).tools
    again = save_catalog(store, "gone", Catalog((Tool("a", "a"),)))
    assert again.id > max(gone), "what is remembered by an id is not mistaken"
    assert (again.number, read_log(store, again.id)) == (1, ())
    with pytest.raises(StoreError, match="catalog nobody"):
        delete_catalog(store, "nobody")


def test_a_catalog_with_a_running_job_is_not_deleted(store):
    busy = used(store, "busy")[0]
    start_job(store, "running", busy, "maps")
    with pytest.raises(StoreError, match="running on busy"):
        delete_catalog(store, "busy")
    assert load_catalog(store, busy).tools
    end_job(store, "running", "cancelled")
    delete_catalog(store, "busy")


def test_the_same_content_in_another_order_of_keys_is_no_new_version(store):
    schema = accepting(a={}, b={})
    turned = {"properties": {"b": {}, "a": {}}, "type": "object"}
    one, other = (Catalog((Tool("t", "t", schema=told, raw=told),)) for told in (schema, turned))
    assert save_catalog(store, "order", one) == save_catalog(store, "order", other)
    changed = Catalog((Tool("t", "t", schema=schema, raw={"x": 1}),))
    assert save_catalog(store, "order", changed).number == 2

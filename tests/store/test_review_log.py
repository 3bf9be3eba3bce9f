from dataclasses import replace

import pytest

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError, StoreError
from toolscope_core.model.tool import Tool
from toolscope_core.store import append_decision, read_log, save_catalog

CATALOG = Catalog((Tool("a", "a"),))
DECISION = Decision(
    "split", ("f", "g"), ("a", "\ud800"), "ann \udfff", detail={"groups": [["f"], ["g"]]}
)


def test_the_log_gives_seq_and_time_and_keeps_what_is_given(store):
    catalog = save_catalog(store, "n", CATALOG).id
    first = append_decision(store, catalog, lambda log: DECISION)
    second = append_decision(store, catalog, lambda log: replace(DECISION, at="then", seq=77))
    assert first == replace(DECISION, seq=1, at=first.at)
    assert first.at.endswith("+00:00")
    assert second == replace(DECISION, seq=2, at="then")
    assert read_log(store, catalog) == (first, second)


def test_what_was_acknowledged_is_what_the_log_holds(store):
    catalog = save_catalog(store, "n", CATALOG).id
    tuples = replace(DECISION, detail={"groups": (("f",), ("g",))})
    assert append_decision(store, catalog, lambda log: tuples) == read_log(store, catalog)[0]


def test_a_refusal_writes_nothing_and_a_repeat_answers_with_the_standing_row(store):
    catalog = save_catalog(store, "n", CATALOG).id

    def refuse(log):
        raise DecisionError("no")

    with pytest.raises(DecisionError, match="no"):
        append_decision(store, catalog, refuse)
    first = append_decision(store, catalog, lambda log: DECISION)
    assert append_decision(store, catalog, lambda log: log[0]) == first
    assert read_log(store, catalog) == (first,)


def test_the_log_belongs_to_the_name_and_outlives_a_version(store):
    old = save_catalog(store, "n", CATALOG).id
    append_decision(store, old, lambda log: DECISION)
    new = save_catalog(store, "n", Catalog((Tool("a", "b"),))).id
    other = save_catalog(store, "other", CATALOG).id
    assert append_decision(store, new, lambda log: DECISION).seq == 2
    assert read_log(store, old) == read_log(store, new)
    assert read_log(store, other) == ()


def test_an_unknown_catalog_is_refused(store):
    with pytest.raises(StoreError, match="no catalog 5"):
        read_log(store, 5)
    with pytest.raises(StoreError, match="no catalog 5"):
        append_decision(store, 5, lambda log: DECISION)

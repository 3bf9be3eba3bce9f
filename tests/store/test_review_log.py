from contextlib import closing
from dataclasses import replace

import pytest

from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.store.decision_rows import append_decision, read_log
from toolscope_core.store.engine import Store

DECISION = Decision(
    "split", ("f", "g"), ("a", "\ud800"), "ann \udfff", detail={"groups": [["f"], ["g"]]}
)


def test_the_log_gives_seq_and_time_and_keeps_what_is_given(store):
    first = append_decision(store, 1, lambda log: DECISION)
    tuples = {"groups": (("f",), ("g",))}
    second = append_decision(
        store, 1, lambda log: replace(DECISION, at="then", seq=7, detail=tuples)
    )
    assert first == replace(DECISION, seq=1, at=first.at)
    assert first.at.endswith("+00:00")
    assert second == replace(DECISION, seq=2, at="then")
    assert read_log(store, 1) == (first, second)


def test_a_refusal_writes_nothing_and_a_repeat_answers_with_the_standing_row(store):

    def refuse(log):
        raise DecisionError("no")

    with pytest.raises(DecisionError, match="no"):
        append_decision(store, 1, refuse)
    first = append_decision(store, 1, lambda log: DECISION)
    assert append_decision(store, 1, lambda log: log[0]) == first
    assert read_log(store, 1) == (first,)


def test_a_log_is_read_once_and_what_others_add_or_delete_is_seen(store, store_url):
    append_decision(store, 1, lambda log: DECISION)
    append_decision(store, 1, lambda log: DECISION)
    log = read_log(store, 1)
    assert read_log(store, 1) is log
    with closing(Store(store_url)) as other:
        append_decision(other, 1, lambda log: replace(DECISION, reviewer="bob"))
        assert [one.reviewer for one in read_log(store, 1)] == [*2 * ["ann \udfff"], "bob"]
        with other.write() as session:
            session.connection().exec_driver_sql("DELETE FROM decision WHERE seq = 1")
    assert [one.seq for one in read_log(store, 1)] == [2, 3]


def test_the_log_belongs_to_the_name_and_outlives_a_version(store, save):
    append_decision(store, 1, lambda log: DECISION)
    new = save("one", "b")
    assert append_decision(store, new, lambda log: DECISION).seq == 2
    assert read_log(store, 1) == read_log(store, new)
    assert read_log(store, 2) == ()

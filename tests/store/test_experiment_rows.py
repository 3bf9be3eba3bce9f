import pytest

from toolscope_core.model.errors import StoreError
from toolscope_core.store.experiment_rows import (
    delete_experiment,
    get_experiment,
    keep_result,
    list_experiments,
    open_experiment,
)


def test_one_that_was_broken_off_is_gone_on_with_and_a_done_one_is_not(store, save):
    one = save("one", "a")
    setup = {"knob": "θ \ud800"}
    first = open_experiment(store, one, "sweep", setup)
    assert (first.result, first.is_done, first.seconds) == ({}, False, 0.0)
    keep_result(store, first.number, {"points": [1]}, 2.5, is_done=False)
    again = open_experiment(store, one, "sweep", {"knob": "θ \ud800"})
    assert (again.number, again.result, again.seconds) == (first.number, {"points": [1]}, 2.5)
    assert open_experiment(store, one, "sweep", {"knob": "k"}).number != first.number
    assert open_experiment(store, one, "stress", {"knob": "θ \ud800"}).number != first.number
    keep_result(store, first.number, {"points": [1, 2]}, 3.0, is_done=True)
    assert open_experiment(store, one, "sweep", {"knob": "θ \ud800"}).number != first.number
    assert get_experiment(store, first.number).result == {"points": [1, 2]}


def test_they_are_listed_for_all_versions_of_a_catalog_the_newest_first(store, save):
    one, other = save("one", "a"), save("other", "a")
    first = open_experiment(store, one, "stress", {})
    second = open_experiment(store, save("one", "a", "b"), "stress", {})
    open_experiment(store, other, "stress", {})
    listed = list_experiments(store, one)
    assert [item.number for item in listed] == [second.number, first.number]
    assert [item.catalog_id for item in listed] == [second.catalog_id, one]
    assert all(item.result is None for item in listed)


def test_they_go_one_by_one(store, save):
    one = save("one", "a")
    numbers = [open_experiment(store, one, "stress", {"n": n}).number for n in range(2)]
    delete_experiment(store, numbers[0])
    delete_experiment(store, numbers[0])
    assert [item.number for item in list_experiments(store, one)] == numbers[1:]
    with pytest.raises(StoreError, match=f"no experiment {numbers[0]}"):
        get_experiment(store, numbers[0])
    with pytest.raises(StoreError, match=f"no experiment {numbers[0]}"):
        keep_result(store, numbers[0], {}, 0.0, is_done=True)

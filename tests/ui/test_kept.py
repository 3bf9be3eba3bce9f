"""What is kept with an object, and for how long."""

import gc
import pickle
import weakref
from functools import partial

import pytest

from ui.shared.kept import kept, kept_under


class Whole:
    """Anything that values can lie with."""


@kept(limit=2)
def doubled(whole, number):
    whole.made = [*getattr(whole, "made", ()), number]
    return 2 * number


def test_a_value_is_made_once_for_each_object_and_arguments():
    one, other = Whole(), Whole()
    assert [doubled(one, 3), doubled(one, 3), doubled(other, 3), doubled(one, 4)] == [6, 6, 6, 8]
    assert (one.made, other.made) == ([3, 4], [3])


def test_the_oldest_goes_first():
    whole = Whole()
    for number in (1, 2, 3, 1):
        doubled(whole, number)
    assert whole.made == [1, 2, 3, 1]
    for key in "abca":
        kept_under(whole, "letters", key, lambda: whole.made.append("made"), limit=2)
    assert whole.made.count("made") == 4


def test_nothing_is_no_value_and_a_failure_is_not_kept():
    whole, answers = Whole(), iter([None, "there", "never asked"])
    seen = [kept_under(whole, "answers", 1, lambda: next(answers)) for _ in range(3)]
    assert seen == [None, "there", "there"]

    @kept()
    def fails(whole):
        whole.made = [*getattr(whole, "made", ()), "tried"]
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):
            fails(whole)
    assert whole.made == ["tried", "tried"]


def test_a_value_goes_with_its_object_though_it_holds_it():
    whole = Whole()
    kept_under(whole, "itself", (), partial(list, [whole]))
    gone = weakref.ref(whole)
    del whole
    gc.collect()
    assert gone() is None


def test_what_is_kept_stays_behind_when_an_object_is_sent():
    whole = Whole()
    doubled(whole, 1)
    kept_under(whole, "functions", (), lambda: lambda: 1)
    assert vars(pickle.loads(pickle.dumps(whole)))["kept"] == {}

"""What is kept, and until when."""

from concurrent.futures import ThreadPoolExecutor

from ui.shared.services.result_cache import ResultCache


def counting(value=None):
    calls = []

    def make():
        calls.append(1)
        return value if value is not None else len(calls)

    return make, calls


def test_sources_are_compared_by_identity_and_the_state_by_equality():
    cache, (make, _) = ResultCache(), counting()
    one, other = [1], [1]  # equal, not the same
    assert cache.get("key", (one,), make, state=(1, "a")) == 1
    assert cache.get("key", (one,), make, state=(1, "a")) == 1
    assert cache.get("key", (other,), make, state=(1, "a")) == 2
    assert cache.get("key", (other,), make, state=(2, "a")) == 3


def test_none_is_no_value_and_is_asked_for_again():
    cache, values = ResultCache(), [None, None, 3]
    assert [cache.get("key", (), lambda: values.pop(0)) for _ in range(4)] == [None, None, 3, 3]


def test_the_oldest_keys_are_dropped():
    cache, (make, _) = ResultCache(most=2), counting()
    assert [cache.get(key, (), make) for key in "abcb"] == [1, 2, 3, 2]
    assert cache.get("a", (), make) == 4


def test_a_failure_keeps_nothing():
    cache = ResultCache()

    def fail():
        raise KeyError("no")

    for _ in range(2):
        try:
            cache.get("key", (), fail)
        except KeyError:
            continue
    assert cache.get("key", (), lambda: 1) == 1


def test_many_threads_get_the_value_of_their_key():
    cache = ResultCache(most=5)
    with ThreadPoolExecutor(8) as pool:
        values = pool.map(lambda n: cache.get(n % 9, (), lambda: n % 9), range(2_000))
        assert list(values) == [n % 9 for n in range(2_000)]

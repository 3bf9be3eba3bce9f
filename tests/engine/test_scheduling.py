"""How blocks go to the workers of a cluster, on a Ray of one process that ends them in any order."""

import sys
from types import SimpleNamespace

import pytest

from toolscope_core.engine.ray_engine import RayEngine, RayWorker, ray_engine
from toolscope_core.model.errors import ConfigError, EngineError
from toolscope_core.model.protocols import SharedState


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


class Ray:
    """What the engine uses of Ray. A call is a function until it is waited for, the newest first."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self):
        self.calls, self.fetched, self.most = {}, [], 0

    def init(self, address, **options):
        self.address = address

    def shutdown(self):
        self.address = None

    def cluster_resources(self):
        return {"CPU": 2.0}

    def remote(self, **options):
        return lambda cls: self._with_options(lambda: Actor(self, cls()))

    def _with_options(self, function):
        made = SimpleNamespace(remote=function)
        made.options = lambda name: made
        return made

    def put(self, value):
        ref = object()
        self.calls[ref] = lambda: value
        return ref

    def wait(self, refs, fetch_local):
        self.most = max(self.most, len(refs))
        return [refs[-1]], refs[:-1]

    def get(self, ref):
        self.fetched.append(ref)
        try:
            return self.calls[ref]()
        except RayError:
            raise
        except Exception as error:
            raise RayTaskError(error) from error


class Actor:
    """A worker that is called by messages."""

    def __init__(self, ray, worker):
        self._ray, self._worker = ray, worker

    def __getattr__(self, name):
        def call(*arguments):
            ref = object()
            self._ray.calls[ref] = lambda: getattr(self._worker, name)(*arguments)
            return ref

        return self._ray._with_options(call)


@pytest.fixture
def ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", Ray())
    return sys.modules["ray"]


def times(factor, block):
    return factor * block


def test_results_come_in_the_order_of_blocks_and_a_worker_has_two_at_a_time(ray):
    with ray_engine(None) as engine:
        assert ray.address == "local"
        assert list(engine.map_blocks(times, SharedState(10), range(9))) == [*range(0, 90, 10)]
    assert ray.address is None
    assert ray.most == 4, "two for each of two"


def test_a_value_is_fetched_once_and_anew_when_it_is_another(ray):
    worker, first, second = RayWorker(), ray.put(2), ray.put(3)
    given = [worker.run(times, [ref], 5) for ref in (first, first, second, first)]
    assert given == [10, 10, 15, 10]
    assert ray.fetched == [first, second, first]


def test_a_node_with_another_program_is_refused(ray, monkeypatch):
    monkeypatch.setattr(RayWorker, "version", lambda worker: "another")
    with pytest.raises(ConfigError, match="different version"):
        RayEngine(2)


@pytest.mark.parametrize(
    ("failure", "seen", "message"),
    [
        (ValueError("the block is bad"), ValueError, "the block is bad"),
        (MemoryError(), EngineError, "ran out of memory"),
        (RayError("it is gone"), EngineError, r"died 4 times.*it is gone"),
    ],
)
def test_a_failure_on_a_worker_is_an_error_here(ray, failure, seen, message):
    def fails(value, block):
        raise failure

    with pytest.raises(seen, match=message):
        list(RayEngine(1).map_blocks(fails, SharedState(1), [1]))

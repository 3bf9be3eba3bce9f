"""What runs on a Ray cluster of this machine: merges whose workers are killed once in each stage,
and blocks that fail. In a process of its own; see ``test_ray_engine``.
"""

import json
import os
import signal
import time
from functools import partial

from toolscope_core.catalog import shards
from toolscope_core.embedding import candidate_pairs, vector_cache
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.engine.ray_engine import ray_engine
from toolscope_core.export.bundle import bundle_of
from toolscope_core.judging import cached_judge
from toolscope_core.merging.analysing import analyse, plan_merge
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import ModelError, ToolScopeError
from toolscope_core.model.protocols import LOCAL, SharedState


class DeadlyEngine:
    """An engine of which the first block of each function kills its worker, the first time."""

    def __init__(self, engine, folder):
        self.engine, self.folder = engine, folder

    def map_blocks(self, function, shared, blocks):
        return self.engine.map_blocks(partial(killed_once, self.folder, function), shared, blocks)


def killed_once(folder, function, value, block):
    name = getattr(function, "func", function).__name__
    if not (folder / name).exists():
        (folder / name).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    (folder / f"{name} {os.getpid()}").touch()
    return function(value, block)


def always_killed(value, block):
    os.kill(os.getpid(), signal.SIGKILL)


def refused(value, block):
    raise ModelError(f"{value} is damaged; make block {block} anew")


def merged(path, engine, cache):
    """The bundle of a merge that finds nothing in its cache."""
    catalog = shards.read_shards([path], engine)
    analysis = analyse(catalog, None, MiniLmEmbedder(), VectorCache(cache), engine=engine)
    options = PlanConfig(accept="auto")
    plan = plan_merge(analysis, (), options)
    return dict(bundle_of(analysis, plan, (), options).files())


def out_of_memory(value, block):
    return bytearray(10**15)


def added(value, block):
    time.sleep(0.3)
    return value + block


def in_dashboard(value, block):
    import ray

    context = ray.get_runtime_context()
    return context.get_task_name(), context.get_actor_name()


def sums_while_a_node_goes():
    """What two nodes make of twenty blocks, of which one goes while they work."""
    from ray.cluster_utils import Cluster  # the engine sets what Ray reads when it is loaded

    cluster = Cluster(True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    node = cluster.add_node(num_cpus=1)
    sums = []
    with ray_engine(cluster.address) as engine:
        for one in engine.map_blocks(added, SharedState(1), range(20)):
            if len(sums) == 3:
                cluster.remove_node(node)
            sums.append(one)
    cluster.shutdown()
    return sums


def error_of(engine, function):
    try:
        list(engine.map_blocks(function, SharedState("it"), range(3)))
    except ToolScopeError as error:
        return [type(error).__name__, str(error)]


def run(folder, *paths):
    """As JSON what came of it; the folder has a file for each function and worker that ran it."""
    candidate_pairs._SEARCHED = vector_cache.PIECE = 16
    cached_judge._BLOCK = 8
    shards._PIECE = 100
    results = {"equal": []}
    with ray_engine(None) as engine:
        deadly = DeadlyEngine(engine, folder)
        for path in paths:
            bundles = [
                merged(path, one, folder / f"{path.stem}-{one is LOCAL}") for one in (LOCAL, deadly)
            ]
            results["equal"].append(bundles[0] == bundles[1] and len(bundles[0]) > 10)
        results["names"] = list(engine.map_blocks(in_dashboard, SharedState(1), range(8)))
        results["refused"] = error_of(engine, refused)
        results["lost"] = error_of(engine, always_killed)
        results["too large"] = error_of(engine, out_of_memory)
    results["sums"] = sums_while_a_node_goes()
    return json.dumps(results)

"""Models trained on the query sets of a catalog: training them as a job, showing, using and
removing them.
"""

import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.evaluation.intervals import Interval
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.evaluation.results import read_result
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import digest
from toolscope_core.tool2vec import training
from toolscope_core.tool2vec.learned_model import LearnedModel
from toolscope_core.tool2vec.model_folder import read_model, write_model
from toolscope_core.tool2vec.training_queries import LEAST_QUERIES
from toolscope_core.tool2vec.tuned_classifier import EPOCHS, SECONDS_A_TEXT
from toolscope_core.tool2vec.tuned_embedder import MOST_TRIPLETS, SECONDS_A_TRIPLET, tuned_files
from ui.shared.kept import kept
from ui.shared.services import loaded_queries, reviewed_variants
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

Ranking = Literal["text", "usage", "learned"]
"""What ranks the tools: their text, the text together with the queries that they served, or
everything that was learned.
"""
_SIDES = ("before", "after")
TUNED_MODEL = DEFAULT_MODEL
"""The encoder that can be tuned."""


@dataclass(frozen=True, slots=True)
class TrainedSide:
    """A model of the toolset before or after the merge.

    ``figures`` are the results on held-out queries. ``queries``, ``questions`` and ``tools`` count
    the training data. ``size`` is the size on disk in bytes. ``stale`` is the number of today's
    tools that the model does not know. ``helps`` is false if nothing that was learned clearly
    helps; then only the text ranks.
    """

    method: str
    figures: training.HeldOutFigures
    queries: int
    questions: int
    tools: int
    size: int
    stale: int
    helps: bool

    @property
    def recalls(self) -> tuple[Interval, Interval]:
        """Recall@5 on held-out queries: by the text of the tools, and with what was learned."""
        metrics = self.figures.metrics
        return metrics[training.BY_TEXT]["recall@5"], metrics[training.BLENDED]["recall@5"]


@dataclass(frozen=True, slots=True)
class TrainedView:
    """The models of a ranking on both sides; ``after`` is ``None`` if nothing is merged."""

    before: TrainedSide
    after: TrainedSide | None


KIND = "learn"


def queries(snapshot: Snapshot) -> tuple[Query, ...]:
    """The queries of all sets that need a tool in the catalog."""
    ids = snapshot.catalog.by_id.keys()
    every = loaded_queries.queries(snapshot)
    return tuple(one for one in every if any(need & ids for need in one.gold))


def lessons(snapshot: Snapshot) -> int:
    """The number of different requests to learn from. It is 0 if there are too
    few to prove a gain.
    """
    number = len({one.text for one in queries(snapshot)})
    return number if number >= LEAST_QUERIES else 0


def view(snapshot: Snapshot, ranking: Ranking) -> TrainedView | None:
    """The models trained for a ranking; ``None`` if there are none. Raises ``ConfigError`` if one
    is damaged.
    """
    before = _side(snapshot, ranking, "before")
    if before is None:
        return None
    return TrainedView(before, _side(snapshot, ranking, "after"))


def usage_helps(snapshot: Snapshot) -> bool:
    """Whether there is a usage model that found more for queries that were left out of its
    training.
    """
    with suppress(ConfigError):
        usage = view(snapshot, "usage")
        return usage is not None and usage.before.helps
    return False


def model(snapshot: Snapshot, ranking: Ranking, side: str) -> LearnedModel | None:
    """The model of one side; ``None`` if there is none. Raises the errors of ``view``."""
    folder = _folder(snapshot, ranking) / side
    manifest = folder / "manifest.json"
    if ranking == "text" or not manifest.is_file():
        return None
    return _model(snapshot.work, folder, manifest.stat().st_mtime_ns)


@kept()
def _model(work: Workspace, folder: Path, modified: int) -> LearnedModel:
    """The model in a folder. ``modified`` is the time when the folder was last changed."""
    return read_model(folder)


def tuning_seconds(snapshot: Snapshot) -> float:
    """Roughly the maximum number of seconds that tuning takes on two cores, before and after the
    merge.
    """
    variants = reviewed_variants.accepted_variants(snapshot)
    texts = {one.text for one in queries(snapshot)}
    questions = {text for one in variants.values() for text in one.questions}
    plan = snapshot.plan_under(PlanConfig(accept="auto"))
    sides = 1 if len(plan.tools) == len(snapshot.catalog.tools) else 2
    return len(texts | questions) * EPOCHS * SECONDS_A_TEXT * sides


def start(snapshot: Snapshot, config: training.LearnConfig) -> str:
    """Run ``run`` in the background. Returns the job's id."""
    return snapshot.start(KIND, lambda progress: run(snapshot, config, progress))


def run(snapshot: Snapshot, config: training.LearnConfig, progress: Progress = silent) -> None:
    """Train now: for the original toolset and, if something is merged, also for the merged one.

    For the merged toolset, the queries are relabelled by φ. Raises ``ConfigError`` if too few
    queries name a tool.
    """
    catalog = snapshot.analysis.catalog
    plan = snapshot.plan_under(PlanConfig(accept="auto"))
    variants, own_queries = reviewed_variants.accepted_variants(snapshot), queries(snapshot)
    ranking: Ranking = "usage" if config.method == "tool2vec" else "learned"
    trainer = training.Trainer(snapshot.work.embedder, snapshot.work.vectors, progress=progress)
    trained = training.trained_model(catalog.tools, own_queries, variants, config, trainer)
    folder = _folder(snapshot, ranking)
    write_model(trained, folder / "before")
    merged = tuple(item.tool for item in plan.tools)
    if len(merged) == len(catalog.tools):
        shutil.rmtree(folder / "after", ignore_errors=True)
        return
    relabelled_queries = relabelled(own_queries, plan.phi)
    remaining = set(plan.phi.values())
    own = {one: variant for one, variant in variants.items() if one in remaining}
    after = training.trained_model(merged, relabelled_queries, own, config, trainer)
    write_model(replace(after, variants=own), folder / "after")


TUNING = "tuned encoder"
"""The kind of job that tunes an encoder."""


def tuning_folder(snapshot: Snapshot) -> Path:
    """The folder of the catalog's tuned encoder. It need not exist yet."""
    return _folder(snapshot, "text").with_name("encoder")


def tuning_lessons(snapshot: Snapshot, measured: str) -> tuple[int, float]:
    """The number of queries on which an encoder can be tuned, and roughly how many seconds that
    takes on two cores.

    These are the queries of all sets but the ``measured`` one. The number is 0 if there are too
    few.
    """
    ids, needed = snapshot.catalog.by_id.keys(), dict[str, set[str]]()
    for query in loaded_queries.queries(snapshot, measured):
        if own := {one for need in query.gold for one in need} & ids:
            needed.setdefault(query.text, set()).update(own)
    if len(needed) < LEAST_QUERIES:
        return 0, 0.0
    variants = reviewed_variants.accepted_variants(snapshot).values()
    triplets = sum(map(len, needed.values())) + sum(len(one.questions) for one in variants)
    return len(needed), min(triplets, MOST_TRIPLETS) * SECONDS_A_TRIPLET


def start_tuning(snapshot: Snapshot, measured: str) -> str:
    """Run ``tune`` in the background. Returns the job's id."""
    return snapshot.start(TUNING, lambda progress: tune(snapshot, measured, progress))


def tune(snapshot: Snapshot, measured: str, progress: Progress = silent) -> None:
    """Tune an encoder now, on all query sets but the ``measured`` one. Raises the errors of
    ``tuned_files``.
    """
    tools, variants = snapshot.catalog.tools, reviewed_variants.accepted_variants(snapshot)
    own, cache = loaded_queries.queries(snapshot, measured), snapshot.work.vectors
    files = tuned_files(tools, own, variants, cache, TUNED_MODEL, progress)
    files.write(tuning_folder(snapshot))


def delete(snapshot: Snapshot, ranking: Ranking) -> None:
    """Remove the models trained for a ranking."""
    shutil.rmtree(_folder(snapshot, ranking), ignore_errors=True)


def _side(snapshot: Snapshot, ranking: Ranking, side: str) -> TrainedSide | None:
    own = model(snapshot, ranking, side)
    if own is None:
        return None
    try:
        about = own.about
        figures = read_result(training.HeldOutFigures, about["held_out"])
        queries, questions, tools = (int(about[name]) for name in ("queries", "questions", "tools"))
    except (ConfigError, LookupError, TypeError, ValueError) as error:
        raise ConfigError(
            "the trained model has no record of how well it performed; remove it and train again"
        ) from error
    folder = _folder(snapshot, ranking) / side
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    helps = any(own.blend.weights.values())
    stale = _stale(snapshot, own, side)
    return TrainedSide(own.method, figures, queries, questions, tools, size, stale, helps)


def _stale(snapshot: Snapshot, model: LearnedModel, side: str) -> int:
    catalog, learned = snapshot.analysis.catalog, set(model.fingerprints)
    tools = catalog.tools
    if side == "after":
        plan = snapshot.plan_under(PlanConfig(accept="auto"))
        tools = tuple(item.tool for item in plan.tools)
    return sum(tool.fingerprint not in learned for tool in tools)


def _folder(snapshot: Snapshot, ranking: Ranking) -> Path:
    name = snapshot.record.name
    return snapshot.work.vectors.folder / "learned" / digest(name)[:32] / ranking

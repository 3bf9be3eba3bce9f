"""An experiment that a page asks for, and its queries."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from toolscope_core.evaluation import comparison
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.evaluation.query_sets import Query, synthetic_queries, unknown_gold
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.selection_prompt import Splitter
from toolscope_core.model import search_configuration
from toolscope_core.model.configuration import Knob, RequestSplit
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import splits_of_model
from toolscope_core.tool2vec.tuned_embedder import learned_texts
from ui.evaluation import measured_sides
from ui.shared.services import loaded_queries, searches
from ui.shared.services.experiments import ORIGINAL
from ui.shared.snapshot import Snapshot

ExperimentKind = Literal["comparison", "servers", "stress", "sweep", "ablation", "plan"]


ExperimentSplit = Literal["auto"] | RequestSplit | Splitter
"""How requests are split. *auto* splits as the search does; for *dummy* and *context*, a model
splits.
"""
_BY_MODEL: dict[str, Splitter] = {one: one for one in get_args(Splitter)}
_WITHOUT_MODEL: dict[str, RequestSplit] = {one: one for one in get_args(RequestSplit)}
Selector = Literal["", "best", "model"]
"""What selects tools from those found: nothing, the search (for each job), or a model."""
SYNTHETIC = "made from descriptions"


CUTOFFS, _SERVER_CUTOFFS = (1, 5, 10), (1, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class ExperimentRequest:
    """An experiment that a page asks for.

    ``queries`` names a query set, or is ``SYNTHETIC``. ``before`` and ``after`` are names of
    toolsets (see ``measured_sides``). ``knob`` is the setting that a sweep varies, with the merge
    policy of ``after``. ``encoders`` are names or folders of sentence-transformers models.
    ``search`` names the paper or client whose search is used; if it is empty, ours is used. *auto*
    for ``rerank``, and ``None`` for ``alpha`` and ``assembly``, mean the values of that search.
    ``select`` says what selects the tools that count. ``recorded`` has the parts of the requests
    from a file, by query id.
    """

    kind: ExperimentKind = "comparison"
    queries: str = SYNTHETIC
    before: str = ORIGINAL
    after: str = "accepted and safe"
    rerank: str = "auto"
    split: ExperimentSplit = "auto"
    knob: Knob = "threshold"
    encoders: tuple[str, ...] = ()
    search: search_configuration.SearchName = ""
    alpha: float | None = None
    assembly: search_configuration.Assembly | None = None
    corpus: search_configuration.Corpus = "both"
    select: Selector = ""
    recorded: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def splitter(self) -> Splitter | None:
        """How a model splits the requests; ``None`` if no model splits them."""
        return None if self.recorded else _BY_MODEL.get(self.split)

    @property
    def asks_model(self) -> bool:
        """Whether the experiment has to ask a model."""
        return self.select == "model" or self.splitter is not None

    @property
    def retrieval(self) -> search_configuration.RetrievalConfig:
        """The settings of the experiment's search."""
        config = search_configuration.named_search(self.search)
        alpha = config.dense_weight if self.alpha is None else self.alpha
        return replace(
            config,
            dense_weight=alpha,
            rerank=config.rerank if self.rerank == "auto" else self.rerank,
            assembly=self.assembly or config.assembly,
            corpus=self.corpus,
        )

    @property
    def request_split(self) -> RequestSplit:
        """How the requests are split without a model."""
        usual = search_configuration.usual_split(self.search)
        return usual if self.split == "auto" else _WITHOUT_MODEL.get(self.split, "none")


def trial_of(snapshot: Snapshot, request: ExperimentRequest) -> comparison.Trial:
    """The queries of an experiment that have gold answers in the catalog.

    Queries from which one of the experiment's models has learned are left out. Raises
    ``ConfigError`` if no query is left.
    """
    catalog = snapshot.analysis.catalog
    queries = queries_of(snapshot, request.queries)
    for side in (request.before, request.after):
        model = measured_sides.model(snapshot, side)
        if model is not None:
            queries = tuple(one for one in queries if not model.learned_from(one.text))
    for encoder in request.encoders:
        is_learned = learned_texts(Path(encoder))
        queries = tuple(one for one in queries if not is_learned(one.text))
    if not queries:
        raise ConfigError(
            f"the model was trained on every query of {request.queries!r}; choose a set that "
            "was added after the training"
        )
    split = comparison.request_of(request.request_split)
    parts = dict(request.recorded)

    def request_of(query: Query) -> ToolRequest:
        own = parts.get(query.id)
        return split(query) if own is None else ToolRequest(query.text, own, by_rule=False)

    if request.kind != "servers":
        return comparison.Trial.of(catalog, queries, request_of, CUTOFFS)
    owners = {tool.id: tool.owner for tool in catalog.tools}
    names = {*owners.values()}

    def gold_of(query: Query) -> Gold:
        """The servers that are needed. Empty if the catalog lacks one of them."""
        gold = query.server_gold(owners)
        return () if unknown_gold([gold], names) else gold

    return comparison.Trial.of(catalog, queries, request_of, _SERVER_CUTOFFS, gold_of)


def split_by_model(
    snapshot: Snapshot,
    request: ExperimentRequest,
    trial: comparison.Trial,
    progress: Progress,
    asker: Asker,
) -> comparison.Trial:
    """The trial with each request split by a model. Requests that the model does not answer stay
    whole.
    """
    if request.splitter is None:
        return trial
    texts = [query.text for query in trial.queries]
    bench = searches.bench(snapshot)
    in_view = bench.in_view(texts, request.splitter, request.search, progress)
    splits = splits_of_model(texts, in_view, request.splitter, asker)
    requests = (ToolRequest(*one, by_rule=False) for one in zip(texts, splits, strict=True))
    return replace(trial, requests=tuple(requests))


def queries_of(snapshot: Snapshot, name: str) -> tuple[Query, ...]:
    """The queries of one of the ``query_sets``. Raises ``ConfigError`` if there is no such set."""
    if name == SYNTHETIC:
        return tuple(synthetic_queries(snapshot.analysis.catalog))
    for view in loaded_queries.sets(snapshot):
        if view.name == name:
            return view.content.queries
    raise ConfigError(f"there is no query set {name!r}; choose another")

"""A model trained from queries with known tools, and one opened to search with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core.catalog.document_variants import read_variants
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.query_sets import Query, read_queries, relabelled
from toolscope_core.files.folders import MODEL_PROGRAM, check_ours, why_not_ours
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import RetrievalConfig
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Embedder, Progress, silent
from toolscope_core.model.tool import digest
from toolscope_core.tool2vec.learned_model import LearnedModel
from toolscope_core.tool2vec.model_folder import read_model, write_model
from toolscope_core.tool2vec.training import LearnOptions, Trainer, trained_model

KEPT = "learned"
"""The folder of the cache with models that a search made for itself."""


@dataclass(frozen=True, slots=True)
class LearnFiles:
    """What is trained from: catalog files, a query set, and document variants whose questions are
    training queries too.
    """

    catalogs: Sequence[Path]
    queries: Path
    variants: Path | None = None
    embedder: str | None = None
    options: LearnOptions = field(default_factory=LearnOptions)


@dataclass(frozen=True, slots=True)
class LearnReport:
    """A trained model, and how many of the queries name no tool of the catalog."""

    model: LearnedModel
    unused: int


def learn_files(
    files: LearnFiles, out: Path, settings: Settings, progress: Progress = silent
) -> LearnReport:
    """Train a model and put it into the folder ``out``. Raises ``ExportError``, before anything is
    trained, where the folder holds anything but a model; ``ConfigError`` where too few queries name
    a tool.
    """
    check_ours(out, MODEL_PROGRAM)
    catalog = read_isolated(load_paths(files.catalogs))
    queries = read_queries(files.queries)
    variants = read_variants(files.variants, catalog).by_id if files.variants else {}
    trainer = Trainer(
        embedder_of(settings, files.embedder), VectorCache(settings.cache_dir), progress
    )
    model = trained_model(catalog.tools, queries, variants, files.options, trainer)
    write_model(model, out)
    in_catalog = catalog.by_id.keys()
    unused = sum(not any(need & in_catalog for need in query.gold) for query in queries)
    return LearnReport(model, unused)


def usage_model(
    catalog: Catalog,
    queries: Sequence[Query],
    config: RetrievalConfig,
    embedder: Embedder,
    cache: VectorCache,
    progress: Progress = silent,
) -> LearnedModel:
    """The Tool2Vec model of a catalog, whose tools may carry variants, from queries; that of the
    cache folder if it was trained from the same.
    """
    variants = {tool.id: tool.augmentation for tool in catalog.tools if tool.augmentation}
    asked = sorted((one.text, sorted(sorted(need) for need in one.gold)) for one in queries)
    fingerprints = sorted(tool.fingerprint for tool in catalog.tools)
    key = digest(fingerprints, asked, repr(sorted(variants.items())), embedder.name, repr(config))
    folder = cache.folder / KEPT / key
    if folder.is_dir():
        try:
            return read_model(folder)
        except ConfigError:
            pass  # damaged: it is trained again
    options = LearnOptions("tool2vec", retrieval=config)
    model = trained_model(
        catalog.tools, queries, variants, options, Trainer(embedder, cache, progress)
    )
    if not why_not_ours(folder, MODEL_PROGRAM):
        write_model(model, folder)
    return model


def usage_queries(path: Path, phi: Mapping[str, str | None] | None = None) -> tuple[Query, ...]:
    """The queries of a file, with the tools that ``phi`` leads to."""
    queries = read_queries(path)
    return relabelled(queries, phi) if phi else queries

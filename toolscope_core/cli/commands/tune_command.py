"""An embedder tuned on requests with known tools, as a folder that can be named as one."""

from __future__ import annotations

from pathlib import Path

from toolscope_core.catalog.document_variants import read_variants, with_variants
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.cli.commands.learn_command import LearnFiles
from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.packaged_model import DEFAULT_MODEL
from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.files.folders import (
    EMBEDDER_PROGRAM,
    MANIFEST,
    check_ours,
    manifest_of,
    write_folder,
)
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.tool2vec.tool2vec import UsageVectors
from toolscope_core.tool2vec.training_queries import training_queries
from toolscope_core.tool2vec.triplets import triplets_of
from toolscope_core.tool2vec.tuned_embedder import TunedEmbedder


def tune_files(
    files: LearnFiles, out: Path, settings: Settings, progress: Progress = silent
) -> int:
    """Tune the embedder with a triplet loss for one epoch (§5.1) and put it into the folder
    ``out``; the number of triplets. Raises ``ExportError``, before anything is trained, where the
    folder holds anything else; ``ModelError`` where the embedder cannot be loaded; ``ConfigError``
    where too few queries name a tool.
    """
    check_ours(out, EMBEDDER_PROGRAM)
    catalog = read_isolated(load_paths(files.catalogs))
    variants = read_variants(files.variants, catalog).by_id if files.variants else {}
    tools = sorted(with_variants(catalog.tools, variants), key=lambda one: one.id)
    queries = training_queries(read_queries(files.queries), variants, [one.id for one in tools])
    name, own = files.embedder or DEFAULT_MODEL, tuple(map(tool_text, tools))
    embedder, cache = SentenceEmbedder(name), VectorCache(settings.cache_dir)
    vectors = embed_cached(queries.texts, embedder, cache, progress)
    usage = UsageVectors.of(queries, vectors)
    centres = usage.vectors(embed_cached(own, embedder, cache, progress))
    triplets = triplets_of(queries, vectors, centres, own)
    tuned = TunedEmbedder(name)
    tuned.train(triplets, progress)
    content = tuned.files()
    manifest = {MANIFEST: manifest_of(content, EMBEDDER_PROGRAM)}
    write_folder({**content, **manifest}, out, EMBEDDER_PROGRAM)
    return len(triplets)

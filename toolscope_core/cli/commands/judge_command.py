"""Verdicts on given pairs, grades of documentation, and what asking a model would take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from toolscope_core.catalog import load_paths, read_isolated
from toolscope_core.cli.commands.model_options import (
    AskRequest,
    bands_of,
    estimates_of,
    grade_rows,
    grades_of,
    spent_on,
)
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.export.bundle import verdict_row
from toolscope_core.files.json_lines import read_rows, write_rows
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.merging.model_verdicts import Spent
from toolscope_core.merging.pipeline import analyse
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import JsonObject
from toolscope_core.tool2vec.estimates import Estimates


def judge_files(
    paths: Sequence[Path], pairs: Path, out: Path, settings: Settings, progress: Progress = silent
) -> Counter[str]:
    """Verdicts on the pairs of a JSONL file, in its order; returns how many of each.

    Raises ``CatalogError`` for a row without two known ids.
    """
    catalog = read_isolated(load_paths(paths))
    tools = catalog.by_id
    rows = [_asked(number, row, tools.keys()) for number, row in read_rows(pairs)]
    analysis = analyse(
        catalog, AnalysisConfig(), embedder_of(settings), VectorCache(settings.cache_dir), progress
    )
    verdicts = analysis.verdicts([Pair.of(left, right) for left, right in rows])
    answers = [verdict_row(*ids, verdict) for ids, verdict in zip(rows, verdicts, strict=True)]
    write_rows(out, answers)
    return Counter(verdict.outcome for verdict in verdicts)


def quality_files(
    paths: Sequence[Path],
    out: Path,
    ask: AskRequest,
    settings: Settings,
    progress: Progress = silent,
) -> tuple[Counter[str], int, Spent | None]:
    """The documentation quality of every tool as JSONL; how many are in each band, of how many
    tools, and what it took. Raises as ``with_model_verdicts`` does, having written nothing.
    """
    catalog = read_isolated(load_paths(paths))
    model_verdicts = grades_of(catalog, ask, settings, progress)
    write_rows(out, grade_rows(catalog, model_verdicts))
    return bands_of(model_verdicts), len(catalog.tools), spent_on(model_verdicts)


def estimate_files(
    paths: Sequence[Path],
    ask: AskRequest,
    config: AnalysisConfig,
    settings: Settings,
    progress: Progress = silent,
) -> Mapping[str, Estimates]:
    """What asking a model about the catalogs would take, by kind; sends nothing."""
    catalog = read_isolated(load_paths(paths))
    analysis = analyse(
        catalog, config, embedder_of(settings), VectorCache(settings.cache_dir), progress
    )
    return estimates_of(analysis, ask, settings)


def _asked(number: int, row: JsonObject, ids: Iterable[str]) -> tuple[str, str]:
    left, right = row.get("left"), row.get("right")
    for side, tool_id in (("left", left), ("right", right)):
        if not isinstance(tool_id, str) or tool_id not in ids:
            raise CatalogError(
                f"line {number}: {side} is {tool_id!r}, which is no tool id of the catalog; "
                "`inspect --json` and the bundle's relabel.json list the ids"
            )
    return str(left), str(right)

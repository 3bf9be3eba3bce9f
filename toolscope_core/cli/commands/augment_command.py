"""Document variants of a catalog, written by a model or read from a file, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolscope_core.catalog import load_paths, read_isolated
from toolscope_core.catalog.document_variants import read_variants, variant_rows
from toolscope_core.cli.commands.model_options import AskRequest, asking, spent_in_all
from toolscope_core.files.json_lines import write_rows
from toolscope_core.merging.model_verdicts import Spent
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.rps.variant_writing import CheckedVariants, checked_variants, variants_of_model


@dataclass(frozen=True, slots=True)
class AugmentReport:
    """How many tools there are, their variants, and what they took; ``spent`` is ``None`` where
    they came from a file, of which ``unknown`` rows name no tool.
    """

    tools: int
    variants: CheckedVariants
    spent: Spent | None = None
    unknown: int = 0


def augment_files(
    paths: Sequence[Path],
    out: Path,
    source: Path | AskRequest,
    keep_doubtful: bool,
    settings: Settings,
    progress: Progress = silent,
) -> AugmentReport:
    """Write the variants of a file, or those that a model writes, as JSONL; those that something
    speaks against only where ``keep_doubtful`` says so, each with its ``violations``.

    Raises as ``read_variants`` and the model's commands do, having written nothing.
    """
    catalog = read_isolated(load_paths(paths))
    spent, unknown = None, 0
    if isinstance(source, AskRequest):
        with asking(source, settings, progress) as (_, asker):
            variants = variants_of_model(catalog.tools, asker)
        spent = spent_in_all(asker.name, asker.spent)
    else:
        loaded = read_variants(source, catalog)
        variants, unknown = dict(loaded.by_id), len(loaded.unknown)
    checked = checked_variants(catalog, variants)
    kept = variants if keep_doubtful else checked.clean
    against = {
        one: [violation.message for violation in several]
        for one, several in checked.violations.items()
    }
    rows = variant_rows(kept)
    write_rows(
        out,
        (
            {**row, "violations": against[row["tool"]]} if row["tool"] in against else row
            for row in rows
        ),
    )
    return AugmentReport(len(catalog.tools), checked, spent, unknown)

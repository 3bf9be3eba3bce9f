"""The command that writes document variants."""

from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.document_variants import read_variants, variant_rows
from toolscope_core.catalog.isolation import read_files
from toolscope_core.cli.model_options import SAVED, AskRequest
from toolscope_core.cli.terminal import (
    Catalogs,
    KeepDoubtful,
    command,
    more,
    say,
    tell_doubtful,
    tell_spent,
)
from toolscope_core.files.json_lines import write_rows
from toolscope_core.model.numbers import quantity


@command()
def augment(
    catalogs: Catalogs,
    out: Annotated[Path, typer.Option(help="JSONL of document variants, for --variants.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Check the variants of this JSONL in place of asking a model."),
    ] = None,
    keep_doubtful: KeepDoubtful = False,
    ask: AskRequest = SAVED,
) -> None:
    """Have a model write what helps a search to find each tool, and check it."""
    from toolscope_core.cli.asking import asking
    from toolscope_core.rps.variant_writing import checked_variants, variants_of_model

    catalog = read_files(catalogs)
    asker, unknown = None, 0
    if source is None:
        with asking(ask) as (_, asker):
            variants = variants_of_model(catalog.tools, asker)
    else:
        loaded = read_variants(source, catalog)
        variants, unknown = dict(loaded.by_id), len(loaded.unknown)
    checked = checked_variants(catalog, variants)
    against = {
        tool_id: {"violations": [violation.message for violation in violations]}
        for tool_id, violations in checked.violations.items()
    }
    rows = variant_rows(variants if keep_doubtful else checked.clean)
    write_rows(out, ({**row, **against.get(row["tool"], {})} for row in rows))
    missing = len(catalog.tools) - len(checked.clean) - len(checked.doubtful)
    kept = "written with what speaks against them" if keep_doubtful else "left out"
    say(
        f"{quantity(len(catalog.tools), 'tool')}: {len(checked.clean):,} with a variant"
        f"{more(len(checked.doubtful), f'doubtful, {kept}')}{more(missing, 'without one')}"
        f"{more(unknown, 'of no tool here')}; variants: {out}"
    )
    tell_doubtful(
        [
            f"{tool_id}: {violations[0].message}"
            for tool_id, violations in sorted(checked.violations.items())
        ]
    )
    if asker is not None:
        tell_spent(asker.name, asker.spent)

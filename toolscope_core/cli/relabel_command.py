"""The command that rewrites an evaluation set after a bundle."""

from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.cli.terminal import command, say
from toolscope_core.files.json_lines import read_rows, write_rows
from toolscope_core.model.numbers import quantity


@command()
def relabel(
    queries: Annotated[Path, typer.Argument(help="JSONL with `gold` ids and `calls`.")],
    bundle: Annotated[Path, typer.Option(help="Folder that merge wrote, or Export's zip.")],
    out: Annotated[Path, typer.Option(help="JSONL of the rewritten queries.")],
) -> None:
    """Rewrite the gold answers and calls of an evaluation set for the merged toolset."""
    from toolscope_core.merging.calls import relabel_query
    from toolscope_core.merging.relabelling import read_relabelling

    mapping = read_relabelling(bundle)
    relabelled = [
        relabel_query(row, mapping.phi, mapping.arguments, mapping.names)
        for _, row in read_rows(queries)
    ]
    write_rows(out, [query.row for query in relabelled])
    shrunk = [query for query in relabelled if query.shrunk]
    lost = [name for query in relabelled for name in query.lost]
    unknown = sorted({name for query in relabelled for name in query.unknown})
    say(
        f"{quantity(len(relabelled), 'query')}, {sum(one.changed for one in relabelled)} changed, "
        f"{len(shrunk)} shrunk, {quantity(len(unknown), 'unknown id')}, "
        f"{quantity(len(lost), 'argument')} lost, "
        f"{quantity(sum(one.unread for one in relabelled), 'call')} not understood; written: {out}"
    )
    for query in shrunk:
        for group in query.shrunk:
            say(f"shrunk   query {query.row.get('id', '?')}: {', '.join(group)} are one now")
    for query in relabelled:
        if query.emptied:
            gone = ", ".join(query.removed)
            say(f"emptied  query {query.row.get('id', '?')}: {gone} left out, no gold tool stays")
    for name in sorted({name for query in relabelled for name in query.removed}):
        say(f"removed  {name}")
    for name in lost:
        say(f"lost     {name}")
    for name in unknown:
        say(f"unknown  {name}")

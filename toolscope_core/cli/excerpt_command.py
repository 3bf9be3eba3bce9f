"""The command that takes a part out of a large bundle, to be reviewed in the app."""

import json
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.cli.terminal import command, say
from toolscope_core.model.numbers import quantity


@command()
def excerpt(
    bundle: Annotated[Path, typer.Argument(help="Folder that merge wrote.")],
    out: Annotated[Path, typer.Option(help="JSON file of the tools, to be opened in the app.")],
    most: Annotated[
        int, typer.Option(min=0, help="So many proposals, those first that save most tokens.")
    ] = 1000,
    server: Annotated[
        list[str] | None, typer.Option(help="All tools of this server, too; again for each.")
    ] = None,
) -> None:
    """Write the tools of the proposals that save most, for a review in the app; merge --decisions
    then applies what was decided to the whole.
    """
    from toolscope_core.export.excerpt import excerpt as excerpt_of
    from toolscope_core.files.json_lines import write_whole

    taken = excerpt_of(bundle, most, server or ())
    write_whole(out, json.dumps(taken.toolset, ensure_ascii=True).encode(), "--out")
    waiting = quantity(taken.waiting, "proposal")
    say(f"{quantity(taken.tools, 'tool')}, {taken.proposals:,} of {waiting}; written: {out}")

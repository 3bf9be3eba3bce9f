"""The command that rewrites an evaluation set after a bundle."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.calls import RelabelledQuery, relabel_query
from toolscope_core.catalog.gone_names import left_names
from toolscope_core.catalog.relabelling import read_relabelling
from toolscope_core.cli.terminal import command, fail_for, say
from toolscope_core.files.folders import read_file
from toolscope_core.files.json_lines import objects_of_list, rows_in, utf8_text, write_rows
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.tool import JsonObject

_SHOWN = 20


@command
def relabel(
    queries: Annotated[Path, typer.Argument(help="JSONL with `gold` ids and `calls`.")],
    bundle: Annotated[Path, typer.Option(help="Folder that merge wrote, or Export's zip.")],
    out: Annotated[Path, typer.Option(help="JSONL of the rewritten queries.")],
    keep_unread: Annotated[
        bool,
        typer.Option(
            help="Write the file although a name that is gone is left where it is not understood."
        ),
    ] = False,
) -> None:
    """Rewrite the gold answers and calls of an evaluation set for the merged toolset. Exits with 1,
    and writes nothing, where a name that is gone is left in a text that is not understood.
    """
    mapping = read_relabelling(bundle)
    relabelled = {
        line: relabel_query(row, mapping.phi, mapping.arguments, mapping.names)
        for line, row in _rows(queries)
    }
    gone = mapping.gone_names
    texts = [
        f"line {line}, {one.path}: {one.name}{f', {one.new_name} now' if one.new_name else ''}"
        for line, query in relabelled.items()
        for one in left_names(query.row, gone, query.exempt)
    ]
    reason = _why_not(queries, [*relabelled.values()], texts)
    if keep_unread or not reason:
        write_rows(out, [query.row for query in relabelled.values()])
    say(_counts([*relabelled.values()], len(texts), "" if reason and not keep_unread else str(out)))
    _say_changes([*relabelled.values()])
    for place in texts[:_SHOWN]:
        say(f"left     {place}")
    if len(texts) > _SHOWN:
        say(f"left     and {len(texts) - _SHOWN:,} more")
    fail_for("" if keep_unread else reason)


def _rows(path: Path) -> list[tuple[int, JsonObject]]:
    """The rows of the evaluation set. Raises ``ConfigError`` for what is none, a JSON list too: its
    records are named by their keys.
    """
    try:
        content = read_file(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; give a JSONL file") from error
    try:
        document = json.loads(utf8_text(content, str(path)))
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, list):
        raise ConfigError(
            f"{path} is a JSON list of {quantity(len(document), 'record')} with "
            f"{_keys(objects_of_list(document))}; give one JSON object a line, "
            "with `gold` or `calls`"
        )
    return list(rows_in(content, str(path)))


def _why_not(path: Path, relabelled: Sequence[RelabelledQuery], remaining: Sequence[str]) -> str:
    """Why the file is not written; empty where everything in it is understood."""
    if remaining:
        places = quantity(len(remaining), "place")
        return (
            f"names that are gone are left at {places} of {path} that are not understood; correct "
            "them, or give --keep-unread"
        )
    if relabelled and not any(query.is_understood for query in relabelled):
        keys = _keys([query.row for query in relabelled])
        return f"no line of {path} has `gold` or `calls`, but {keys}; name them so"
    return ""


def _keys(rows: Sequence[JsonObject]) -> str:
    keys = dict.fromkeys(key for row in rows[:_SHOWN] for key in row)
    return listed((f"`{key[:40]}`" for key in keys), 8) or "no keys"


def _counts(relabelled: Sequence[RelabelledQuery], rest: int, out: str) -> str:
    """What became of the rows, as a sentence."""
    understood = sum(query.is_understood for query in relabelled)
    unknown = {name for query in relabelled for name in query.unknown_ids}
    lost = sum(len(query.losses) for query in relabelled)
    return (
        f"{quantity(len(relabelled), 'query')}, {understood:,} understood, "
        f"{sum(one.is_changed for one in relabelled):,} changed, "
        f"{sum(bool(one.shrunk) for one in relabelled):,} shrunk, "
        f"{quantity(sum(one.rename_count for one in relabelled), 'name')} replaced, {rest:,} left, "
        f"{quantity(len(unknown), 'unknown id')}, {quantity(lost, 'argument')} lost, "
        f"{quantity(sum(one.unread_calls for one in relabelled), 'call')} not understood; "
        f"{f'written: {out}' if out else 'nothing is written'}"
    )


def _say_changes(relabelled: Sequence[RelabelledQuery]) -> None:
    """A line for each shrink, each emptied gold, and each tool or argument that has no place."""
    for query in relabelled:
        for group in query.shrunk:
            say(f"shrunk   query {query.row.get('id', '?')}: {', '.join(group)} are one now")
    for query in relabelled:
        if query.is_emptied:
            gone = ", ".join(query.removed_tools)
            say(f"emptied  query {query.row.get('id', '?')}: {gone} left out, no gold tool stays")
    names = {
        "removed": sorted({name for query in relabelled for name in query.removed_tools}),
        "lost": [name for query in relabelled for name in query.losses],
        "unknown": sorted({name for query in relabelled for name in query.unknown_ids}),
    }
    for word, own in names.items():
        for name in own:
            say(f"{word:8} {name}")

"""The command that rewrites an evaluation set for use with a bundle."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.evaluation_rows import RelabelledQuery, relabel_query
from toolscope_core.catalog.gone_names import left_names
from toolscope_core.catalog.relabelling import read_relabelling
from toolscope_core.catalog.structured_texts import json_like
from toolscope_core.cli.terminal import command, fail_for, say
from toolscope_core.files.folders import read_named
from toolscope_core.files.json_lines import rows_in, utf8_text, write_rows, write_whole
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.tool import JsonObject

_SHOWN = 20


@command
def relabel(
    queries: Annotated[
        Path, typer.Argument(help="JSONL or JSON: evaluation sets, fine-tuning data, tasks.")
    ],
    bundle: Annotated[
        Path, typer.Option(help="Folder that merge wrote, or the zip from the Export page.")
    ],
    out: Annotated[Path, typer.Option(help="The rewritten file, in the same format.")],
    keep_unread: Annotated[
        bool,
        typer.Option(
            help="Write the file even if it still has old names in places that are not understood."
        ),
    ] = False,
) -> None:
    """Rewrite the gold answers, calls and tools of an evaluation set for the merged toolset. Exits
    with 1, and writes nothing, if a call cannot be read, or if an old name is left in a text that
    is not understood.

    Example: toolscope relabel queries.jsonl --bundle bundle --out queries.new.jsonl
    """
    mapping = read_relabelling(bundle)
    document, rows = _rows(queries)
    relabelled = {
        place: relabel_query(row, mapping.phi, mapping.arguments, mapping.names)
        for place, row in rows
    }
    gone = mapping.gone_names
    texts = [
        f"{place}, {one.path}: {one.name}{f', {one.new_name} now' if one.new_name else ''}"
        for place, query in relabelled.items()
        for one in left_names(query.row, gone, query.exempt)
    ]
    reason = _why_not(queries, [*relabelled.values()], texts)
    if keep_unread or not reason:
        _write(out, [query.row for query in relabelled.values()], document)
    say(_counts([*relabelled.values()], len(texts), "" if reason and not keep_unread else str(out)))
    _say_changes([*relabelled.values()])
    for place in texts[:_SHOWN]:
        say(f"left     {place}")
    if len(texts) > _SHOWN:
        say(f"left     and {len(texts) - _SHOWN:,} more")
    fail_for("" if keep_unread else reason)


def _rows(path: Path) -> tuple[str, list[tuple[str, JsonObject]]]:
    """The text of the document that contains the rows, and the rows of the evaluation set by place.

    A document is a list of objects, or one object on several lines. The text is empty for JSON
    Lines. Raises ``ConfigError`` for anything else.
    """
    content = read_named(path, "use a JSONL file")
    text = utf8_text(content, str(path))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    is_whole = isinstance(document, dict) and "\n" in text.strip()
    if not (is_whole or isinstance(document, list)):
        return "", [(f"line {line}", row) for line, row in rows_in(content, str(path))]
    rows = [document] if isinstance(document, dict) else document
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise ConfigError(f"{path}, record {number} is {row!r:.40}; use a list of objects")
    return text, [(f"record {number}", row) for number, row in enumerate(rows, 1)]


def _write(out: Path, rows: Sequence[JsonObject], document: str) -> None:
    """Write the rows as JSON Lines, or in the form of the document that contained them.

    Raises ``ExportError`` if the file cannot be written.
    """
    if not document:
        write_rows(out, rows)
        return
    is_list = document.lstrip("\ufeff \t\r\n").startswith("[")
    text = json_like(document, list(rows) if is_list else rows[0])
    write_whole(out, f"{text}\n".encode("utf-8", "backslashreplace"), "--out")


def _why_not(path: Path, relabelled: Sequence[RelabelledQuery], remaining: Sequence[str]) -> str:
    """Why the file is not written; empty if everything in it was understood."""
    if remaining:
        places = quantity(len(remaining), "place")
        return (
            f"{path} still has old names at {places}, which are not understood; correct them, or "
            "use --keep-unread"
        )
    if unread_count := sum(query.unread_calls for query in relabelled):
        return (
            f"{quantity(unread_count, 'call')} of {path} cannot be read: they do not name "
            "exactly one tool of the bundle; use the tool's id, or --keep-unread"
        )
    if relabelled and not any(query.is_understood for query in relabelled):
        keys = _keys([query.row for query in relabelled])
        return (
            f"{path} names no tool of the bundle in the fields that are read: its keys are "
            f"{keys}; use `gold` or `calls`, or the bundle of its tools"
        )
    return ""


def _keys(rows: Sequence[JsonObject]) -> str:
    keys = dict.fromkeys(key for row in rows[:_SHOWN] for key in row)
    return listed((f"`{key[:40]}`" for key in keys), 8) or "no keys"


def _counts(relabelled: Sequence[RelabelledQuery], rest: int, out: str) -> str:
    """A sentence on what happened to the rows."""
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
    """Print one line for each shrunk gold answer, each emptied one, and each tool or argument
    that has no place.
    """
    for query in relabelled:
        for group in query.shrunk:
            say(f"shrunk   query {query.row.get('id', '?')}: {', '.join(group)} are one now")
    for query in relabelled:
        if query.is_emptied:
            gone = ", ".join(query.removed_tools)
            say(f"emptied  query {query.row.get('id', '?')}: {gone} left out, no gold tool is left")
    names = {
        "removed": sorted({name for query in relabelled for name in query.removed_tools}),
        "lost": [name for query in relabelled for name in query.losses],
        "unknown": sorted({name for query in relabelled for name in query.unknown_ids}),
    }
    for word, own in names.items():
        for name in own:
            say(f"{word:8} {name}")

"""Reads φ, α and old names from a bundle that others may have edited."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_args

from jsonschema_rs import Draft202012Validator

from toolscope_core.catalog.gone_names import GoneNames, called_names, gone_forms
from toolscope_core.catalog.sources import BUNDLE, why_unreadable
from toolscope_core.files.archives import bundle_folder
from toolscope_core.files.folders import read_file
from toolscope_core.model.catalog import Catalog, FormerName
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, NestedRename, Operation, grouped
from toolscope_core.model.errors import ExportError
from toolscope_core.model.plan import Relabel, RelabelStatus
from toolscope_core.model.tool import JsonObject, SubstituteTool, Tool, canonical_json

_T = TypeVar("_T")
_MOST_SAID = 200
_TEXT, _GONE = {"type": "string"}, {"type": ["string", "null"]}
_POINTER = {"type": "string", "pattern": "^/.+/[^/]+$"}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_ENTRY = {"old_id": _TEXT, "new_id": _GONE, "old_name": _TEXT, "new_name": _GONE}
_RELABEL = _object({"entries": _list(_object(_ENTRY))})
_MOVE = _object({"from": _TEXT, "to": _TEXT, "op": {"enum": [*get_args(Operation)]}})
_MOVE["properties"]["values"] = _list({"type": "array", "minItems": 2, "maxItems": 2})
_ANY = {"type": "object"}
_MAP = _object({"to": _TEXT, "args": _list(_MOVE), "constants": _ANY, "dropped": _ANY})
_MAP["properties"]["nested"] = _list(_object({"from": _POINTER, "to": _POINTER}))
_ARGUMENTS = _object({"maps": {"type": "object", "additionalProperties": _MAP}})
"""The JSON Schemas for the parts of a bundle's files that ``relabel`` reads."""


@dataclass(frozen=True, slots=True)
class Relabelling:
    """φ and α as read from a bundle.

    ``phi`` maps old ids to new ones (``None`` for a tool that was left out). ``arguments`` has the
    maps of merged tools, by their old ids. ``names`` has the names that only one tool has, with and
    without the server: old name → (old id, new name). ``relabels`` are the rows of φ.
    """

    phi: Mapping[str, str | None]
    arguments: Mapping[str, ArgumentMap]
    names: Mapping[str, tuple[str, str | None]]
    relabels: tuple[Relabel, ...]

    @property
    def gone_names(self) -> GoneNames:
        """The names and ids that no tool has any more, in every form, each mapped to the new
        name.
        """
        return gone_forms(self.relabels)


def read_relabelling(path: Path) -> Relabelling:
    """φ and α from the folder or zip of a bundle.

    Raises ``ExportError`` if the bundle is missing, damaged or of another version, and
    ``ConfigError`` for a damaged zip.
    """
    with bundle_folder(path) as folder:
        relabel = _read(folder / "relabel.json", _RELABEL)
        maps = _read(folder / "arguments.json", _ARGUMENTS)
    phi = {row["old_id"]: row["new_id"] for row in relabel["entries"]}
    alphas = {old: _argument_map(old, row) for old, row in maps["maps"].items()}
    for alpha in alphas.values():
        _check_one_to_one(alpha, path)
    relabels = tuple(map(_relabel, relabel["entries"]))
    return Relabelling(phi, alphas, called_names(relabels), relabels)


def _relabel(row: JsonObject) -> Relabel:
    new, server = row["new_id"], str(row.get("server") or "")
    status: RelabelStatus = "removed" if new is None else "merged"
    if new == row["old_id"]:
        status = "kept" if row["new_name"] == row["old_name"] else "renamed"
    return Relabel(row["old_id"], new, server, row["old_name"], row["new_name"], status)


def argument_row(alpha: ArgumentMap) -> JsonObject:
    """An α in the form that the bundle writes."""
    moves = []
    for move in alpha.moves:
        entry: dict[str, Any] = {"from": move.source, "to": move.target, "op": move.op}
        if move.values:
            entry["values"] = [list(pair) for pair in move.values]
        moves.append(entry)
    row = {
        "to": alpha.to,
        "args": moves,
        "constants": dict(alpha.constants),
        "dropped": dict(alpha.dropped),
    }
    if alpha.notes:
        row["notes"] = list(alpha.notes)
    nested = [{"from": item.source, "to": item.target} for item in alpha.nested]
    return {**row, "nested": nested} if nested else row


def argument_maps(text: str) -> tuple[ArgumentMap, ...] | None:
    """The maps in a JSON list of ``argument_row`` values; ``None`` for any other text."""
    try:
        rows = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return None
    if not Draft202012Validator(_list(_MAP)).is_valid(rows):
        return None
    return tuple(_argument_map("", row) for row in rows)


def names_now(
    names: Iterable[FormerName], phi: Mapping[str, str | None], alphas: Mapping[str, ArgumentMap]
) -> list[FormerName]:
    """The former names after a merge: φ renames their tools, and α extends their maps."""
    return [
        replace(one, tool_id=phi.get(one.tool_id) or "", maps=_longer(one, alphas)) for one in names
    ]


def with_members(
    tools: Iterable[Tool], catalog: Catalog, phi: Mapping[str, str | None]
) -> tuple[Tool, ...]:
    """The tools, each with those tools of the catalog that it replaces according to ``phi``.

    A search also finds a tool by the words of the tools that it replaces.
    """
    former = grouped(catalog.tools, lambda tool: phi.get(tool.id, tool.id))
    members = ((tool, tuple(former.get(tool.id, ()))) for tool in tools)
    return tuple(
        own[0] if own == (tool,) else SubstituteTool.of(tool, own) for tool, own in members
    )


def bundle_bytes(path: Path) -> bytes:
    """The content of a file in a bundle. Raises ``ExportError`` if the file cannot be read."""
    try:
        return read_file(path)
    except OSError as error:
        raise ExportError(
            f"{path} cannot be read: {error.strerror}; use the folder that merge wrote, or the "
            "zip from the Export page"
        ) from error


def bundle_value(path: Path, kind: type[_T]) -> _T:
    """The JSON in a file of a bundle.

    Raises ``ExportError`` if the JSON is invalid or of another kind.
    """
    try:
        content = json.loads(bundle_bytes(path))
    except (ValueError, RecursionError) as error:
        raise ExportError(f"{path} is not JSON ({error}); export the bundle again") from error
    if not isinstance(content, kind):
        raise ExportError(
            f"{path} is not a valid bundle file: it contains a {type(content).__name__}, not "
            f"{'an object' if kind is dict else 'a list'}; export the bundle again"
        )
    return content


def _read(path: Path, shape: dict[str, Any]) -> JsonObject:
    content = bundle_value(path, dict)
    reason = why_unreadable(str(path), content, BUNDLE)
    if reason:
        raise ExportError(reason)
    # the validator does not accept lone surrogates, which names may contain
    text = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
    error = next(Draft202012Validator(shape).iter_errors(json.loads(text)), None)
    if error is not None:
        place = "/".join(map(str, error.instance_path))[:_MOST_SAID] or "the top"
        raise ExportError(
            f"{path} is not a valid bundle file: at {place}, "
            f"{error.message[:_MOST_SAID]}; export the bundle again"
        )
    return content


def _argument_map(old: str, row: JsonObject) -> ArgumentMap:
    moves = tuple(
        ArgumentMove(
            move["from"],
            move["to"],
            move["op"],
            tuple((old_value, new_value) for old_value, new_value in move.get("values", ())),
        )
        for move in row["args"]
    )
    nested = tuple(NestedRename(item["from"], item["to"]) for item in row.get("nested", ()))
    return ArgumentMap(old, row["to"], moves, row["constants"], row["dropped"], nested=nested)


def _check_one_to_one(alpha: ArgumentMap, path: Path) -> None:
    """Raises ``ExportError`` if the map would join two arguments, in either direction."""
    old = [*alpha.dropped, *(move.source for move in alpha.moves)]
    new = [*alpha.constants, *(move.target for move in alpha.moves)]
    twice = [name for names in (old, new) for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ExportError(f"{path} maps {twice[0]!r} of {alpha.tool_id} twice; export it again")


def _longer(name: FormerName, alphas: Mapping[str, ArgumentMap]) -> str:
    alpha = alphas.get(name.tool_id)
    if alpha is None or changes_nothing(alpha):
        return name.maps
    return canonical_json([*json.loads(name.maps or "[]"), argument_row(alpha)])


def changes_nothing(alpha: ArgumentMap) -> bool:
    """Whether α leaves the arguments of every call unchanged."""
    has_other_changes = alpha.constants or alpha.dropped or alpha.nested
    is_same = all(one.op == "rename" and one.source == one.target for one in alpha.moves)
    return is_same and not has_other_changes

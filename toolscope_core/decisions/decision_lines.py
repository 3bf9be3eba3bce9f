"""Decisions as lines of ``decisions.jsonl``: written, read, replayed, or imported into a log."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from toolscope_core.catalog.renamed_tools import COMPARED_TEXT, new_ids_of
from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.document_rules import document_problems
from toolscope_core.decisions.forms import ACTIONS, check_form, id_list, texts
from toolscope_core.decisions.log import active, admit, recorded
from toolscope_core.files.json_lines import lines_of, read_rows, rows_in
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Document
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import JsonObject, Tool


def decision_of_row(catalog: Catalog, row: Mapping[str, Any]) -> Decision:
    """The decision in one line of a ``decisions.jsonl``, ready for ``admit``, with the line's
    ``seq``.

    ``fingerprints`` may be missing if ``ids`` name tools of ``catalog``, and vice versa. ``detail``
    may name tools by id or by fingerprint. Raises ``DecisionError`` for an invalid line.
    """
    action = next((one for one in ACTIONS if one == row.get("action")), None)
    if action is None:
        raise DecisionError(f"`action` is {row.get('action')!r}; use one of {', '.join(ACTIONS)}")
    detail = row.get("detail") or {}
    if not isinstance(detail, dict):
        raise DecisionError(f"`detail` is {detail!r}; use an object")
    seq = row.get("seq") or 0
    if not isinstance(seq, int):
        raise DecisionError(f"`seq` is {seq!r}; use a whole number, or omit `seq`")
    at = str(row.get("at") or "")
    if not (at.isascii() and at.isprintable()):
        raise DecisionError(f"`at` is {at[:40]!r}; use a time such as 2026-01-02T10:00:00+00:00")
    ids = texts(row.get("ids") or (), "ids")
    prints = texts(row.get("fingerprints") or (), "fingerprints")
    if not prints:
        prints = tuple(_tool_with(catalog.by_id, "tool id", i).fingerprint for i in ids)
    if not ids:
        owner = {tool.fingerprint: tool for tool in reversed(catalog.tools)}
        ids = tuple(_tool_with(owner, "fingerprint", one).id for one in prints)
    return Decision(
        action=action,
        fingerprints=prints,
        ids=ids,
        reviewer=str(row.get("reviewer") or ""),
        at=at,
        seq=seq,
        detail=_by_fingerprint(detail, dict(zip(ids, prints, strict=False))),
    )


def decision_row(decision: Decision) -> dict[str, Any]:
    """A decision as a line of ``decisions.jsonl``, in JSON values; the inverse of
    ``decision_of_row``.
    """
    return {
        "seq": decision.seq,
        "at": decision.at,
        "reviewer": decision.reviewer,
        "action": decision.action,
        "fingerprints": list(decision.fingerprints),
        "ids": list(decision.ids),
        "detail": dict(decision.detail),
    }


def under_new_ids(decision: Decision, new_ids: Mapping[str, str]) -> Decision:
    """The decision with the current ids of its tools; ``new_ids`` maps old ids to new ones.

    The fingerprints do not change, so a renamed tool counts as changed.
    """
    ids = tuple(new_ids.get(one, one) for one in decision.ids)
    is_same = ids == decision.ids or len(set(ids)) < len(ids)
    return decision if is_same else replace(decision, ids=ids)


def _tool_with(tools: Mapping[str, Tool], what: str, key: str) -> Tool:
    if key not in tools:
        raise DecisionError(f"the catalog has no tool with the {what} {key!r}; check the decision")
    return tools[key]


def _by_fingerprint(detail: Mapping[str, Any], prints: Mapping[str, str]) -> dict[str, Any]:
    """The ``detail`` with its tool ids replaced by fingerprints."""

    def translate(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [translate(item) for item in value]
        is_id = isinstance(value, str) and value not in prints.values()
        return prints.get(value, value) if is_id else value

    places = ("groups", "drop", "canonical")
    maps = detail.get("maps")
    if isinstance(maps, dict):
        detail = {**detail, "maps": {prints.get(one, one): entry for one, entry in maps.items()}}
    return {key: translate(value) if key in places else value for key, value in detail.items()}


_TOOLS = "tools"
"""A key of a row: the tools that no earlier row described, by id. With their descriptions, renamed
tools can be found in another version.
"""
_DOCUMENT = ("name", "description", "schema")


ImportOutcome = Literal["new", "suspended", "recorded", "of another catalog", "refused"]


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """A decision from a file, and the outcome of importing it.

    *new* is added and active. *suspended* is added but inactive, because one of its tools has
    changed. *recorded* is already in the log. *of another catalog* names no tool of this catalog
    and is skipped. *refused* cannot be added. ``why`` says which tools have changed or are gone, or
    why the decision is refused; it may be empty.
    """

    decision: Decision
    outcome: ImportOutcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """The effect of importing a decisions file into a log, row by row in file order."""

    rows: tuple[ImportedRow, ...]

    @property
    def new(self) -> tuple[Decision, ...]:
        """The decisions that would be added, in order."""
        return tuple(row.decision for row in self.rows if row.outcome in ("new", "suspended"))


def decision_lines(log: Sequence[Decision], catalog: Catalog) -> bytes:
    """The log as a ``decisions.jsonl`` with every row, and with its tools as described in
    ``catalog``.
    """
    ids_so_far = set[str]()

    def rows() -> Iterator[JsonObject]:
        for one in log:
            tools = {i: catalog.by_id[i] for i in one.ids if i in catalog.by_id}
            fresh = {i: _tool_row(tool) for i, tool in tools.items() if i not in ids_so_far}
            ids_so_far.update(fresh)
            yield decision_row(one) | ({_TOOLS: fresh} if fresh else {})

    return lines_of(rows())


def _tool_row(tool: Tool) -> JsonObject:
    """The parts of a tool by which the ``versions`` module recognises the tool."""
    return {
        "name": tool.name,
        "server": tool.server,
        "description": tool.description[:COMPARED_TEXT],
        "parameters": [parameter.name for parameter in tool.parameters],
    }


def read_decisions(catalog: Catalog, path: Path) -> tuple[Decision, ...]:
    """The log in a decisions file, read as in ``decisions_in``."""
    return tuple(numbered_decisions(catalog, path).values())


def numbered_decisions(catalog: Catalog, path: Path) -> dict[int, Decision]:
    """The decisions in a file, each by its line number."""
    return _by_line(catalog, read_rows(path), path.name)


def decisions_in(catalog: Catalog, content: bytes, name: str) -> tuple[Decision, ...]:
    """The log in the JSON lines of a decisions file called ``name``.

    Tools that were renamed since the file was written get their new ids. In a profile they do so
    only if they stayed on their server, because another server may be another account. A line with
    a ``seq`` was admitted before and is replayed unchanged. A line without a ``seq`` must pass the
    rules of review.

    Raises ``DecisionError`` with the line of a refused decision.
    """
    return tuple(_by_line(catalog, rows_in(content, name), name).values())


def _by_line(
    catalog: Catalog, rows: Iterable[tuple[int, JsonObject]], name: str
) -> dict[int, Decision]:
    rows, log, by_line = list(rows), tuple[Decision, ...](), dict[int, Decision]()
    snapshots = (
        _tool(i, about) for _, row in rows for i, about in _object(row.get(_TOOLS)).items()
    )
    earlier = {tool.id: tool for tool in snapshots if tool}
    new_ids = new_ids_of(list(earlier.values()), catalog)
    of_account = {
        old: new for old, new in new_ids.items() if earlier[old].server == catalog.by_id[new].server
    }
    for number, row in rows:
        try:
            decision = decision_of_row(catalog, row)
            is_profile = decision.action == "profile"
            decision = under_new_ids(decision, of_account if is_profile else new_ids)
            _check_document(decision)
            if decision.seq:
                entry = recorded(log, decision)
            else:
                entry = admit(log, decision, None, suspended_decisions(catalog, log))
        except DecisionError as error:
            raise DecisionError(f"{name}, line {number}: {error}") from error
        if entry not in log:
            log, by_line[number] = (*log, entry), entry
    return by_line


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _tool(tool_id: str, about: object) -> Tool | None:
    """The tool that a row describes.

    ``None`` if the description is damaged. This is not an error, because the description only helps
    to find the tool.
    """
    parts = _object(about)
    name, server, description = (parts.get(key) for key in ("name", "server", "description"))
    names = parts.get("parameters")
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        return None
    if not (isinstance(name, str) and isinstance(server, str) and isinstance(description, str)):
        return None
    return Tool(tool_id, name, description, server, {"properties": {key: {} for key in names}})


def count_of_others(catalog: Catalog, log: Sequence[Decision]) -> int:
    """The number of decisions that name tools, but no tool of this catalog, by id or by content."""
    names_tools = _tools_of(catalog)
    return sum(not names_tools(one) for one in log if one.fingerprints)


def _tools_of(catalog: Catalog) -> Callable[[Decision], bool]:
    """A test for whether a decision names a tool of the catalog, by id or by content."""
    ids, prints = catalog.by_id.keys(), {tool.fingerprint for tool in catalog.tools}
    return lambda one: not (ids.isdisjoint(one.ids) and prints.isdisjoint(one.fingerprints))


def import_preview(
    catalog: Catalog, log: Sequence[Decision], other_log: Sequence[Decision]
) -> ImportPreview:
    """A preview of adding the active decisions of ``other_log`` to ``log``, in order.

    Each decision keeps its reviewer and time. Refused decisions are left out of the new log.
    """
    grown, rows = tuple(log), list[ImportedRow]()
    contents = [_content(one) for one in active(log)]
    names_tools = _tools_of(catalog)
    for one in active(other_log):
        own = replace(one, seq=0)
        if one.fingerprints and not names_tools(one):
            rows.append(ImportedRow(own, "of another catalog"))
        elif _content(one) in contents:
            rows.append(ImportedRow(own, "recorded"))
        else:
            try:
                row = admit(grown, own, None, suspended_decisions(catalog, grown))
            except DecisionError as error:
                rows.append(ImportedRow(own, "refused", str(error)))
                continue
            rows.append(ImportedRow(own, "recorded") if row in grown else _row_of(catalog, own))
            grown = grown if row in grown else (*grown, row)
    return ImportPreview(tuple(rows))


def _row_of(catalog: Catalog, decision: Decision) -> ImportedRow:
    """The outcome of adding a decision; some of its tools may have changed or be gone."""
    prints = {tool.fingerprint for tool in catalog.tools}
    unmatched = [
        tool_id
        for tool_id, member in zip(decision.ids, decision.fingerprints, strict=True)
        if member not in prints
    ]
    changed = [tool_id for tool_id in unmatched if tool_id in catalog.by_id]
    gone = [tool_id for tool_id in unmatched if tool_id not in catalog.by_id]
    why = "; ".join(
        f"{id_list(ids)} {what}" for ids, what in ((changed, "changed"), (gone, "gone")) if ids
    )
    waits = bool(suspended_decisions(catalog, (replace(decision, seq=1),)))
    return ImportedRow(decision, "suspended" if waits else "new", why)


def _content(decision: Decision) -> tuple[object, ...]:
    """The content by which the same decision is recognised in two logs."""
    return decision.action, decision.fingerprints, decision.reviewer, decision.at, decision.detail


def _check_document(decision: Decision) -> None:
    """Check an edit from a file like an edit on the screen."""
    if decision.action != "edit":
        return
    check_form(decision)
    before = Document("", "told", None)
    edits = {key: decision.detail[key] for key in _DOCUMENT if key in decision.detail}
    problems = document_problems(replace(before, **edits), before, frozenset())
    if problems:
        raise DecisionError(f"the document is not valid: {'; '.join(problems)}")

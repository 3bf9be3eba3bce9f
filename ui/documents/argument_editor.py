"""The editor for the argument maps of a merge. A table shows what each old argument becomes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from toolscope_core.catalog import calls
from toolscope_core.model.cluster import ArgumentMap, Document
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import tool_key
from toolscope_core.model.tool import JsonObject, Tool, canonical_json, digest
from ui.documents.edited_documents import value_of
from ui.shared import safe_text
from ui.shared.cards.argument_panel import read_object
from ui.shared.cards.cards import Card, cell_text

TYPED, BEGAN = "typed_maps", "map_began"
"""Session keys. ``TYPED`` keeps the edits of the maps for each form; ``BEGAN`` keeps the initial
rows of each table.
"""

DROPPED = "(dropped)"


@dataclass(frozen=True, slots=True)
class MapRow:
    """An argument of an old tool, and the merged argument that it becomes.

    ``becomes`` may be ``DROPPED``; then ``reason`` says why. ``values`` is the table of values as a
    JSON object that maps each old value (as text) to the new one.
    """

    argument: str
    type: str
    becomes: str
    values: str = ""
    reason: str = ""


def typed_maps(form_key: str, saved_maps: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    """People's edits of the maps, saved or not, keyed by tool id."""
    typed: dict[str, dict[str, JsonObject]] = st.session_state.setdefault(TYPED, {})
    return typed.setdefault(form_key, dict(saved_maps))


def argument_editor(
    form_key: str, card: Card, generated: Sequence[ArgumentMap], maps: dict[str, JsonObject]
) -> tuple[str, ...]:
    """Draw the map of one member as a table, and put its differences from ``generated`` into
    ``maps``.

    Returns the problems. ``card`` has the current maps.
    """
    tools = {tool.id: tool for tool in card.tools}
    names = {one: f"{tool.name} ({tool.server or one})" for one, tool in tools.items()}
    member = st.selectbox(
        "Calls to", list(tools), key=f"map_of_{form_key}", format_func=lambda one: names[one]
    )
    alphas = {alpha.tool_id: alpha for alpha in card.cluster.arguments}
    before = next(alpha for alpha in generated if alpha.tool_id == member)
    targets = [*(card.cluster.document.schema or {}).get("properties", {}), DROPPED]
    key = f"map_{form_key}_{tool_key(member)}_{digest(targets)[:6]}"
    rows, constants = _table(key, tools[member], alphas[member], targets)
    try:
        changes = given_by(tools[member], before, rows, constants)
    except DecisionError as error:
        return (str(error),)
    if changes:
        maps[member] = changes
    else:
        maps.pop(member, None)
    return ()


def with_map_cells(rows: Sequence[MapRow], edits: Mapping[str, Any]) -> list[MapRow]:
    """The rows after the edits in a grid. An emptied cell becomes an empty text."""
    changed_rows = {
        int(at): {name: value or "" for name, value in cells.items()}
        for at, cells in edits.get("edited_rows", {}).items()
    }
    return [replace(row, **changed_rows.get(at, {})) for at, row in enumerate(rows)]


def map_rows(tool: Tool, alpha: ArgumentMap) -> tuple[MapRow, ...]:
    """A row for each declared argument of the tool, in order."""
    moves = {move.source: move for move in alpha.moves}
    rows = []
    for parameter in tool.parameters:
        move = moves.get(parameter.name)
        if move is None:
            reason = alpha.dropped.get(parameter.name, "")
            rows.append(MapRow(parameter.name, parameter.type, DROPPED, reason=reason))
            continue
        values = {cell_text(old): new for old, new in move.values}
        text = json.dumps(values, ensure_ascii=False) if values else ""
        rows.append(MapRow(parameter.name, parameter.type, move.target, text))
    return tuple(rows)


def given_by(
    tool: Tool, generated: ArgumentMap, rows: Sequence[MapRow], constants: str
) -> dict[str, Any]:
    """The differences between the edited map and the ``generated`` one.

    The edited map consists of ``rows`` and ``constants`` (a JSON object). The differences have the
    form of ``merging.edited_maps`` and are empty if there are none. Raises ``DecisionError`` if a
    table of values or the constants cannot be read, or if an argument is dropped without a reason.
    """
    before = {row.argument: row for row in map_rows(tool, generated)}
    kinds = {parameter.name: parameter.type for parameter in tool.parameters}
    moves: dict[str, Any] = {}
    dropped: dict[str, str] = {}
    for row in rows:
        if row == before.get(row.argument):
            continue
        if row.becomes == DROPPED:
            if not row.reason.strip():
                raise DecisionError(
                    f"`{row.argument}` of {tool.name} is dropped without a reason; say why "
                    "its callers can do without it"
                )
            dropped[row.argument] = row.reason.strip()
            continue
        values = _object(row.values, f"the values of `{row.argument}`")
        moves[row.argument] = {"to": row.becomes}
        if values:
            table = [[value_of(old, kinds[row.argument]), new] for old, new in values.items()]
            moves[row.argument]["values"] = table
    changes: dict[str, Any] = {}
    if moves:
        changes["moves"] = moves
    if dropped:
        changes["dropped"] = dropped
    always = _object(constants, "what is always sent")
    if canonical_json(always) != canonical_json(dict(generated.constants)):
        changes["constants"] = always
    return changes


def reachable(
    tools: Sequence[Tool], arguments: Sequence[ArgumentMap]
) -> tuple[tuple[str, str], ...]:
    """The required arguments of the old tools that have no place in the merged tool.

    Each is a pair: the name of its tool and its own name.
    """
    maps: Mapping[str, ArgumentMap] = {alpha.tool_id: alpha for alpha in arguments}
    return tuple(
        (tool.name, parameter.name)
        for tool in tools
        for parameter in tool.parameters
        if parameter.required
        and tool.id in maps
        and parameter.name not in {move.source for move in maps[tool.id].moves}
    )


def as_constants(constants: JsonObject) -> str:
    """The arguments that are always sent, as text for a field. Empty if there are none."""
    return json.dumps(dict(constants), ensure_ascii=False) if constants else ""


def _table(
    key: str, tool: Tool, alpha: ArgumentMap, targets: list[str]
) -> tuple[list[MapRow], str]:
    """Draw the table and the constants. Returns both as edited; the table starts with the original
    map.
    """
    began: dict[str, tuple[tuple[MapRow, ...], str]] = st.session_state.setdefault(BEGAN, {})
    if key not in st.session_state:
        began[key] = map_rows(tool, alpha), as_constants(alpha.constants)
    start, constants = began[key]
    text = st.column_config.TextColumn
    st.data_editor(
        pd.DataFrame([asdict(row) for row in start], dtype=object),
        key=key,
        hide_index=True,
        disabled=["argument", "type"],
        column_config={
            "argument": text("old argument"),
            "type": text(width="small"),
            "becomes": st.column_config.SelectboxColumn(options=targets, required=True),
            "values": text("values", help='A JSON object: {"c": "celsius"}'),
            "reason": text("why it can be dropped"),
        },
        alt=f"What becomes of each argument of {tool.name}",
    )
    always = st.text_input(
        "Always sent (JSON)", constants, key=f"{key}_constants", placeholder='{"unit": "celsius"}'
    )
    return with_map_cells(start, st.session_state[key]), always


def _object(text: str, noun: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise DecisionError(
            f"{noun}: {text[:80]!r} is not a JSON object; use a JSON object such as "
            '{"old": "new"}'
        )
    return value


@dataclass(frozen=True, slots=True)
class TriedCall:
    """A call mapped to the merged tool and back.

    ``new`` are the arguments for the merged tool, ``back`` are those mapped back, and ``losses``
    are those that have no place in the merged tool. ``problems`` say what the merged schema
    rejects, ``refusals`` what the old tool rejects. ``undone`` says whether mapping there and back
    gives the same call.
    """

    new: JsonObject
    back: JsonObject
    losses: tuple[str, ...]
    problems: tuple[str, ...]
    undone: bool
    refusals: tuple[str, ...] = ()


def try_it(card: Card, key: str) -> None:
    """Draw a field for a call of one member, and the mapped call."""
    tools = {tool.id: tool for tool in card.tools}
    alphas = {alpha.tool_id: alpha for alpha in card.cluster.arguments}
    with st.expander("Try a call", icon=":material/play_circle:"):
        tool_id = st.selectbox(
            "Old tool", list(tools), key=f"try_tool_{key}",
            index=min(1, len(tools) - 1), format_func=lambda one: f"{tools[one].name} ({one})",
        )  # fmt: skip
        tool = tools[tool_id]
        text = st.text_area(
            "Old call, as JSON", sample_call(tool), key=f"try_{key}_{tool_key(tool_id)}", height=140
        )
        trial = safe_text.value_or_error(
            lambda: try_call(tool, alphas[tool_id], card.cluster.document, text)
        )
        if trial is None:
            return
        for refusal in trial.refusals:
            st.warning(
                safe_text.untrusted(f"{tool.name} itself does not accept this call: {refusal}")
            )
        result, back = st.columns(2)
        for column, title, name, arguments in (
            (result, "Becomes", card.cluster.document.name, trial.new),
            (back, "And back", tool.name, trial.back),
        ):
            column.caption(title)
            call = {"name": name, "arguments": dict(arguments)}
            column.code(json.dumps(call, ensure_ascii=False, indent=1), language="json")
        for name in trial.losses:
            st.warning(f"The merged tool has no place for `{safe_text.untrusted(name)}`.")
        for problem in trial.problems:
            st.error(safe_text.untrusted(f"The merged tool rejects the call: {problem}"))
        if trial.undone and not trial.problems and not trial.refusals:
            st.markdown(
                ":green[:material/check:] Translated there and back, the call is unchanged."
            )


def try_call(tool: Tool, alpha: ArgumentMap, document: Document, text: str) -> TriedCall:
    """A call of ``tool``, mapped.

    ``text`` is JSON: either the arguments, or a whole call in any vendor's form. Raises
    ``DecisionError`` if it is not a JSON object.
    """
    arguments = called_with(text)
    mapped = calls.map_call(alpha, arguments)
    types = {parameter.name: parameter.type for parameter in tool.parameters}
    back = calls.unmap_call(alpha, mapped.arguments, types).arguments
    is_same = canonical_json(dict(back)) == canonical_json(dict(arguments))
    unknown = [f"it has no argument `{name}`" for name in arguments if name not in types]
    return TriedCall(
        mapped.arguments,
        back,
        mapped.losses,
        calls.call_refusals(document.schema, mapped.arguments),
        is_same,
        (*unknown, *calls.call_refusals(tool.schema or {}, arguments)),
    )


def called_with(text: str) -> dict[str, Any]:
    """The arguments in a call given as JSON. Raises ``DecisionError``."""
    value = read_object(text)
    called = calls.read_call(value)
    return dict(called[1]) if called else value


def sample_call(tool: Tool) -> str:
    """Example arguments as JSON. They show the types of a tool's parameters."""
    return json.dumps(calls.sample_arguments(tool.parameters), ensure_ascii=False, indent=1)


def signature(document: Document) -> str:
    """The merged tool written as a call with its arguments.

    For example ``name(city: string, unit?: "c" | "f" = "c")``. Optional arguments have a question
    mark; listed values and defaults are in JSON.
    """
    parts = []
    for parameter in Tool("", document.name, schema=document.schema).parameters:
        kind = " | ".join(map(canonical_json, parameter.enum)) or parameter.type
        default = parameter.schema.get("default")
        suffix = "" if default is None else f" = {canonical_json(default)}"
        parts.append(f"{parameter.name}{'' if parameter.required else '?'}: {kind}{suffix}")
    inside = ",\n  ".join(parts)
    return f"{document.name}(\n  {inside}\n)" if parts else f"{document.name}()"

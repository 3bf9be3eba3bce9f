"""The parameters of the merged tool as agents see them, beside the members' parameters.

Differences between members are marked, and so are declarations that agents no longer see.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st

from toolscope_core.catalog.calls import foreign_arguments, sample_arguments, unmap_call
from toolscope_core.catalog.schema.walking import properties_of
from toolscope_core.merging.clusters import documented
from toolscope_core.model.cluster import ArgumentMove
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import JsonObject, Parameter, Tool, canonical_json
from ui.shared import data_tables, safe_text
from ui.shared.cards.cards import ArgumentRow, Card, cell_text
from ui.shared.data_tables import Column

COLUMNS_SHOWN = 4
"""Up to this many members, the table of arguments shows their differences."""

HINTS = "hints"
"""The name of the row for what servers declare about the effects of their tools."""

_MOST_VALUES, _LONGEST = 6, 240


@dataclass(frozen=True, slots=True)
class ArgumentCell:
    """How the calls of a member fill a merged parameter.

    ``source`` is empty if the calls leave the parameter out. ``declared`` and ``description`` are
    the member's own, and ``lost`` are the parts of them that agents no longer see. ``differs`` says
    whether the cell differs from that of the canonical tool.
    """

    source: str
    declared: str = ""
    description: str = ""
    lost: tuple[str, ...] = ()
    differs: bool = False

    @property
    def in_words(self) -> str:
        return f"{self.source} ({self.declared})" if self.declared else self.source


@dataclass(frozen=True, slots=True)
class ArgumentLine:
    """A merged parameter as agents read it, or a parameter that would be lost.

    ``cells`` has one cell for each member of the card, with the canonical one first.
    """

    name: str
    is_lost: bool
    cells: tuple[ArgumentCell, ...]
    declared: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class NewCall:
    """The ``arguments`` that a member receives when the merged tool is called.

    ``unsent`` are the given arguments that this member does not take. ``missing`` are those that it
    needs but does not get. Both have the merged tool's names.
    """

    tool_id: str
    arguments: JsonObject
    unsent: tuple[str, ...]
    missing: tuple[str, ...]


def arguments(card: Card) -> None:
    """Draw each parameter of the merged tool with the members' declarations, one column per member.

    Differences from the canonical tool are marked.
    """
    st.markdown("**Argument mapping**")
    lines = argument_table(card)
    if not lines:
        st.caption("No parameters are declared.")
        return
    if len(card.tools) > COLUMNS_SHOWN:

        def cell_of(at: int) -> Callable[[ArgumentLine], str]:
            return lambda line: line.cells[at].in_words

        members = [Column(tool.id, cell_of(at)) for at, tool in enumerate(card.tools)]
        name = Column[ArgumentLine](
            "parameter", lambda line: f"lost: {line.name}" if line.is_lost else line.name
        )
        data_tables.draw(lines, [name, *members], "Argument mapping of the members")
        return
    heads = "".join(_cell("th", _head(tool)) for tool in card.tools)
    body = "".join(_line(line) for line in lines)
    st.html(
        '<div style="overflow-x:auto"><table style="width:100%;border-collapse:collapse;'
        f'font-size:.875rem"><thead><tr>{_cell("th", _bold("agents see"))}{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def try_new_call(card: Card, key: str) -> None:
    """Draw a field for a call of the merged gateway tool, and the calls that each
    server receives.
    """
    schema = card.cluster.document.schema
    if card.cluster.kind != "gateway" or schema is None:
        return
    box = st.expander(
        "Try a new call", icon=":material/call_made:", key=f"new_call_{key}", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        merged = Tool("", card.cluster.document.name, schema=schema)
        own = [one for one in merged.parameters if one.name != card.cluster.selector]
        sample = json.dumps(sample_arguments(own), ensure_ascii=False, indent=1)
        text = st.text_area(
            "A call of the merged tool, as JSON", sample, key=f"new_{key}", height=140
        )
        sent = safe_text.value_or_error(lambda: new_calls(card, text))
        if sent is None:
            return
        for column, one in zip(st.columns(min(3, len(sent))) * len(sent), sent, strict=False):
            column.caption(f"Sent to {safe_text.untrusted(one.tool_id)}")
            column.code(
                json.dumps(dict(one.arguments), ensure_ascii=False, indent=1),
                language="json",
                wrap_lines=True,
            )
            if one.unsent:
                names = ", ".join(f"`{safe_text.untrusted(name)}`" for name in one.unsent)
                column.warning(
                    f"This tool does not accept {names}: the gateway rejects such a call."
                )
            if one.missing:
                names = ", ".join(f"`{safe_text.untrusted(name)}`" for name in one.missing)
                column.warning(f"This tool also needs {names}.")


def new_calls(card: Card, text: str) -> tuple[NewCall, ...]:
    """The calls that the members receive, in order, when the merged tool is called with ``text`` (a
    JSON object).

    Raises ``DecisionError`` if the call is invalid.
    """
    given = read_object(text)
    alphas = {alpha.tool_id: alpha for alpha in card.cluster.arguments}
    declared_names = properties_of(card.cluster.document.schema or {})
    sent = []
    for tool in card.tools:
        alpha = alphas[tool.id]
        others = foreign_arguments(alpha, given, declared_names)
        foreign = tuple(name for name, is_default in others.items() if not is_default)
        types = {one.name: one.type for one in tool.parameters}
        own = {name: value for name, value in given.items() if name not in others}
        call = unmap_call(alpha, own, types)
        required = {one.name for one in tool.parameters if one.required}
        missing = [one.target for one in alpha.moves if one.source in required]
        sent.append(
            NewCall(
                tool.id,
                call.arguments,
                (*foreign, *call.losses),
                tuple(name for name in missing if name not in given),
            )
        )
    return tuple(sent)


def read_object(text: str) -> dict[str, Any]:
    """The JSON object of a call in a field. Raises ``DecisionError``."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DecisionError(f"the call cannot be read: {error}; use a JSON object") from error
    if not isinstance(value, dict):
        raise DecisionError(f"the call is {str(value)[:80]!r}; use a JSON object")
    return value


def _head(tool: Tool) -> str:
    """The name and the owner of a member, escaped."""
    return f"{_bold(tool.name)}<br><small>{safe_text.untrusted_html(tool.home)}</small>"


def argument_table(card: Card) -> tuple[ArgumentLine, ...]:
    """A line for each merged parameter in order, then for each lost one. Hints from the servers
    have the last line, if there are any.
    """
    merged = {one.name: one for one in documented(card.canonical, card.cluster.document).parameters}
    lines = []
    for row in card.arguments:
        own = merged.get(row.name)
        cells = _marked([_cell_of(card, tool, row, own) for tool in card.tools])
        words = (declared(own), own.description) if own else ()
        lines.append(ArgumentLine(row.name, row.is_lost, cells, *words))
    hints = [
        (", ".join(f"{key} {canonical_json(tool.annotations[key])}" for key in _hint_names(tool)))
        for tool in card.tools
    ]
    if any(hints):
        lines.append(ArgumentLine(HINTS, False, _marked([ArgumentCell(text) for text in hints])))
    return tuple(lines)


def declared(parameter: Parameter) -> str:
    """The type, whether the parameter is required, the default and the values, in one line."""
    parts = [type_in_words(parameter.schema), "required" if parameter.required else "optional"]
    if parameter.enum:
        more = len(parameter.enum) - _MOST_VALUES
        values = " | ".join(map(cell_text, parameter.enum[:_MOST_VALUES]))
        parts.append(f"one of {values}{f' and {more} more' if more > 0 else ''}")
    if "default" in parameter.schema:
        parts.append(f"default {cell_text(parameter.schema['default'])}")
    return ", ".join(parts)


def type_in_words(schema: JsonObject) -> str:
    """The JSON types in a schema and its choices, as in *string or null*; *any*
    if there are none.
    """
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    for choice in _choices(schema):
        names = [*names, *type_in_words(choice).split(" or ")]
    return " or ".join(dict.fromkeys(map(str, names))) or "any"


def _choices(schema: JsonObject) -> Iterator[JsonObject]:
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        yield from (one for one in options or () if isinstance(one, dict))


def no_longer_told(
    own: Parameter, merged: Parameter | None, move: ArgumentMove | None
) -> tuple[str, ...]:
    """What a member declares but the merged argument does not: that it is required, values, and the
    format.
    """
    if merged is None:
        return ()
    schemas = [merged.schema, *_choices(merged.schema)]
    values = {canonical_json(one) for schema in schemas for one in schema.get("enum") or ()}
    renamed = {canonical_json(old): canonical_json(new) for old, new in move.values} if move else {}
    gone = [one for one in own.enum if renamed.get(key := canonical_json(one), key) not in values]
    form = own.schema.get("format")
    return (
        *(["required"] if own.required and not merged.required else ()),
        *([f"one of {' | '.join(map(cell_text, gone[:_MOST_VALUES]))}"] if gone else ()),
        *([f"format {form}"] if form and all(form != one.get("format") for one in schemas) else ()),
    )


def _line(line: ArgumentLine) -> str:
    """A row of the table of arguments, escaped."""
    own = safe_text.marked(f"lost: {line.name}") if line.is_lost else _bold(line.name)
    own = "<br>".join(
        filter(None, [own, safe_text.dimmed(line.declared), _small(line.description)])
    )
    cells = "".join(_argument(cell, line) for cell in line.cells)
    return f"<tr>{_cell('th', own)}{cells}</tr>"


def _argument(cell: ArgumentCell, line: ArgumentLine) -> str:
    """What a member sends for the merged parameter of a line. The parameter's
    name is not repeated.
    """
    if not cell.source:
        return _cell("td", safe_text.marked("not given") if cell.differs else "–")
    style = safe_text.marked if cell.differs else safe_text.dimmed
    if cell.source == line.name and cell.declared:
        first = style(cell.declared)
    else:
        first = f"{style(cell.source)} {safe_text.dimmed(cell.declared)}"
    words = "" if cell.description == line.description else _small(cell.description)
    gone = [safe_text.removed(one) for one in cell.lost]
    return _cell("td", "<br>".join(filter(None, [first, words, *gone])))


def _small(text: str) -> str:
    """A description, cut if it is long."""
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"<small>{safe_text.untrusted_html(text)}</small>" if text else ""


def _bold(text: str) -> str:
    return f"<strong>{safe_text.untrusted_html(text)}</strong>"


def _cell(kind: Literal["th", "td"], content: str) -> str:
    """A table cell. The content must be escaped already."""
    return (
        f'<{kind} style="text-align:left;font-weight:400;vertical-align:top;padding:2px 8px 2px 0;'
        "min-width:6.5rem;"
        f'border-bottom:1px solid rgba(128,128,128,.3)">{content}</{kind}>'
    )


def _cell_of(card: Card, tool: Tool, row: ArgumentRow, merged: Parameter | None) -> ArgumentCell:
    """How the calls of one member fill a merged parameter."""
    source = row.sources.get(tool.id, "")
    alpha = next((one for one in card.cluster.arguments if one.tool_id == tool.id), None)
    moves = alpha.moves if alpha else ()
    move = next((one for one in moves if one.target == row.name), None)
    name = move.source if move else "" if alpha else row.name
    own = next((one for one in tool.parameters if one.name == name), None)
    if own is None:
        return ArgumentCell(source)
    lost = no_longer_told(own, merged, move)
    return ArgumentCell(source or own.name, declared(own), own.description, lost)


def _marked(cells: Sequence[ArgumentCell]) -> tuple[ArgumentCell, ...]:
    """The cells. Those that differ from the canonical tool's cell are marked."""
    first = cells[0].source, cells[0].declared
    return tuple(replace(one, differs=(one.source, one.declared) != first) for one in cells)


def _hint_names(tool: Tool) -> list[str]:
    return sorted(key for key, value in tool.annotations.items() if isinstance(value, bool))

"""An old call tried on the merged tool: what it becomes, and the way back."""

import json
from dataclasses import dataclass
from typing import Any

import streamlit as st

from toolscope_core.catalog.calls import map_call, read_call, refusals, sample_arguments, unmap_call
from toolscope_core.model.cluster import ArgumentMap, Document
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import tool_key
from toolscope_core.model.tool import JsonObject, Tool, canonical_json
from ui.shared import safe_text
from ui.shared.cards.cards import Card


@dataclass(frozen=True, slots=True)
class TriedCall:
    """``new`` are the arguments of the merged tool, ``back`` what they are to the old one again;
    ``lost`` have no place; ``problems`` say what the merged schema refuses, ``refusals`` what the
    old tool itself does; ``undone`` whether the way there and back gives the same call.
    """

    new: JsonObject
    back: JsonObject
    lost: tuple[str, ...]
    problems: tuple[str, ...]
    undone: bool
    refusals: tuple[str, ...] = ()


def try_it(card: Card, key: str) -> None:
    """Draw a field for a call of one member, and what becomes of it."""
    tools = {tool.id: tool for tool in card.tools}
    alphas = {alpha.tool_id: alpha for alpha in card.cluster.arguments}
    with st.expander("Try a call", icon=":material/play_circle:"):
        chosen = st.selectbox(
            "Old tool", list(tools), key=f"try_tool_{key}",
            index=min(1, len(tools) - 1), format_func=lambda one: f"{tools[one].name} ({one})",
        )  # fmt: skip
        tool = tools[chosen]
        text = st.text_area(
            "Its call, as JSON", sample_call(tool), key=f"try_{key}_{tool_key(chosen)}", height=140
        )
        try:
            tried = try_call(tool, alphas[chosen], card.cluster.document, text)
        except DecisionError as error:
            safe_text.show_error(error)
            return
        for refusal in tried.refusals:
            st.warning(
                safe_text.untrusted(f"{tool.name} itself does not take this call: {refusal}")
            )
        there, back = st.columns(2)
        for column, title, name, arguments in (
            (there, "Becomes", card.cluster.document.name, tried.new),
            (back, "And back", tool.name, tried.back),
        ):
            column.caption(title)
            call = {"name": name, "arguments": dict(arguments)}
            column.code(json.dumps(call, ensure_ascii=False, indent=1), language="json")
        for name in tried.lost:
            st.warning(f"`{safe_text.untrusted(name)}` has no place in the merged tool.")
        for problem in tried.problems:
            st.error(safe_text.untrusted(f"The merged tool refuses it: {problem}"))
        if tried.undone and not tried.problems and not tried.refusals:
            st.markdown(":green[:material/check:] There and back gives the same call.")


def try_call(tool: Tool, alpha: ArgumentMap, document: Document, text: str) -> TriedCall:
    """What a call of ``tool`` becomes. ``text`` is JSON: the arguments, or a whole call in the form
    of any vendor. Raises ``DecisionError`` for what is no JSON object.
    """
    arguments = called_with(text)
    mapped = map_call(alpha, arguments)
    types = {parameter.name: parameter.type for parameter in tool.parameters}
    back = unmap_call(alpha, mapped.arguments, types).arguments
    same = canonical_json(dict(back)) == canonical_json(dict(arguments))
    unknown = [f"`{name}` is no argument of it" for name in arguments if name not in types]
    return TriedCall(
        mapped.arguments,
        back,
        mapped.lost,
        refusals(document.schema, mapped.arguments),
        same,
        (*unknown, *refusals(tool.schema or {}, arguments)),
    )


def called_with(text: str) -> dict[str, Any]:
    """The arguments of a call in JSON. Raises ``DecisionError``."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DecisionError(f"the call cannot be read: {error}; paste a JSON object") from error
    if not isinstance(value, dict):
        raise DecisionError(f"the call is {str(value)[:80]!r}; paste a JSON object")
    called = read_call(value)
    return dict(called[1]) if called else value


def sample_call(tool: Tool) -> str:
    """Arguments that show the types of a tool's parameters, as JSON."""
    return json.dumps(sample_arguments(tool.parameters), ensure_ascii=False, indent=1)


def signature(document: Document) -> str:
    """The merged tool as a call with its arguments: ``name(city: string, unit?: "c" | "f" = "c")``;
    optional ones have a question mark, listed values and defaults are JSON.
    """
    parts = []
    for parameter in Tool("", document.name, schema=document.schema).parameters:
        kind = " | ".join(map(canonical_json, parameter.enum)) or parameter.type
        default = parameter.schema.get("default")
        suffix = "" if default is None else f" = {canonical_json(default)}"
        parts.append(f"{parameter.name}{'' if parameter.required else '?'}: {kind}{suffix}")
    inside = ",\n  ".join(parts)
    return f"{document.name}(\n  {inside}\n)" if parts else f"{document.name}()"

"""Rewrites rows of evaluation sets by φ and α, whatever form their calls have.

ToolScope relabels gold answers by φ (equation 3). A call keeps its meaning only if its arguments
are mapped too. The position of a name decides how the name is read, not the data set. An object
with a tool and arguments is a call; an object with a name and a schema defines a tool; an object
whose keys are all tools is a map of calls; and a name may be the value of a key for names. All of
this may be inside a text as JSON, Python literals or Python calls. Sentences are not changed:
``gone_names`` lists the names in them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolscope_core.catalog.calls import arguments_of, call_places, is_schema, map_call
from toolscope_core.catalog.formats.record_format import value_at
from toolscope_core.catalog.gone_names import is_clear_name
from toolscope_core.catalog.relabelling import changes_nothing
from toolscope_core.catalog.structured_texts import (
    PythonCall,
    json_in,
    rewritten_calls,
    rewritten_values,
)
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.tool import JsonObject, canonical_json

_Keys = tuple[str, ...]
_Names = Mapping[str, tuple[str, str | None]]
_SAYS_TOOL = re.compile(
    r"tool|func|action|gold|\bapis?\b|(?:^|_)calls?(?:ed)?(?:_|$)", re.IGNORECASE
)
_NO_NAME = re.compile(
    r"descr|query|question|prompt|text|content|comment|note|(?:call|use)_?id$", re.IGNORECASE
)
_OFFER = re.compile(
    r"(?:(?:available|candidate|provided|all)_?)?(?:tools?|functions?|apis?)(?:_?(?:list|names?))?",
    re.IGNORECASE,
)
"""Keys of lists from which an agent may choose tools; no name may occur twice in them."""
_SPLIT = re.compile(r"(\s*(?:[,;|\n]|[-=]>|→)\s*(?:\d+[.)]\s+|[-*]\s+)?|^\s*(?:\d+[.)]|[-*])\s+)")
_ARGUMENTS = frozenset(("arguments", "args", "kwargs", "input", "parameters", "params"))
_RESULTS = frozenset(("result", "results", "response", "output", "tool_call_id"))
_SCHEMAS = ("parameters", "inputSchema", "input_schema", "parameters_json_schema")
_NAMES = ("name", "tool_name", "toolName", "function_name")


@dataclass(frozen=True, slots=True)
class RelabelledQuery:
    """One row of an evaluation set after φ and α, and what has happened to it.

    ``shrunk`` has the groups of gold ids that became one. ``removed_tools`` are gold and called
    tools that were left out; ``is_emptied`` says that no gold tool is left. ``unknown_ids`` are ids
    that φ does not contain; they are left unchanged. ``losses`` are the call arguments that no
    longer fit anywhere. ``unread_calls`` counts the calls whose tool is unclear. ``rename_count``
    counts changed names. ``exempt`` are the JSON pointers at which an old name may remain: the
    row's id, called tools that were left out, and values added by α. ``is_understood`` says that
    the row has gold or calls, or a tool's name in a position for names.
    """

    row: JsonObject
    is_changed: bool
    shrunk: tuple[tuple[str, ...], ...] = ()
    unknown_ids: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    unread_calls: int = 0
    removed_tools: tuple[str, ...] = ()
    is_emptied: bool = False
    rename_count: int = 0
    exempt: frozenset[str] = frozenset()
    is_understood: bool = False


def relabel_query(
    row: JsonObject,
    phi: Mapping[str, str | None],
    alphas: Mapping[str, ArgumentMap],
    names: _Names | None = None,
) -> RelabelledQuery:
    """A row after φ and α, in its old order; text that names no tool does not change.

    If two gold tools became one, the first position is kept. A gold tool that was left out is
    removed. Calls are never dropped or joined, and calls to a tool that was left out stay. If a
    tool is defined twice, the first definition is kept. A call names its tool by id, or by a name
    that only one tool has: ``names`` maps old name → (old id, new name). Unknown ids, and values in
    ``gold`` and ``calls`` that are not calls, are counted.
    """
    reading = _Reading(phi, alphas, names or {})
    lists = {key: row[key] for key in ("gold", "calls") if isinstance(row.get(key), list)}
    old_ids: dict[str, list[str]] = {}
    if "gold" in lists:
        lists["gold"] = _new_gold(row["gold"], reading, old_ids)
    is_emptied = bool(reading.removed) and not lists["gold"]
    if "calls" in lists:
        lists["calls"] = [reading.gold_call(one, at) for at, one in enumerate(row["calls"])]
    others = {key: value for key, value in row.items() if key not in lists and key != "id"}
    try:
        new = reading.value(others, ())
    except RecursionError:
        new, reading.unread_calls = others, reading.unread_calls + 1
    is_as_it_was = new.keys() == others.keys()
    new_row = {key: {**new, **lists}.get(key, row[key]) for key in row} if is_as_it_was else new
    tool_ids = [*(tool for old in old_ids.values() for tool in old), *reading.called]
    return RelabelledQuery(
        row=new_row,
        is_changed=canonical_json(new_row) != canonical_json(dict(row)),
        shrunk=tuple(tuple(old) for old in old_ids.values() if len(old) > 1),
        unknown_ids=tuple(dict.fromkeys(tool for tool in tool_ids if tool not in phi)),
        losses=tuple(reading.losses),
        unread_calls=reading.unread_calls,
        removed_tools=tuple(reading.removed),
        is_emptied=is_emptied,
        rename_count=reading.renames,
        exempt=frozenset({"/id", *reading.exempt}),
        is_understood=bool(reading.reads or lists),
    )


def _new_gold(gold: Sequence[Any], reading: "_Reading", old_ids: dict[str, list[str]]) -> list[Any]:
    """Gold answers after φ, including lists of alternatives.

    ``old_ids`` collects the old ids of each new id.
    """
    new_gold: list[Any] = []
    for tool in gold:
        if isinstance(tool, list):
            alternatives = _new_gold(tool, reading, {})
            new_gold += [alternatives] if alternatives or not tool else []
            continue
        new = reading.phi.get(tool, tool) if isinstance(tool, str) else tool
        if new is None and tool is not None:
            reading.removed[tool] = None
            continue
        old_ones = old_ids.setdefault(new, []) if isinstance(new, str) else []
        if not old_ones or tool in old_ones:
            new_gold.append(new)
        if tool not in old_ones:
            old_ones.append(tool)
            reading.renames += isinstance(tool, str) and new != tool
    return new_gold


@dataclass(slots=True)
class _Reading:
    """The state while a row is read.

    ``called`` are the tools in ``calls``; ``reads`` counts names of tools that φ contains.
    """

    phi: Mapping[str, str | None]
    alphas: Mapping[str, ArgumentMap]
    names: _Names
    called: list[str] = field(default_factory=list)
    removed: dict[str, None] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)
    exempt: set[str] = field(default_factory=set)
    unread_calls: int = 0
    renames: int = 0
    reads: int = 0

    def gold_call(self, call: Any, at: int) -> Any:
        """An entry of ``calls``, rewritten; every value there is a call."""
        keys, before = ("calls", str(at)), self.reads
        places = call_places(call, self._tool) or call_places(call)
        tool = value_at(call, places.tool) if places else None
        if isinstance(tool, str) and places and (self._tool(tool) or places.tool == ("tool",)):
            self.called.append((self._tool(tool) or (tool,))[0])
            return self._call(call, keys)
        new = call if isinstance(call, str) else self.value(call, keys)
        self.unread_calls += self.reads == before
        return new

    def value(self, value: Any, keys: _Keys) -> Any:
        """The value at these keys after rewriting."""
        if keys in (("gold",), ("calls",)) and value is not None:
            before = self.reads
            new = self._value(value, keys)
            self.unread_calls += self.reads == before
            return new
        return self._value(value, keys)

    def _value(self, value: Any, keys: _Keys) -> Any:
        if isinstance(value, dict):
            return self._object(value, keys)
        if isinstance(value, list):
            return self._list(value, keys)
        return self._text(value, keys) if isinstance(value, str) else value

    def _tool(self, name: Any) -> tuple[str, str | None] | None:
        """The old id and the new name of the tool with this name or id; ``None`` if there is no
        such tool.
        """
        if not isinstance(name, str):
            return None
        return (name, self.phi[name]) if name in self.phi else self.names.get(name)

    def _name(self, name: str, keys: _Keys) -> str:
        """The new name of a tool that φ contains."""
        old, new = self._tool(name) or (name, name)
        self.reads += 1
        if new is None:
            self.removed[old] = None
            self.exempt.add(_pointer(keys))
            return name
        self.renames += new != name
        return new

    def _object(self, value: JsonObject, keys: _Keys) -> JsonObject:
        places = call_places(value, self._tool)
        if places and len(places.tool) == 1 and value_at(value, places.arguments) is not None:
            return self._call(value, keys)
        if value and all(map(self._tool, value)) and _ARGUMENTS.isdisjoint(keys):
            return self._map_of_calls(value, keys)
        named = next((key for key in _NAMES if self._tool(value.get(key))), None)
        named = named if _defines(value) or _says_tool(value, keys) else None
        new = {
            key: inner if key == named else self.value(inner, (*keys, key))
            for key, inner in value.items()
        }
        if named is None:
            return new
        alpha = self.alphas.get((self._tool(value[named]) or ("",))[0])
        schema = next((key for key in _SCHEMAS if value.get(key)), None)
        if schema and alpha and not changes_nothing(alpha):
            moved = _moved_schema(value[schema], alpha)
            if moved is None:
                return new
            new[schema] = moved
        new[named] = self._name(value[named], (*keys, named))
        return new

    def _call(self, call: JsonObject, keys: _Keys) -> JsonObject:
        """A call after rewriting, including the values beside it."""
        places = call_places(call, self._tool) or call_places(call)
        if places is None:
            return call
        name, value = value_at(call, places.tool), value_at(call, places.arguments)
        row = call
        for key in call.keys() - {places.tool[0], places.arguments[0]}:
            row = {**row, key: self.value(call[key], (*keys, key))}
        old, new = self._tool(name) or (name, name)
        row = _put(row, places.tool, self._name(name, (*keys, *places.tool)))
        alpha = self.alphas.get(old)
        if new is None or alpha is None or value is None:
            return row
        arguments = arguments_of(value)
        if arguments is None:
            self.losses.append(f"{old}: its arguments are not an object")
            return row
        moved = self._moved(alpha, arguments, (*keys, *places.arguments))
        return _put(
            row, places.arguments, canonical_json(moved) if isinstance(value, str) else moved
        )

    def _moved(self, alpha: ArgumentMap, arguments: JsonObject, keys: _Keys) -> JsonObject:
        """The arguments of a call after α."""
        done = map_call(alpha, arguments)
        self.losses += [f"{alpha.tool_id}.{name}" for name in done.losses]
        added = {*alpha.constants, *(move.target for move in alpha.moves if move.op == "map")}
        self.exempt |= {_pointer((*keys, name)) for name in added}
        return dict(done.arguments)

    def _map_of_calls(self, value: JsonObject, keys: _Keys) -> JsonObject:
        """A map from tool names to arguments, lists of arguments, or numbers, after rewriting.

        It does not change if two of the tools became one, or if a text is given as arguments.
        """
        news = [(self._tool(name) or (name, name))[1] or name for name in value]
        if len({*news}) < len(value) or any(isinstance(one, str) for one in value.values()):
            return value
        new: dict[str, Any] = {}
        for name, inner in value.items():
            old, renamed = self._tool(name) or (name, name)
            alpha = None if renamed is None else self.alphas.get(old)
            new_name = self._name(name, (*keys, name))
            inside = (*keys, new_name)
            if alpha is None:
                new[new_name] = inner
            elif isinstance(inner, dict):
                are_lists = all(isinstance(one, list) for one in inner.values())
                move = self._moved_choices if are_lists and "ground_truth" in keys else self._moved
                new[new_name] = move(alpha, inner, inside)
            elif isinstance(inner, list):
                new[new_name] = [
                    self._moved(alpha, one, (*inside, str(at))) if isinstance(one, dict) else one
                    for at, one in enumerate(inner)
                ]
            else:
                new[new_name] = inner
        return new

    def _moved_choices(self, alpha: ArgumentMap, choices: JsonObject, keys: _Keys) -> JsonObject:
        """Arguments after α, each with a list of accepted values, as in BFCL."""
        moved: dict[str, list[Any]] = {}
        for name, values in choices.items():
            for value in values or [None]:
                done = self._moved(alpha, {name: value}, keys)
                for new, one in done.items():
                    if new not in alpha.constants:
                        moved.setdefault(new, []).append("" if value == "" else one)
        return {**moved, **{name: [value] for name, value in alpha.constants.items()}}

    def _list(self, values: list[Any], keys: _Keys) -> list[Any]:
        """A list after rewriting.

        In a list of available tools, repeats are left out, and so are tools that are gone.
        """
        named = [_defined_name(one) for one in values]
        is_offer = all(named) and (
            _OFFER.fullmatch(_last(keys)) is not None
            or all(_defines(_definition(one)) for one in values)
        )
        rewritten: list[Any] = []
        owners: dict[str, str] = {}
        for at, (one, name) in enumerate(zip(values, named, strict=True)):
            tool = self._tool(name) if is_offer else None
            if tool and (tool[1] is None or owners.setdefault(tool[1], tool[0]) != tool[0]):
                self.reads += 1
                if tool[1] is None:
                    self.removed[tool[0]] = None
                continue
            rewritten.append(self.value(one, (*keys, str(at))))
        return rewritten

    def _text(self, text: str, keys: _Keys) -> str:
        key = _last(keys)
        if _NO_NAME.search(key) is None:
            if self._is_name(text, keys):
                return self._name(text.strip(), keys)
            parts = _SPLIT.split(text)
            if len(parts) > 1 and all(self._is_name(one, keys) for one in parts[::2] if one):
                return "".join(
                    self._name(one, keys) if at % 2 == 0 and one else one
                    for at, one in enumerate(parts)
                )
        if not any(mark in text for mark in "{[("):
            return text
        text = rewritten_values(text, lambda value: self.value(value, keys))
        return rewritten_calls(text, self._python_call)

    def _is_name(self, text: str, keys: _Keys) -> bool:
        """Whether the whole text is a tool's name; a plain word counts only in a position for
        names.
        """
        if self._tool(text.strip()) is None:
            return False
        is_value = not _ARGUMENTS.isdisjoint(keys)
        return (is_clear_name(text) and not is_value) or _SAYS_TOOL.search(_last(keys)) is not None

    def _python_call(self, call: PythonCall) -> PythonCall | None:
        """A Python call after α; ``None`` if it does not change."""
        tool = self._tool(call.name)
        if tool is None:
            return None
        alpha = self.alphas.get(tool[0])
        if tool[1] is None or alpha is None or changes_nothing(alpha):
            return PythonCall(self._name(call.name, ()), None)
        if call.arguments is None:
            return None
        return PythonCall(self._name(call.name, ()), self._moved(alpha, call.arguments, ()))


def _last(keys: _Keys) -> str:
    """The last key that is not a list index."""
    return next((key for key in reversed(keys) if not key.isdigit()), "")


def _pointer(keys: _Keys) -> str:
    return "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys)


def _put(value: JsonObject, path: Sequence[str], new: Any) -> JsonObject:
    key, *rest = path
    return {**value, key: _put(value[key], rest, new) if rest else new}


def _says_tool(value: JsonObject, keys: _Keys) -> bool:
    """Whether an object with a name is a tool or the message of a tool."""
    if not _RESULTS.isdisjoint(value):
        return True
    kinds = (str(value.get(key)).lower() for key in ("role", "type", "run_type", "kind"))
    return any(_SAYS_TOOL.search(one) for one in (*kinds, _last(keys)))


def _defines(value: JsonObject) -> bool:
    """Whether an object with a name defines a tool."""
    return "description" in value or any(is_schema(value.get(key)) for key in _SCHEMAS)


def _definition(value: Any) -> JsonObject:
    """The part of a list entry that has the name.

    It may be inside an object, JSON text, or OpenAI's chat format.
    """
    value = json_in(value) if isinstance(value, str) and value.lstrip()[:1] == "{" else value
    inner = value.get("function", value) if isinstance(value, dict) else {}
    return inner if isinstance(inner, dict) else {}


def _defined_name(value: Any) -> Any:
    """The tool name in an entry for an available tool; ``None`` if the entry is not a tool."""
    inner = _definition(value)
    if not inner:
        return value if isinstance(value, str) else None
    return None if call_places(inner) and "arguments" in inner else inner.get("name")


def _moved_schema(schema: Any, alpha: ArgumentMap) -> JsonObject | None:
    """A schema for arguments with new names; ``None`` if α does more than rename arguments."""
    if not isinstance(schema, dict) or alpha.constants or alpha.dropped or alpha.nested:
        return None
    news: Mapping[Any, str] = {move.source: move.target for move in alpha.moves}
    properties = schema.get("properties") if is_schema(schema) else schema
    if any(move.op != "rename" for move in alpha.moves) or not isinstance(properties, dict):
        return None
    moved = {news.get(name, name): inner for name, inner in properties.items()}
    if len(moved) < len(properties):
        return None
    if not is_schema(schema):
        return moved
    required = schema.get("required")
    new = {**schema, "properties": moved}
    if isinstance(required, list):
        new["required"] = [news.get(name, name) for name in required]
    return new

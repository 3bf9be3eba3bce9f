"""What an argument is where a call leaves it out, as its schema or its description states."""

import json
import re
from typing import Any

from toolscope_core.judging.arguments.alignment import inlined
from toolscope_core.judging.word_stems import plain_words, spelling
from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.tool import Parameter, Tool, canonical_json

_STATED = re.compile(
    r"""\bdefaults?\b(?:\s+value)?(?:\s*(?:is|to|being|set\ to|=|:))*\s*
    ('[^']*'|"[^"]*"|`[^`]*`|-?\d+(?:\.\d+)?(?![\w.]*\w)|(?:true|false|empty|none|null|all|any)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_NOTHING = frozenset({"", "none", "null"})
_NO_LIMIT = _NOTHING | {"empty", "all", "any", "dontcare", "[]", "{}"}


def silent_changes(tool: Tool, target: Tool, alpha: ArgumentMap) -> tuple[str, ...]:
    """Sentences on what calls to ``tool`` come to mean on ``target`` by ``alpha`` though nothing is
    lost: what is left out has another default, a number is written as text (an id is no number).
    """
    ours, theirs = ({p.name: p for p in inlined(one).parameters} for one in (tool, target))
    changes = []
    for move in alpha.moves:
        source, target_parameter = ours[move.source], theirs[move.target]
        if defaults := _other_default(source, target_parameter):
            changes.append(
                f"if left out, `{move.source}` of {tool.id} is {defaults[0]}, and `{move.target}` "
                f"of {target.id} {defaults[1]}"
            )
        if move.op == "cast" and plain_words(move.source)[-1:] not in (("id",), ("ids",)):
            changes.append(f"`{move.source}` of {tool.id} would be written as text")
    return tuple(changes)


def _other_default(source: Parameter, target: Parameter) -> tuple[str, str] | None:
    """The two defaults as JSON where both state one and they differ. A schema that states *null*
    states nothing, but for a switch, which then is in neither position, and beside a value of the
    other's schema.
    """
    if source.required:
        return None
    if "default" not in source.schema and "default" not in target.schema:
        values = [_in_words(source), _in_words(target)]
        stated = None not in values
    else:
        values = [_default(source), _default(target)]
        stated = values[1] is not None and (values[0] is not None or _is_open(source))
        both_declare = "default" in source.schema and "default" in target.schema
        stated |= both_declare and _limits(values[0])
    if not stated or _spelled(values[0]) == _spelled(values[1]):
        return None
    return canonical_json(values[0]), canonical_json(values[1])


def _limits(value: Any) -> bool:
    """Whether a default is a value, and none that leaves everything open."""
    return value not in (None, [], {}) and str(value).casefold() not in _NO_LIMIT


def _default(parameter: Parameter) -> Any:
    """What the argument is where it is left out; ``None`` if nothing, in whatever spelling."""
    if "default" not in parameter.schema:
        return _in_words(parameter) or None
    value = parameter.schema["default"]
    return None if isinstance(value, str) and value.casefold() in _NOTHING else value


def _in_words(parameter: Parameter) -> Any:
    """The default that a description states in quotes, as a number or a truth value; empty where it
    states that there is none, or no limit; ``None`` where it states nothing that can be read.
    """
    match = _STATED.search(parameter.description)
    if match is None:
        return None
    text = match[1].strip("'\"`")
    if text.casefold() in _NO_LIMIT:
        return ""
    return json.loads(text.lower()) if match[1] == text else text


def _spelled(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return spelling(float(value) if is_number else value)


def _is_open(parameter: Parameter) -> bool:
    """Whether it is a switch of which nothing is said to be the default: one of three positions."""
    unset = "default" in parameter.schema and _default(parameter) is None
    return unset and parameter.type == "boolean"

"""Replaces JSON and Python values inside texts; the text around them is unchanged."""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolscope_core.model.tool import JsonObject

_OPEN = re.compile(r"[\[{]")
_TAG = re.compile(r"<(tool_?calls?|tools?|function_?calls?|functions?|action)>", re.IGNORECASE)
_CALLS = re.compile(r"\s*\[?\s*[^\W\d][^()\[\]{}\n\"'=]{0,128}\(")
_ACTION = re.compile(r"^[ \t]*Action: *(\S+)[ \t\r]*\n\s*Action Input: *\Z", re.MULTILINE)
"""Matches the text before the arguments of a call in ReAct."""
_LABEL = re.compile(r"\w[\w -]{0,40}:\s")
_CALLED = re.compile(r"[^()\[\]{}\n\"',=]{1,128}(?=\()")
_END = re.compile(r"</(?:tool|func|action)|<[|]", re.IGNORECASE)
_LONGEST_CALL = 20_000
_MOST_FAILURES = 1_000
"""After so many brackets without a value, the rest of a text counts as prose."""


@dataclass(frozen=True, slots=True)
class PythonCall:
    """A Python call; ``arguments`` by name are ``None`` if some are not named literals."""

    name: str
    arguments: JsonObject | None


def json_in(text: str) -> Any:
    """The value of a text that contains only JSON; otherwise ``None``."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None


def values_in(text: str) -> list[Any]:
    """The outermost JSON objects and lists in a text."""
    return [value for _, _, value in _json_values(text)]


def rewritten_values(text: str, rewrite: Callable[[Any], Any]) -> str:
    """The text with each object and list in it replaced by the result of ``rewrite``.

    They may be the whole text (even encoded twice as JSON), JSON inside prose, or Python literals
    between call tags.
    """
    whole = json_in(text) if text.lstrip()[:1] in ("{", "[", '"') else None
    if isinstance(whole, (dict, list, str)):
        return _written(text, whole, rewrite)
    literal = literal_in(text)
    if literal is not None:
        new = rewrite(literal)
        return text if new == literal else repr(new)
    pieces, end = [], 0
    for start, stop, value in _json_values(text):
        action = _ACTION.search(text, end, start)
        if action and isinstance(call := rewrite({"name": action[1], "arguments": value}), dict):
            new = call["arguments"]
            pieces += [text[end : action.start(1)], call["name"], text[action.end(1) : start]]
            pieces.append(text[start:stop] if new == value else json_like(text[start:stop], new))
        else:
            pieces += [text[end:start], _written(text[start:stop], value, rewrite)]
        end = stop
    return _with_literals("".join((*pieces, text[end:])), rewrite)


def rewritten_calls(text: str, rewrite: Callable[[PythonCall], PythonCall | None]) -> str:
    """A text of one Python call or a list of calls, with each call replaced by the result of
    ``rewrite``.

    There may be a label (*Action:*) in front. If ``rewrite`` returns ``None``, the call is kept; if
    the new call has ``None`` as arguments, the arguments are kept. Other texts are unchanged.
    """
    if label := _LABEL.match(text):
        return label[0] + rewritten_calls(text[label.end() :], rewrite)
    if not (_CALLS.match(text) and text.rstrip().endswith((")", "]"))) or "\r" in text:
        return text
    source, odd_names = _with_plain_names(text)
    source = source.strip()
    tree = parsed_python(source)
    calls = tree.elts if isinstance(tree, (ast.List, ast.Tuple)) else [tree]
    if not all(isinstance(one, ast.Call) for one in calls):
        return text
    content = source.encode()
    for one in (one for one in reversed(calls) if isinstance(one, ast.Call)):
        name = ast.unparse(one.func)
        new = rewrite(PythonCall(odd_names.get(name, name), _keywords(one)))
        if new is not None:
            start, end = _place(content, one.func if new.arguments is None else one)
            shown = ", ".join(f"{key}={value!r}" for key, value in (new.arguments or {}).items())
            piece = new.name if new.arguments is None else f"{new.name}({shown})"
            content = content[:start] + piece.encode("utf-8", "surrogatepass") + content[end:]
    result = content.decode()
    for plain, name in odd_names.items():
        result = result.replace(plain, name)
    return text.replace(text.strip(), result, 1)


def json_like(text: str, value: Any) -> str:
    """A value as JSON in the style of another JSON text: the same indent, blanks and non-ASCII
    letters.
    """
    indent = re.search(r"\n( *)\S", text)
    separators = None if indent or re.search(r"[,:] ", text) else (",", ":")
    return json.dumps(
        value,
        ensure_ascii=text.isascii(),
        indent=len(indent[1]) if indent else None,
        separators=separators,
    )


def _written(text: str, value: Any, rewrite: Callable[[Any], Any]) -> str:
    new = rewrite(value)
    return text if new == value else json_like(text, new)


def _json_values(text: str) -> Iterator[tuple[int, int, Any]]:
    """The outermost objects and lists in a text, with their start and end."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    end, failures = 0, 0
    while (opening := _OPEN.search(text, end)) and failures < _MOST_FAILURES:
        try:
            value, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            failures, end = failures + 1, opening.end()
            continue
        yield opening.start(), end, value


def _with_literals(text: str, rewrite: Callable[[Any], Any]) -> str:
    pieces, end = [], 0
    for tag in _TAG.finditer(text):
        if tag.end() < end:
            continue
        stop = _END.search(text, tag.end(), tag.end() + _LONGEST_CALL)
        inside = text[tag.end() : stop.start()] if stop else ""
        value = literal_in(inside)
        if value is not None and (new := rewrite(value)) != value:
            written = _literal_like(inside.strip(), new)
            pieces += [text[end : tag.end()], inside.replace(inside.strip(), written, 1)]
            end = tag.end() + len(inside)
    return "".join((*pieces, text[end:]))


def _literal_like(text: str, value: Any) -> str:
    """A value as a Python literal; its parts are written as JSON if ``text`` uses double quotes."""
    if text[1:].lstrip()[:1] != '"' or not isinstance(value, dict):
        return repr(value)
    parts = [json.dumps(one) for one in (*value, *value.values())]
    parts = [repr(json.loads(part)) if "\\" in part else part for part in parts]
    rows = zip(parts, parts[len(value) :], strict=False)
    return f"{{{', '.join(f'{key}: {part}' for key, part in rows)}}}"


def literal_in(text: str) -> Any:
    """The object or list in a text that is a single Python literal without repeated keys."""
    inside = text.strip()
    if inside[:1] not in ("{", "[") or inside[-1:] not in ("}", "]"):
        return None
    tree = parsed_python(inside)
    try:
        value = None if tree is None else ast.literal_eval(tree)
        objects = [one for one in ast.walk(tree) if isinstance(one, ast.Dict)] if tree else []
        if any(len({*map(ast.dump, filter(None, one.keys))}) < len(one.keys) for one in objects):
            return None
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def parsed_python(source: str, mode: Literal["eval", "exec"] = "eval") -> Any:
    """The syntax tree of a Python expression, or of a module if ``mode`` is ``exec``.

    ``None`` if the source cannot be parsed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree: Any = ast.parse(source, mode=mode)
            return tree.body if mode == "eval" else tree
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _with_plain_names(text: str) -> tuple[str, dict[str, str]]:
    """A text of calls in which invalid Python names are replaced by valid ones, and the name
    that each replaces.
    """
    names: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        name = match[0].strip()
        if not name or all(part.isidentifier() for part in name.split(".")):
            return match[0]
        other = f"tool_{len(names)}_of_text"
        names[other] = name
        return match[0].replace(name, other, 1)

    return _CALLED.sub(plain, text), names


def _keywords(call: ast.Call) -> JsonObject | None:
    if call.args or not all(one.arg for one in call.keywords):
        return None
    try:
        return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None


def _place(content: bytes, node: ast.expr) -> tuple[int, int]:
    """The start and end of a source node, in bytes."""
    starts = [0, *(mark.end() for mark in re.finditer(b"\n", content))]
    last_line = node.end_lineno or node.lineno
    return (
        starts[node.lineno - 1] + node.col_offset,
        starts[last_line - 1] + (node.end_col_offset or 0),
    )


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    """An object made from the pairs.

    Raises ``ValueError`` for a repeated key, which would lose a value.
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key appears twice")
    return value

"""YAML as JSON values: no tags, no objects, no growing aliases; built from events, not recursive.

Plain scalars follow YAML 1.2 (``no`` is text, ``1e5`` a number), dates and numbers with leading
zeros stay text.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from toolscope_core.catalog.flaws import (
    MAX_DEPTH,
    MAX_YAML_CHARACTERS,
    MAX_YAML_VALUES,
    TOO_DEEP,
    Flaw,
    in_order,
    integer,
    number,
    unique_keys,
)

WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
NUMBER = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
TAGS = "tag:yaml.org,2002:"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read; ``size`` counts its values, ``characters`` those of its
    texts, aliases written out.
    """

    mapping: bool
    anchor: str | None
    items: list[Any] = field(default_factory=list)
    size: int = 1
    characters: int = 0


_Sized = tuple[Any, int, int]
"""A value with how many values and characters it holds."""


class _RefusedError(Exception):
    """The text is YAML, but nothing that this reader builds."""


def read_yaml(text: str) -> tuple[Any, ...] | Flaw:
    """The documents of a YAML text as JSON values with ``Flaw`` for what JSON cannot hold."""
    try:
        return tuple(_documents(text))
    except _RefusedError as refused:
        return Flaw(str(refused))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = getattr(error, "problem", None) or "a character that YAML does not allow"
        return Flaw(f"is not YAML: {what}{where}; correct it or export it again")


def _documents(text: str) -> list[Any]:
    documents: list[Any] = []
    stack: list[_Open] = []
    anchors: dict[str, _Sized] = {}
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.DocumentStartEvent):
            stack, anchors = [_Open(mapping=False, anchor=None)], {}
        elif isinstance(event, yaml.DocumentEndEvent):
            documents += stack[0].items
        elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            if len(stack) > MAX_DEPTH:
                raise _RefusedError(TOO_DEEP)
            stack.append(_Open(isinstance(event, yaml.MappingStartEvent), event.anchor))
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            done = stack.pop()
            value = _mapping(done.items) if done.mapping else done.items
            _put(stack[-1], (value, done.size, done.characters), anchors, done.anchor)
        elif isinstance(event, yaml.ScalarEvent):
            is_key = stack[-1].mapping and len(stack[-1].items) % 2 == 0
            value = event.value if is_key else _scalar(event)
            _put(stack[-1], (value, 1, len(event.value)), anchors, event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                raise _RefusedError(f"has the alias *{event.anchor} inside itself; write it out")
            _put(stack[-1], anchors[event.anchor])
    return documents


def _put(
    around: _Open,
    sized: _Sized,
    anchors: dict[str, _Sized] | None = None,
    anchor: str | None = None,
) -> None:
    value, size, characters = sized
    around.items.append(value)
    around.size += size
    around.characters += characters
    if around.characters > MAX_YAML_CHARACTERS:
        raise _RefusedError(
            f"has more than {MAX_YAML_CHARACTERS:,} characters with its aliases written out; "
            "split it"
        )
    if around.size > MAX_YAML_VALUES:
        raise _RefusedError(
            f"has more than {MAX_YAML_VALUES:,} values with its aliases written out; split it"
        )
    if anchors is not None and anchor:
        anchors[anchor] = sized


def _mapping(items: list[Any]) -> dict[str, Any] | Flaw:
    """The object of keys and values in turn; ``<<`` brings in what the object itself lacks."""
    pairs = list(zip(items[::2], items[1::2], strict=True))
    if any(not isinstance(key, str) for key, _ in pairs):
        return Flaw("has a list or mapping as a key; use text")
    own = unique_keys([pair for pair in pairs if pair[0] != "<<"])
    if isinstance(own, Flaw):
        return own
    for _, merged in (pair for pair in pairs if pair[0] == "<<"):
        for other in merged if isinstance(merged, list) else [merged]:
            if not isinstance(other, dict):
                return Flaw("has << before something that is no mapping; write it out")
            own = {**other, **own}
    return in_order(own.items())


def _scalar(event: yaml.ScalarEvent) -> Any:
    text = event.value
    if event.tag and event.tag not in ("!", f"{TAGS}str"):
        short = event.tag.replace(TAGS, "!!")
        return Flaw(f"has the YAML tag {short[:40]!r}; write the value without it")
    if not event.implicit[0] or event.tag:
        return text
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return integer(text)
    if NUMBER.fullmatch(text):
        return number(text)
    return Flaw(f"is {text}, which JSON does not have") if NOT_JSON.fullmatch(text) else text

"""Which gold calls of an evaluation set survive a merge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from referencing import Registry

from toolscope_core.merging.calls import map_call, unmap_call
from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.tool import JsonObject, Tool, canonical_json


@dataclass(frozen=True, slots=True)
class Call:
    """A gold call: the id of the tool and the arguments."""

    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Survival:
    """Of ``calls`` gold calls ``touched`` go to a tool that was merged; ``kept`` of those are
    mapped without loss, are as valid as before and map back to what they were.
    """

    calls: int
    touched: int
    kept: int

    def __str__(self) -> str:
        return f"{self.kept}/{self.touched} of {self.calls}" if self.calls else "-"


def read_calls(file: Path) -> tuple[Call, ...]:
    """The gold calls of a query file, none where there is no file or it has none."""
    if not file.exists():
        return ()
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return tuple(
        Call(call["tool"], call["arguments"]) for row in rows for call in row.get("calls", ())
    )


def survival(
    calls: Sequence[Call],
    before: Mapping[str, Tool],
    after: Mapping[str, Tool],
    maps: Mapping[str, ArgumentMap],
) -> Survival:
    """``before`` and ``after`` are tools by id; ``maps`` the argument maps of merged ones."""
    touched = [call for call in calls if call.tool in maps]
    kept = sum(
        survives(call, before[call.tool], after[maps[call.tool].to], maps[call.tool])
        for call in touched
    )
    return Survival(len(calls), len(touched), kept)


def survives(call: Call, old: Tool, new: Tool, alpha: ArgumentMap) -> bool:
    mapped = map_call(alpha, call.arguments)
    if mapped.lost or (
        _valid(old.schema, call.arguments) and not _valid(new.schema, mapped.arguments)
    ):
        return False
    types = {parameter.name: parameter.type for parameter in old.parameters}
    return unmap_call(alpha, mapped.arguments, types).arguments == call.arguments


def _valid(schema: JsonObject | None, arguments: JsonObject) -> bool:
    return schema is None or _validator(canonical_json(schema)).is_valid(arguments)


@cache
def _validator(schema: str) -> Validator:
    return Draft202012Validator(json.loads(schema), registry=Registry())

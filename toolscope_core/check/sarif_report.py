"""The report as SARIF 2.1.0, which code scanning shows beside the lines of a pull request.

The limits are those of GitHub's upload: 5,000 results are kept, a text is cut at 1,000 characters,
and each result has a place in a file.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from toolscope_core import __version__
from toolscope_core.catalog.record_lines import RecordLine
from toolscope_core.check.comparison_report import Failure
from toolscope_core.check.gate_items import TITLES, GateItem, Section
from toolscope_core.check.version_changes import shortened
from toolscope_core.model.tool import digest

MOST_RESULTS = 5_000
_LONGEST = 1_000
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Mapping[Section, str] = {
    **dict.fromkeys(TITLES, "warning"),
    **dict.fromkeys(("family", "unsure", "changed", "warn", "tokens"), "note"),
}
_HELP: Mapping[Section, str] = {
    "problem": "A record of the catalog is no tool that can be read, and is not checked.",
    "overlap": "A new or changed tool does the job of another one.",
    "family": "A new or changed tool is the operation of another, for another provider or value.",
    "unsure": "A new or changed tool may do the job of another one; a person should look.",
    "dangling": "A description names a tool that is gone.",
    "text": "A prompt, a skill or rules name a tool that is gone.",
    "breaking": "A change breaks callers of the tool as it was accepted.",
    "unread": "A text was not searched for such names.",
    "stale": "A recorded decision names a tool that has changed or is gone.",
    "changed": "A tool is not as it was accepted.",
    "block": "Hidden text, or text that redefines another tool.",
    "warn": "Text that addresses the model, or other things to look at.",
    "confusion": "A request that found its tool finds another one.",
    "profile": "A profile has changed, leaves a request unserved, or has tools that are alike.",
    "tokens": "The catalog costs more tokens than allowed.",
}


def sarif_report(
    failures: Sequence[Failure],
    items: Sequence[GateItem],
    lines: Mapping[str, RecordLine],
    file: Path,
) -> bytes:
    """The JSON. A case of a check that fails is an *error*. ``lines`` are by tool id as shown in
    the items; a case of a tool that stands nowhere is placed on the first line of ``file``.
    """
    failing = {one.check for one in failures}
    ranked = sorted(items, key=lambda item: item.section not in failing)
    results = [
        _result(item, "error" if item.section in failing else _LEVELS[item.section], lines, file)
        for item in ranked[:MOST_RESULTS]
    ]
    driver = {
        "name": "ToolScope",
        "semanticVersion": __version__,
        "rules": [_rule(section) for section in TITLES],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return f"{json.dumps(document, indent=1)}\n".encode()


def _rule(section: Section) -> Mapping[str, Any]:
    return {
        "id": f"toolscope/{section}",
        "name": TITLES[section].replace(" ", ""),
        "shortDescription": {"text": TITLES[section]},
        "fullDescription": {"text": _HELP[section]},
        "defaultConfiguration": {"level": _LEVELS[section]},
        "properties": {"tags": ["agents", "tools"]},
    }


def _result(
    item: GateItem, level: str, lines: Mapping[str, RecordLine], file: Path
) -> Mapping[str, Any]:
    places = [lines[tool] for tool in item.tools if tool in lines] or [RecordLine(file, 1)]
    told_apart = () if item.address else (item.says, item.details[:1])
    fingerprint = digest(item.section, item.tools, told_apart)
    result = {
        "ruleId": f"toolscope/{item.section}",
        "ruleIndex": list(TITLES).index(item.section),
        "level": level,
        "message": {"text": _message(item)},
        "locations": [_location(places[0])],
        "partialFingerprints": {"primaryLocationLineHash": f"{fingerprint[:16]}:1"},
    }
    related = [{"id": number, **_location(one)} for number, one in enumerate(places[1:6], 1)]
    return {**result, "relatedLocations": related} if related else result


def _message(item: GateItem) -> str:
    """The sentences; what SARIF reads as a link or a place to fill in is escaped."""
    start = f"{', '.join(item.tools)}: {item.says}." if item.tools else f"{item.says}."
    text = shortened(" ".join([start, *item.details]), _LONGEST)
    for mark, escaped in (("\\", "\\\\"), ("[", "\\["), ("]", "\\]"), ("{", "{{"), ("}", "}}")):
        text = text.replace(mark, escaped)
    return f"{text} {item.address}".rstrip()


def _location(place: RecordLine) -> Mapping[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(place.file),
            "region": {"startLine": place.line},
        }
    }


def _artifact(file: Path) -> Mapping[str, str]:
    """The file by its path from the working folder, which in CI is the repository's."""
    path = PurePath(file)
    if not path.is_absolute() and ".." not in path.parts:
        return {"uri": quote(path.as_posix(), errors="replace"), "uriBaseId": "%SRCROOT%"}
    return {"uri": Path(file).absolute().as_uri()}

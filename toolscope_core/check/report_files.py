"""Writes the report to files: SARIF 2.1.0 for code scanning, workflow annotations, JUnit, and a
pull-request summary.

The limits are set by GitHub: 5,000 results per upload, texts cut at 1,000 characters, a place in a
file for each result, and ten annotations of each level per step.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from toolscope_core import __version__
from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.catalog.source_lines import RecordLine
from toolscope_core.check.comparison_report import CHECKS, AcceptedCase, Check, GateItem, GateReport
from toolscope_core.check.item_places import ItemPlaces
from toolscope_core.check.limits import Failure
from toolscope_core.check.version_changes import change_counts, shortened
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest

MOST_RESULTS = 5_000
_LONGEST = 1_000
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_report(
    failures: Sequence[Failure], items: Sequence[GateItem], places: ItemPlaces
) -> bytes:
    """The report as SARIF in JSON. A case of a failed check is an *error*."""
    failing = {one.check for one in failures}
    ranked = sorted(items, key=lambda item: item.check not in failing)
    results = [_result(item, item.check in failing, places) for item in ranked[:MOST_RESULTS]]
    driver = {
        "name": "ToolScope",
        "semanticVersion": __version__,
        "rules": list(map(_rule, CHECKS)),
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return f"{json.dumps(document, indent=1)}\n".encode()


def _rule(check: Check) -> Mapping[str, Any]:
    return {
        "id": f"toolscope/{check.name}",
        "name": check.title.replace(" ", ""),
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": check.help},
        "defaultConfiguration": {"level": check.level},
        "properties": {"tags": ["agents", "tools"]},
    }


def _result(item: GateItem, is_error: bool, item_places: ItemPlaces) -> Mapping[str, Any]:
    places = item_places.of(item)
    told_apart = () if item.address else (item.summary, item.details[:1])
    fingerprint = digest(item.check, item.tools, told_apart)
    number, check = next(row for row in enumerate(CHECKS) if row[1].name == item.check)
    result = {
        "ruleId": f"toolscope/{check.name}",
        "ruleIndex": number,
        "level": "error" if is_error else check.level,
        "message": {"text": _message(item)},
        "locations": [_location(places[0])],
        "partialFingerprints": {"primaryLocationLineHash": f"{fingerprint[:16]}:1"},
    }
    related = [{"id": number, **_location(one)} for number, one in enumerate(places[1:6], 1)]
    return {**result, "relatedLocations": related} if related else result


def _sentences(item: GateItem) -> str:
    start = f"{', '.join(item.tools)}: {item.summary}." if item.tools else f"{item.summary}."
    return shortened(" ".join([start, *item.details]), _LONGEST)


def _message(item: GateItem) -> str:
    """The sentences on a case, with the syntax of SARIF's links and placeholders escaped."""
    text = _sentences(item)
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
    """The path of the file from the working folder, which is the repository's folder in CI."""
    path = PurePath(file)
    if not path.is_absolute() and ".." not in path.parts:
        return {"uri": quote(path.as_posix(), errors="replace"), "uriBaseId": "%SRCROOT%"}
    return {"uri": Path(file).absolute().as_uri()}


MOST_ANNOTATIONS = 10
_LEVELS = {"warning": "warning", "note": "notice"}


def workflow_annotations(
    failures: Sequence[Failure], items: Sequence[GateItem], places: ItemPlaces
) -> str:
    """A line for each case; when a workflow prints the line, GitHub shows it at the case's place.

    Only the first ``MOST_ANNOTATIONS`` of each level are included. Levels and places are as in
    ``sarif_report``.
    """
    failing, levels = {one.check for one in failures}, {one.name: one for one in CHECKS}
    written: Counter[str] = Counter()
    text = ""
    for item in items:
        check = levels[item.check]
        level = "error" if item.check in failing else _LEVELS[check.level]
        written[level] += 1
        if written[level] <= MOST_ANNOTATIONS:
            place = places.of(item)[0]
            path, title = (_of_command(one) for one in (place.file.as_posix(), check.title))
            where = f"file={path},line={place.line},title={title}"
            text += f"::{level} {where}::{_of_command(_sentences(item), '%')}\n"
    return text


def _of_command(text: str, marks: str = "%:,") -> str:
    """The text for a workflow command.

    It is on one line and ``marks`` are escaped, so that it cannot end the command.
    """
    line = for_terminal(text)
    for mark in marks:
        line = line.replace(mark, f"%{ord(mark):02X}")
    return line


_NAME = "toolscope check"
_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def junit_report(failures: Sequence[Failure], items: Sequence[GateItem]) -> bytes:
    """The report as JUnit XML (UTF-8).

    A case of a failed check is a failed test. Any other case is a passed test with the case's text
    as output. A check without cases is one passed test. Ids and details contain no character that
    XML forbids, as described in ``GateItem``.
    """
    reasons = {one.check: one.reason for one in failures}
    root = ET.Element("testsuites", name=_NAME)
    for check in CHECKS:
        cases = [item for item in items if item.check == check.name]
        failing = check.name in reasons
        suite = ET.SubElement(
            root,
            "testsuite",
            name=check.title,
            tests=str(max(1, len(cases))),
            failures=str(len(cases) if failing else 0),
            errors="0",
        )
        if not cases:
            ET.SubElement(suite, "testcase", classname=_NAME, name=f"{check.title}: none")
        for item in cases:
            _add(suite, item, failing)
    totals = {name: sum(int(suite.get(name, "0")) for suite in root) for name in _COUNTED}
    root.attrib.update({name: str(count) for name, count in totals.items()})
    ET.indent(root)
    return f"{_DECLARATION}\n{ET.tostring(root, encoding='unicode')}\n".encode()


_COUNTED = ("tests", "failures", "errors")


def _add(suite: ET.Element, item: GateItem, failing: bool) -> None:
    tools = ", ".join(item.tools)
    name = f"{tools}: {item.summary}" if tools else item.summary
    case = ET.SubElement(suite, "testcase", classname=f"{_NAME}.{item.check}", name=name)
    text = "\n".join([*item.details, *([item.address] if item.address else [])])
    if failing:
        ET.SubElement(case, "failure", message=item.summary).text = text
    elif text:
        ET.SubElement(case, "system-out").text = text


MOST_CHARACTERS = 60_000
"""GitHub allows 65,536 characters in a comment on a pull request."""
_MOST_ITEMS = 25
_MOST_DETAILS = 8
_MOST_WORST = 5
_LONGEST_PULL_REQUEST_SUMMARY = 300
_FOLD, _END_OF_FOLD = "\n<details><summary>{}</summary>\n", "\n</details>\n"
_CUT = f"{_END_OF_FOLD}\nThe report is cut here; the other reports of this run are complete.\n"


def pull_request_summary(
    report: GateReport,
    failures: Sequence[Failure],
    items: Sequence[GateItem],
    accepted: Sequence[AcceptedCase] = (),
) -> str:
    """The summary in Markdown, at most ``MOST_CHARACTERS`` long; the same for equal reports."""
    text = ""
    for block in (*_blocks(report, failures, items), *_accepted(accepted)):
        if len(text) + len(block) + len(_CUT) > MOST_CHARACTERS:
            return text + _CUT
        text += block
    return text


def code(text: str) -> str:
    """Catalog text as a code span; long text is cut."""
    line = shortened(
        for_terminal(" ".join(text.split())) or "(no text)", _LONGEST_PULL_REQUEST_SUMMARY
    )
    longest = max(map(len, re.findall("`+", line)), default=0)
    fence, pad = "`" * (longest + 1), " " if "`" in (line[0], line[-1]) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _blocks(
    report: GateReport, failures: Sequence[Failure], items: Sequence[GateItem]
) -> Iterator[str]:
    yield f"## Tool catalog: {'the check fails' if failures else 'the check passes'}\n\n"
    yield "".join(f"- **{one.reason}**\n" for one in failures) + ("\n" if failures else "")
    yield f"{quantity(len(report.catalog.tools), 'tool')}; {change_counts(report.changes.diff)}.\n"
    ranked = _worst_first([item for item in items if item.tools], failures)
    worst, rest = ranked[:_MOST_WORST], ranked[_MOST_WORST:]
    if worst:
        yield "\n### The worst first\n\n"
    titles = {check.name: check.title for check in CHECKS}
    yield from (_item(item, f"{titles[item.check]}: ") for item in worst)
    yield from _tokens(report)
    if not rest:
        return
    yield _FOLD.format(f"{len(rest):,} more")
    for check in CHECKS:
        cases = [item for item in rest if item.check == check.name]
        if not cases:
            continue
        yield f"\n### {check.title} ({len(cases):,})\n\n"
        yield from map(_item, cases[:_MOST_ITEMS])
        if len(cases) > _MOST_ITEMS:
            yield f"- and {len(cases) - _MOST_ITEMS:,} more\n"
    yield _END_OF_FOLD


def _accepted(cases: Sequence[AcceptedCase]) -> Iterator[str]:
    """Who accepted which findings. Acceptances are part of the pull request, so reviewers must
    see them.
    """
    if cases:
        yield _FOLD.format(f"{len(cases):,} accepted in `.toolscope.yaml`") + "\n"
        for one in cases[:_MOST_ITEMS]:
            tools = ", ".join(map(code, one.item.tools)) if one.item else "no remaining finding"
            yield f"- {tools}: {code(one.acceptance.in_words)}\n"
        if len(cases) > _MOST_ITEMS:
            yield f"- and {len(cases) - _MOST_ITEMS:,} more\n"
        yield _END_OF_FOLD


def _worst_first(items: Sequence[GateItem], failures: Sequence[Failure]) -> list[GateItem]:
    """The cases of failed checks, then the other warnings, then notes; each group in its old
    order.
    """
    failing = {one.check for one in failures}
    notes = {check.name for check in CHECKS if check.level == "note"}
    return sorted(items, key=lambda item: (item.check not in failing, item.check in notes))


def _item(item: GateItem, title: str = "") -> str:
    link = f" · [open the pair](<{item.address}>)" if item.address else ""
    ids = item.tools[:_MOST_DETAILS]
    others = f" and {len(item.tools) - len(ids)} more" if len(item.tools) > len(ids) else ""
    lines = [f"- {title}{', '.join(map(code, ids))}{others}: {item.summary}{link}"]
    lines += [f"  - {code(detail)}" for detail in item.details[:_MOST_DETAILS]]
    if len(item.details) > _MOST_DETAILS:
        lines.append(f"  - and {len(item.details) - _MOST_DETAILS} more")
    return "\n".join([*lines, ""])


def _tokens(report: GateReport) -> Iterator[str]:
    growth = report.tokens
    yield f"\n### Tokens ({growth.estimator})\n\n"
    yield "| target | before → now | growth |\n|---|:--|--:|\n"
    yield "".join(f"| {one.name} | {one.in_words} | {one.added:+,} |\n" for one in growth.formats)
    changes = sorted(
        (one for one in growth.servers if one.added), key=lambda one: (-abs(one.added), one.name)
    )
    if changes:
        yield f"\nBy server, in the format {growth.total.name}:\n\n"
    for one in changes[:_MOST_ITEMS]:
        name = code(one.name) if one.name else "no server"
        yield f"- {name}: {one.in_words} ({one.added:+,})\n"
    if len(changes) > _MOST_ITEMS:
        yield f"- and {len(changes) - _MOST_ITEMS:,} more\n"

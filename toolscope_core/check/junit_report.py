"""The report as JUnit XML, which CI systems show as tests: one suite a check, one test a case."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from toolscope_core.check.comparison_report import Failure
from toolscope_core.check.gate_items import TITLES, GateItem

_NAME = "toolscope check"
_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def junit_report(failures: Sequence[Failure], items: Sequence[GateItem]) -> bytes:
    """The XML (UTF-8). A case of a check that fails is a failed test, any other a passed one with
    its text as output; a check without cases is one passed test.

    Ids and details have no character that XML cannot hold, as ``GateItem`` says.
    """
    reasons = {one.check: one.reason for one in failures}
    root = ET.Element("testsuites", name=_NAME)
    for section, title in TITLES.items():
        cases = [item for item in items if item.section == section]
        failing = section in reasons
        suite = ET.SubElement(
            root,
            "testsuite",
            name=title,
            tests=str(max(1, len(cases))),
            failures=str(len(cases) if failing else 0),
            errors="0",
        )
        if not cases:
            ET.SubElement(suite, "testcase", classname=_NAME, name=f"{title}: none")
        for item in cases:
            _add(suite, item, failing)
    totals = {name: sum(int(suite.get(name, "0")) for suite in root) for name in _COUNTED}
    root.attrib.update({name: str(count) for name, count in totals.items()})
    ET.indent(root)
    return f"{_DECLARATION}\n{ET.tostring(root, encoding='unicode')}\n".encode()


_COUNTED = ("tests", "failures", "errors")


def _add(suite: ET.Element, item: GateItem, failing: bool) -> None:
    tools = ", ".join(item.tools)
    name = f"{tools}: {item.says}" if tools else item.says
    case = ET.SubElement(suite, "testcase", classname=f"{_NAME}.{item.section}", name=name)
    text = "\n".join([*item.details, *([item.address] if item.address else [])])
    if failing:
        ET.SubElement(case, "failure", message=item.says).text = text
    elif text:
        ET.SubElement(case, "system-out").text = text

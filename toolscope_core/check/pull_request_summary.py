"""The report for a pull request, as Markdown in which no text of a catalog comes alive.

GitHub looks for mentions, addresses and numbers of issues after Markdown has been read, so that
neither backslashes nor entities hold them back. It looks for them in no code. All text of a catalog
therefore stands in code spans, in one line, behind more backticks than it has itself.
"""

import re
from collections.abc import Iterator, Sequence

from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.catalog.tokens import SizeChange
from toolscope_core.check.comparison_report import Failure, GateReport
from toolscope_core.check.gate_items import TITLES, GateItem
from toolscope_core.check.version_changes import counted, shortened
from toolscope_core.model.numbers import quantity

MOST_CHARACTERS = 60_000
"""A comment of a pull request may have 65,536 characters."""
_MOST_ITEMS = 25
_MOST_DETAILS = 8
_LONGEST = 300
_CUT = "\nThe report is cut here; the other reports of this run have everything.\n"


def pull_request_summary(
    report: GateReport, failures: Sequence[Failure], items: Sequence[GateItem]
) -> str:
    """The Markdown, at most ``MOST_CHARACTERS`` long; the same for equal reports."""
    text = ""
    for block in _blocks(report, failures, items):
        if len(text) + len(block) + len(_CUT) > MOST_CHARACTERS:
            return text + _CUT
        text += block
    return text


def code(text: str) -> str:
    """Text of a catalog as a code span, cut where it is long."""
    line = shortened(for_terminal(" ".join(text.split())) or "(no text)", _LONGEST)
    longest = max(map(len, re.findall("`+", line)), default=0)
    fence, pad = "`" * (longest + 1), " " if "`" in (line[0], line[-1]) else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _blocks(
    report: GateReport, failures: Sequence[Failure], items: Sequence[GateItem]
) -> Iterator[str]:
    yield f"## Tool catalog: {'the check fails' if failures else 'the check passes'}\n\n"
    yield "".join(f"- **{one.reason}**\n" for one in failures) + ("\n" if failures else "")
    yield f"{quantity(len(report.catalog.tools), 'tool')}; {counted(report.tools.changes)}.\n"
    yield from _tokens(report)
    for section, title in TITLES.items():
        of_section = [item for item in items if item.section == section and item.tools]
        if not of_section:
            continue
        yield f"\n### {title} ({len(of_section):,})\n\n"
        yield from map(_item, of_section[:_MOST_ITEMS])
        if len(of_section) > _MOST_ITEMS:
            yield f"- and {len(of_section) - _MOST_ITEMS:,} more\n"


def _item(item: GateItem) -> str:
    link = f" · [open the pair](<{item.address}>)" if item.address else ""
    shown = item.tools[:_MOST_DETAILS]
    others = f" and {len(item.tools) - len(shown)} more" if len(item.tools) > len(shown) else ""
    lines = [f"- {', '.join(map(code, shown))}{others}: {item.says}{link}"]
    lines += [f"  - {code(detail)}" for detail in item.details[:_MOST_DETAILS]]
    if len(item.details) > _MOST_DETAILS:
        lines.append(f"  - and {len(item.details) - _MOST_DETAILS} more")
    return "\n".join([*lines, ""])


def _tokens(report: GateReport) -> Iterator[str]:
    growth = report.tokens
    yield f"\n### Tokens ({growth.counted})\n\n"
    yield "| target | before → now | growth |\n|---|:--|--:|\n"
    yield "".join(f"| {one.name} | {one.in_words} | {one.added:+,} |\n" for one in growth.shapes)
    moved = sorted((one for one in growth.servers if one.added), key=_largest)
    if moved:
        yield f"\nBy server, in the shape {growth.total.name}:\n\n"
    for one in moved[:_MOST_ITEMS]:
        name = code(one.name) if one.name else "no server"
        yield f"- {name}: {one.in_words} ({one.added:+,})\n"
    if len(moved) > _MOST_ITEMS:
        yield f"- and {len(moved) - _MOST_ITEMS:,} more\n"


def _largest(one: SizeChange) -> tuple[int, str]:
    return -abs(one.added), one.name

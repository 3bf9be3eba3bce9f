"""Writes CSV tables that a spreadsheet shows but never runs."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.scan.hidden import HIDDEN
from toolscope_core.catalog.tokens import Costs
from toolscope_core.model.plan import MergedTool, Relabel
from toolscope_core.model.tool import canonical_json

_EQUALS, _OTHERS = "[=＝﹦⁼₌]", "[" + re.escape("+-@＋－＠﹢﹣﹫⁺⁻₊₋−") + "]"
_SIGNS = f"(?:{_EQUALS}|{_OTHERS})"
_SIGN = re.compile(_SIGNS)
_HIDDEN = HIDDEN.pattern[1:-1]
_UNSEEN = rf"[\s\"'{_HIDDEN}]*"
_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[,}\]]"
_CALL = r"(?:\w\(|\|)"
_FORMULA = re.compile(rf"{_UNSEEN}{_SIGNS}|[\t\r\n]")
_BEHIND = re.compile(
    rf"[;|\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]{_UNSEEN}(?={_SIGNS})"
    rf"|(?:[:^~]{_UNSEEN}|,[\s{_HIDDEN}]*)"
    rf"(?={_EQUALS}|{_OTHERS}(?!{_NUMBER})[^\r\n]{{0,500}}?{_CALL})"
    rf"|\s[\"'{_HIDDEN}]*(?={_EQUALS}(?![=<>~]*(?:\s|$))|{_OTHERS}\S*?{_CALL})"
)
"""Matches what may end a cell before a sign, if the reader splits cells at a separator other
than the comma, or ignores quotes. For such a reader, the quotes of a cell in the middle of a row
mean nothing, and a line in the cell begins a row. Colons, ``^``, ``~``, commas and blanks occur
in ordinary text. After them, only an equals sign counts (but not one alone between blanks: *x =
1*), or another sign before a call or a bar, without which it can do no harm (*default: -1*, *run
-f*, *@name*).
"""


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A table as CSV in UTF-8, with each cell as text.

    A cell that a spreadsheet would read as a formula gets an apostrophe in front. This includes
    signs of another width, hidden first characters, and signs that would start a cell if another
    separator were used. All other cells are unchanged.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows([_inert(str(cell)) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def tools_csv(tools: Sequence[MergedTool], costs: Costs | None = None) -> bytes:
    """A CSV with one row per tool, in the given order.

    Parameters are written as JSON Schema, members as a JSON list. ``costs`` are token counts to
    reuse.
    """
    costs = costs or Costs()
    header = ("id", "server", "name", "description", "parameters", "tokens", "members")
    return csv_bytes(
        header,
        (
            (
                item.tool.id,
                item.tool.server,
                item.tool.name,
                item.tool.description,
                "" if item.tool.schema is None else canonical_json(item.tool.schema),
                costs.of(item.tool, PROMPT_FORMATS[0]),
                canonical_json(list(item.members)),
            )
            for item in tools
        ),
    )


def relabel_csv(relabels: Sequence[Relabel]) -> bytes:
    """φ as a CSV with one row per input tool, in the given order.

    A tool that was left out has no new id and no new name.
    """
    header = ("old_id", "new_id", "server", "old_name", "new_name", "status")
    return csv_bytes(
        header, ([getattr(row, column) or "" for column in header] for row in relabels)
    )


def _inert(cell: str) -> str:
    if _SIGN.search(cell):
        cell = _BEHIND.sub(r"\g<0>'", cell)
    return f"'{cell}" if _FORMULA.match(cell) else cell

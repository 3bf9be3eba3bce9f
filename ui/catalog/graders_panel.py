"""People's grades of the documentation, compared with each other's and with the model's."""

from pathlib import Path

import streamlit as st

from toolscope_core.catalog.formats.spreadsheets import csv_bytes
from toolscope_core.evaluation.grader_agreement import (
    GraderPair,
    grader_agreement,
    read_grades,
    tools_to_grade,
)
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import canonical_json
from ui.shared import data_tables, safe_text
from ui.shared.data_tables import Column, Columns
from ui.shared.services import judging
from ui.shared.snapshot import Snapshot

_ABOUT = (
    "As in ToolScope (appendix E.2), people grade the same tools from 1 to 5 on what the model "
    "looks at: parameters, constraints, behaviour and result. They know neither each other's "
    "grades nor the model's. Download the sheet, fill in the column *grade*, and upload one file "
    "for each person."
)
_COLUMNS: Columns[GraderPair] = [
    Column("one", title="person"),
    Column("other", title="and"),
    Column("tools"),
    Column(
        "kappa",
        lambda row: None if row.kappa is None else round(row.kappa, 3),
        title="Cohen's κ",
        help="Agreement beyond chance on Low, Medium and High; empty if it is not defined.",
    ),
]


def graders_panel(snapshot: Snapshot) -> None:
    """Draw the sheet to fill in, and how well the people who filled it in agree."""
    grades = judging.grades(snapshot)
    if not grades:
        return
    box = st.expander("Do people agree with these grades?", icon=":material/groups:")
    box.caption(_ABOUT)
    box.download_button(
        "Sheet of tools to grade",
        _sheet(snapshot, tools_to_grade(grades)),
        "tools-to-grade.csv",
        "text/csv",
        icon=":material/download:",
        key="grade_sheet",
        help="Up to ten tools from each band of the model's grades, in no particular order.",
    )
    files = box.file_uploader(
        "Completed sheets, one for each person", type=["csv"], accept_multiple_files=True,
        key="grade_files",
    )  # fmt: skip
    if not files:
        return
    try:
        by_grader = {
            Path(file.name).stem: read_grades(file.getvalue(), file.name) for file in files
        }
    except ConfigError as error:
        with box:
            safe_text.show_error(error)
        return
    agreement = grader_agreement(by_grader, grades)
    with box:
        if agreement.pairs:
            data_tables.draw(agreement.pairs, _COLUMNS, "How well each pair of people agrees")
        tau = "not defined yet" if agreement.tau is None else f"{agreement.tau:.3f}"
        p = "" if agreement.p is None else f" (p {agreement.p:.4f})"
        st.markdown(
            f"Kendall's τ between the model and the mean of "
            f"{quantity(len(by_grader), 'grader')}, on "
            f"{quantity(agreement.tools, 'tool')}: **{tau}**{p}."
        )


def _sheet(snapshot: Snapshot, ids: tuple[str, ...]) -> bytes:
    tools = (snapshot.catalog.by_id[one] for one in ids)
    rows = [
        (tool.id, tool.name, tool.description, canonical_json(tool.schema or {}), "")
        for tool in tools
    ]
    return csv_bytes(("tool", "name", "description", "parameters", "grade"), rows)

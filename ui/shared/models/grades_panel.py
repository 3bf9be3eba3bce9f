"""Documentation grades by a model: counts by band, the tools, the reasons."""

from collections import Counter

import streamlit as st

from toolscope_core.merging.model_verdicts import Band, Grade
from ui.shared import data_tables, safe_text
from ui.shared.cards.outcome_badges import Color
from ui.shared.charts import pictures
from ui.shared.charts.chart_style import TableRow
from ui.shared.models import ask_panel
from ui.shared.services import judging
from ui.shared.snapshot import Snapshot

BANDS: tuple[Band, ...] = ("Low", "Medium", "High")
MEANINGS: dict[Band, str] = {
    "Low": "Wrong calls are likely (grades 1 and 2).",
    "Medium": "Some guessing is needed (grade 3).",
    "High": "Little or nothing is missing (grades 4 and 5).",
}
COLORS: dict[Band, Color] = {"Low": "red", "Medium": "orange", "High": "green"}


def grades_panel(snapshot: Snapshot) -> None:
    """Draw the button to grade, and the grades, the worst documented tools first."""
    st.caption(
        "A model grades how well each tool documents its parameters, constraints, behaviour and "
        "result, from 1 to 5. Grades change nothing."
    )
    ask_panel.ask_panel(snapshot, "quality", "Grade documentation")
    grades = judging.grades(snapshot)
    if not grades:
        return
    counts = Counter(grade.band for grade in grades.values())
    for place, band in zip(st.columns(3), BANDS, strict=True):
        place.metric(band, f"{counts[band]:,}", help=MEANINGS[band], border=True)
    rows: list[TableRow] = [
        {
            "tool": tool_id,
            "documentation": grade.band,
            "grade": grade.score,
            "missing": ", ".join(grade.lacking),
            "reason": grade.reason,
        }
        for tool_id, grade in sorted(grades.items(), key=lambda one: (one[1].score, one[0]))
    ]
    data_tables.draw(
        rows[: pictures.ROWS],
        "Tools and how well they are documented, the worst first",
        {"tool": 240, "grade": ("grade (of 5)", 95), "reason": 520},
        height=380,
    )
    with st.container(horizontal=True):
        pictures.downloads(rows, "documentation")


def grade_of(grade: Grade) -> None:
    """Draw one tool's grade with its reasons."""
    st.badge(
        f"Documentation: {grade.band}, {grade.score} of 5",
        color=COLORS[grade.band],
        icon=":material/grading:",
    )
    missing = f" Missing: {', '.join(grade.lacking)}." if grade.lacking else ""
    st.caption(f"{safe_text.untrusted(grade.reason)}{missing}")

"""How well tools are documented, as a model grades it: counts by band, the tools, the reasons."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from toolscope_core.workspace.judging import Grade
from ui.charts import pictures
from ui.frame import page_frame, safe_text
from ui.models import ask_panel

BANDS = ("Low", "Medium", "High")
MEANS = {
    "Low": "wrong calls are likely (grades 1 and 2)",
    "Medium": "some guessing is needed (3)",
    "High": "little or nothing is left to ask (4 and 5)",
}
COLORS = {"Low": "red", "Medium": "orange", "High": "green"}


def grades_panel(catalog_id: int) -> None:
    """Grade, and what came of it, the worst documented tools first."""
    st.caption(
        "A model grades what each tool says of its parameters, constraints, behaviour and result, "
        "from 1 to 5. It changes nothing."
    )
    ask_panel.asking_panel(catalog_id, "quality", "Grade documentation")
    grades = page_frame.workspace().judging.grades(catalog_id)
    if not grades:
        return
    counts = Counter(grade.band for grade in grades.values())
    for place, band in zip(st.columns(3), BANDS, strict=True):
        place.metric(band, f"{counts[band]:,}", help=MEANS[band], border=True)
    rows = [
        {
            "tool": tool_id,
            "documentation": grade.band,
            "grade": grade.score,
            "lacking": ", ".join(grade.lacking),
            "reason": grade.reason,
        }
        for tool_id, grade in sorted(grades.items(), key=lambda one: (one[1].score, one[0]))
    ]
    st.dataframe(
        rows[: pictures.ROWS],
        hide_index=True,
        height=380,
        column_config={
            "tool": st.column_config.TextColumn(width=240),
            "grade": st.column_config.NumberColumn("of 5", width=60),
            "reason": st.column_config.TextColumn(width=520),
        },
        alt="Tools and how well they are documented, the worst first",
    )
    with st.container(horizontal=True):
        pictures.downloads(rows, "documentation")


def grade_of(grade: Grade) -> None:
    """One tool's grade with its reasons."""
    st.badge(
        f"Documentation: {grade.band}, {grade.score} of 5",
        color=COLORS[grade.band],
        icon=":material/grading:",
    )
    lacks = f" Lacking: {', '.join(grade.lacking)}." if grade.lacking else ""
    st.caption(f"{safe_text.untrusted(grade.reason)}{lacks}")

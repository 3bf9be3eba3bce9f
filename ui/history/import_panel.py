"""Importing decisions from a file: what it would add is shown first, then it is added."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from toolscope_core.decisions.actions import ACTIONS
from toolscope_core.decisions.imported_decisions import ImportPreview, Outcome
from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.numbers import quantity
from ui.history import histories
from ui.shared import data_tables, safe_text
from ui.shared.cards import decision_buttons
from ui.shared.snapshot import Snapshot

HEIGHT = 320
OUTCOMES: dict[Outcome, str] = {
    "refused": "refused",
    "suspended": "added, waits",
    "new": "added",
    "of another catalog": "other catalog",
    "recorded": "recorded",
}
"""The outcomes in words, what needs a look first."""


def import_panel(snapshot: Snapshot) -> None:
    """The file field, and a preview of what the file would add."""
    turn = st.session_state.setdefault("import_turn", 0)
    with st.expander("Import decisions", icon=":material/upload_file:"):
        file = st.file_uploader(
            "A decisions.jsonl from a bundle, or one written by hand. Decisions about tools that "
            "this catalog does not have are skipped.",
            type=["jsonl"],
            key=f"import_{turn}",
        )
        if file is None:
            return
        try:
            imported = histories.preview_import(snapshot, file.getvalue(), file.name)
        except ToolScopeError as error:
            safe_text.show_error(error)
            return
        st.write(summary(imported))
        data_tables.draw(
            [
                {
                    "outcome": OUTCOMES[row.outcome],
                    "decision": ACTIONS[row.decision.action].done,
                    "who": row.decision.reviewer,
                    "when": safe_text.clock(row.decision.at),
                    "tools": ", ".join(row.decision.ids),
                    "why": row.why,
                }
                for row in sorted(imported.rows, key=lambda row: list(OUTCOMES).index(row.outcome))
            ],
            "What the file would add",
            most=HEIGHT,
            key=f"import_rows_{turn}",
        )
        decision_buttons.record_button(
            f"Add {quantity(len(imported.new), 'decision')}",
            lambda: histories.import_decisions(snapshot, imported),
            f"Added {quantity(len(imported.new), 'decision')}",
            lambda: st.session_state.update(import_turn=turn + 1),
            as_batch=True,
            key=f"import_button_{turn}",
            type="primary",
            disabled=not imported.new,
        )


def summary(imported: ImportPreview) -> str:
    """What the file would add, in one sentence."""
    counts = Counter(row.outcome for row in imported.rows)
    waiting = f" ({counts['suspended']:,} of them on tools that have changed: they would wait)"
    parts = [
        f"{quantity(len(imported.new), 'decision')} to add{waiting if counts['suspended'] else ''}"
    ]
    parts += [f"{counts['recorded']:,} already recorded"] if counts["recorded"] else []
    others = counts["of another catalog"]
    parts += [f"{others:,} about tools not in this catalog"] if others else []
    parts += [f"{counts['refused']:,} refused"] if counts["refused"] else []
    return ", ".join(parts)

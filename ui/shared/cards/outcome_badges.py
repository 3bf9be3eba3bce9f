"""How a verdict looks: its colour, its icon, and the badge that says it in plain words."""

from typing import Literal

import streamlit as st

from toolscope_core.model.kinds import OUTCOMES, outcome_word
from toolscope_core.model.pair import Outcome, Verdict

Color = Literal["green", "violet", "orange", "gray", "red", "blue"]

COLORS: dict[Outcome, Color] = {
    "merge": "green",
    "family": "violet",
    "unsure": "orange",
    "keep": "gray",
    "unanalysed": "red",
}
ICONS: dict[Outcome, str] = {
    "merge": ":material/merge:",
    "family": ":material/family_history:",
    "unsure": ":material/help:",
    "keep": ":material/call_split:",
    "unanalysed": ":material/question_mark:",
}


def badge(who: str, outcome: Outcome) -> None:
    """The verdict of ``who`` on a pair."""
    st.badge(f"{who}: {OUTCOMES[outcome]}", color=COLORS[outcome], icon=ICONS[outcome])


def short(outcome: Outcome) -> str:
    """The verdict in one word, coloured; safe in markdown."""
    color, word = COLORS[outcome], outcome_word(outcome)
    return word if color == "gray" else f":{color}[{word}]"


def probability(verdict: Verdict) -> str:
    """The probability that led to the verdict: of a family, or of the same job."""
    if verdict.outcome == "family":
        return f"{verdict.family:.2f}"
    return f"{verdict.probability:.2f}"

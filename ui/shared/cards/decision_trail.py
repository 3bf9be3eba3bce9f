"""Decisions in words, and the list of them with an undo button each, or who undid it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from toolscope_core.decisions.actions import ACTIONS
from toolscope_core.model.decision import Action, Decision
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons

PAGE_SIZE = 10


def trail(catalog_id: int, parameter: str = "cluster") -> None:
    """Draw all decisions, page by page, and those that say *never merge*. ``parameter`` names the
    cluster in the address of the page.
    """
    review = page_frame.workspace().review
    history, standing = review.history(catalog_id), review.standing(catalog_id)
    with st.expander(f"All decisions ({len(history):,})"):
        pages = -(-len(history) // PAGE_SIZE)
        page = st.pagination(pages, key="trail_page") if pages > 1 else 1
        for decision, undone in history[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]:
            _line(decision, undone, "recent", parameter)
    rejected = [decision for decision in standing if decision.action == "reject"]
    with st.expander(f"Never merge ({len(rejected)})"):
        for decision in rejected:
            _line(decision, None, "never", parameter)


def in_words(decision: Decision) -> str:
    """What was decided, safe in markdown; for a canonical which tool was chosen."""
    words = _WORDS.get(decision.action)
    return words(decision) if words else ACTIONS[decision.action].done


def by_whom(decision: Decision) -> str:
    """Who decided, and when; safe in markdown."""
    return safe_text.untrusted(f"{decision.reviewer}, {safe_text.clock(decision.at)}")


def _line(decision: Decision, undone: Decision | None, place: str, parameter: str) -> None:
    names = safe_text.untrusted(" | ".join(", ".join(part) for part in decision.parts))
    text = f"{in_words(decision)}{': ' if names else ''}{names}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if undone is None:
            st.button(
                "Undo",
                key=f"{place}_undo_{decision.seq}",
                on_click=decision_buttons.undo,
                args=((decision.seq,), decision, parameter),
            )
            st.markdown(text, width="stretch")
            st.caption(by_whom(decision), width="content")
        else:
            st.markdown(f":gray[~~{text}~~]", width="stretch")
            whom = by_whom(decision)
            st.caption(f"{whom}; undone by {by_whom(undone)}", width="content")


def _omit(decision: Decision) -> str:
    return f"Left out ({safe_text.untrusted(str(decision.detail.get('reason', '')))})"


def _owner(decision: Decision) -> str:
    owner = str(decision.detail.get("owner", "")) or "none"
    return f"Implied server: {safe_text.untrusted(owner)}"


def _threshold(decision: Decision) -> str:
    thresholds = decision.detail
    return (
        f"Thresholds applied: similarity {thresholds['similarity']:.2f}, probability "
        f"{thresholds['probability']:.2f}"
    )


def _augment(decision: Decision) -> str:
    written = sum(bool(one["expanded"] or one["questions"]) for one in decision.detail["variants"])
    rejected = len(decision.members) - written
    parts = [f"{written:,} accepted"] * bool(written) + [f"{rejected:,} rejected"] * bool(rejected)
    return f"Document variants: {', '.join(parts)}"


def _flag(decision: Decision) -> str:
    return f"Flagged ({safe_text.untrusted(str(decision.detail['note']))})"


def _canonical(decision: Decision) -> str:
    ids = dict(zip(decision.members, decision.ids, strict=False))
    chosen = str(decision.detail.get("canonical", ""))
    kind = _KINDS.get(str(decision.detail.get("kind", "")), "")
    return f"Canonical chosen, {safe_text.untrusted(ids.get(chosen, chosen))}{kind}"


def _note(decision: Decision) -> str:
    return f"Note on a decision ({safe_text.untrusted(str(decision.detail['note']))})"


_KINDS = {"prune": "; the others switched off", "router": "; all stay reachable"}


_WORDS: Mapping[Action, Callable[[Decision], str]] = {
    "omit": _omit,
    "owner": _owner,
    "threshold": _threshold,
    "augment": _augment,
    "flag": _flag,
    "canonical": _canonical,
    "note": _note,
}

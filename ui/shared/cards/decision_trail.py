"""Decisions in words, and the list of them with an undo button each, or who undid it."""

from collections.abc import Mapping

import streamlit as st

from toolscope_core.decisions.actions import ACTIONS
from toolscope_core.model.decision import Action, Decision
from ui.shared import safe_text
from ui.shared.cards import decision_buttons
from ui.shared.services import review
from ui.shared.snapshot import Snapshot

PAGE_SIZE = 10
_WITH_A_TEXT: Mapping[Action, tuple[str, str]] = {
    "omit": ("Left out", "reason"),
    "flag": ("Flagged", "note"),
    "note": ("Note on a decision", "note"),
    "account": ("Two servers", "account"),
    "load": ("Loaded", "loading"),
    "namespace": ("Namespace described", "description"),
    "profile": ("Profile", "profile"),
}
_KINDS = {"prune": "; the others switched off", "router": "; all stay reachable"}


def trail(snapshot: Snapshot, parameter: str = "cluster") -> None:
    """Draw all decisions, page by page. ``parameter`` names the cluster in the address of the
    page.
    """
    history = review.history(snapshot)
    if not history:
        return
    with st.expander(f"All decisions ({len(history):,})"):
        pages = -(-len(history) // PAGE_SIZE)
        page = st.pagination(pages, key="trail_page") if pages > 1 else 1
        for decision, undone in history[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]:
            _line(snapshot, decision, undone, parameter)


def in_words(decision: Decision) -> str:
    """What was decided, safe in markdown; for a canonical which tool was chosen."""
    detail = decision.detail
    if decision.action in _WITH_A_TEXT:
        words, key = _WITH_A_TEXT[decision.action]
        words = f"{words} deleted" if detail.get("deleted") is True else words
        return f"{words} ({safe_text.untrusted(str(detail.get(key, '')))})"
    match decision.action:
        case "owner":
            return f"Implied server: {safe_text.untrusted(str(detail.get('owner', '')) or 'none')}"
        case "threshold":
            return (
                f"Thresholds applied: similarity {detail['similarity']:.2f}, probability "
                f"{detail['probability']:.2f}"
            )
        case "augment":
            written = sum(bool(one["expanded"] or one["questions"]) for one in detail["variants"])
            counts = {"accepted": written, "rejected": len(decision.members) - written}
            parts = (f"{count:,} {what}" for what, count in counts.items() if count)
            return f"Document variants: {', '.join(parts)}"
        case "canonical":
            ids = dict(zip(decision.members, decision.ids, strict=False))
            chosen = str(detail.get("canonical", ""))
            kind = _KINDS.get(str(detail.get("kind", "")), "")
            return f"Canonical chosen, {safe_text.untrusted(ids.get(chosen, chosen))}{kind}"
        case action:
            return ACTIONS[action].done


def by_whom(decision: Decision) -> str:
    """Who decided, and when; safe in markdown."""
    return safe_text.untrusted(f"{decision.reviewer}, {safe_text.clock(decision.at)}")


def _line(snapshot: Snapshot, decision: Decision, undone: Decision | None, parameter: str) -> None:
    names = safe_text.untrusted(" | ".join(", ".join(part) for part in decision.parts))
    text = f"{in_words(decision)}{': ' if names else ''}{names}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if undone is None:
            decision_buttons.undo_one(snapshot, decision, "recent_undo", decision, parameter)
            st.markdown(text, width="stretch")
            st.caption(by_whom(decision), width="content")
        else:
            st.markdown(f":gray[~~{text}~~]", width="stretch")
            whom = by_whom(decision)
            st.caption(f"{whom}; undone by {by_whom(undone)}", width="content")

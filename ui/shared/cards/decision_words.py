"""What was decided and by whom, in words that are safe in markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolscope_core.decisions.actions import ACTIONS
from toolscope_core.model.decision import Action, Decision
from ui.shared import safe_text


def in_words(decision: Decision) -> str:
    """What was decided, safe in markdown; for a canonical which tool was chosen."""
    words = _WORDS.get(decision.action)
    return words(decision) if words else ACTIONS[decision.action].done


def by_whom(decision: Decision) -> str:
    """Who decided, and when; safe in markdown."""
    return safe_text.untrusted(f"{decision.reviewer}, {safe_text.clock(decision.at)}")


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


_KINDS = {"prune": "; the others switched off", "router": "; all stay reachable"}


def _note(decision: Decision) -> str:
    return f"Note on a decision ({safe_text.untrusted(str(decision.detail['note']))})"


_WORDS: Mapping[Action, Callable[[Decision], str]] = {
    "omit": _omit,
    "owner": _owner,
    "threshold": _threshold,
    "augment": _augment,
    "flag": _flag,
    "canonical": _canonical,
    "note": _note,
}

"""A decision as a line of a ``decisions.jsonl``, and back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolscope_core.decisions.forms import ACTIONS, texts
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Tool


def decision_of_row(catalog: Catalog, row: Mapping[str, Any]) -> Decision:
    """One line of a ``decisions.jsonl`` as a decision, ready for ``admit``; keeps its ``seq``.

    ``members`` may be missing where ``ids`` name tools of ``catalog``, and the other way round;
    ``detail`` may name tools by id or by fingerprint. Raises ``DecisionError``.
    """
    action = next((one for one in ACTIONS if one == row.get("action")), None)
    if action is None:
        raise DecisionError(f"action is {row.get('action')!r}; give one of {', '.join(ACTIONS)}")
    detail = row.get("detail") or {}
    if not isinstance(detail, dict):
        raise DecisionError(f"detail is {detail!r}; give an object")
    seq = row.get("seq") or 0
    if not isinstance(seq, int):
        raise DecisionError(f"seq is {seq!r}; give a whole number, or leave it out")
    at = str(row.get("at") or "")
    if not (at.isascii() and at.isprintable()):
        raise DecisionError(f"at is {at[:40]!r}; give a time such as 2026-01-02T10:00:00+00:00")
    ids = texts(row.get("ids") or (), "ids")
    members = texts(row.get("members") or (), "members")
    if not members:
        members = tuple(_tool_with(catalog.by_id, "tool id", i).fingerprint for i in ids)
    if not ids:
        owner = {tool.fingerprint: tool for tool in reversed(catalog.tools)}
        ids = tuple(_tool_with(owner, "fingerprint", member).id for member in members)
    return Decision(
        action=action,
        members=members,
        ids=ids,
        reviewer=str(row.get("reviewer") or ""),
        at=at,
        seq=seq,
        detail=_by_fingerprint(detail, dict(zip(ids, members, strict=False))),
    )


def decision_row(decision: Decision) -> dict[str, Any]:
    """The line of a ``decisions.jsonl``, as JSON values; the inverse of ``decision_of_row``."""
    return {
        "seq": decision.seq,
        "at": decision.at,
        "reviewer": decision.reviewer,
        "action": decision.action,
        "members": list(decision.members),
        "ids": list(decision.ids),
        "detail": dict(decision.detail),
    }


def under_new_ids(decision: Decision, renamed: Mapping[str, str]) -> Decision:
    """The decision with the ids that its tools have since they were ``renamed``. The fingerprints
    stay, so that such a tool counts as one that has changed.
    """
    ids = tuple(renamed.get(one, one) for one in decision.ids)
    is_same = ids == decision.ids or len(set(ids)) < len(ids)
    return decision if is_same else replace(decision, ids=ids)


def _tool_with(tools: Mapping[str, Tool], what: str, key: str) -> Tool:
    if key not in tools:
        raise DecisionError(f"the catalog has no tool with the {what} {key!r}; check the decision")
    return tools[key]


def _by_fingerprint(detail: Mapping[str, Any], named: Mapping[str, str]) -> dict[str, Any]:
    """``detail`` with the tool ids in it replaced by fingerprints."""

    def translate(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [translate(item) for item in value]
        is_id = isinstance(value, str) and value not in named.values()
        return named.get(value, value) if is_id else value

    places = ("groups", "drop", "canonical")
    maps = detail.get("maps")
    if isinstance(maps, dict):
        detail = {**detail, "maps": {named.get(one, one): given for one, given in maps.items()}}
    return {key: translate(value) if key in places else value for key, value in detail.items()}

"""What a decision looks like: its form, and its line in a ``decisions.jsonl``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, get_args

from toolscope_core.datamodel import Action, Catalog, Decision, Tool
from toolscope_core.errors import DecisionError

LINKING: tuple[Action, ...] = ("accept", "reject", "split", "drop")
"""The actions that say who stays together and who apart."""

JOINING: tuple[Action, ...] = ("accept", "split", "drop")
"""Those that put tools together; their detail says as what relation they were shown."""

SPOKEN: tuple[Action, ...] = (*LINKING, "propose")
"""The actions on two tools or more; *propose* only asks for a card to decide on."""

EDITABLE = ("name", "description", "schema", "renames")
"""The fields an edit may have."""


def check_form(decision: Decision) -> None:
    """Raises ``DecisionError`` unless the decision can be read on its own."""
    size = len(decision.members)
    least = 2 if decision.action in SPOKEN else 1
    if not decision.reviewer.strip():
        raise DecisionError("the decision has no reviewer; give a name")
    if len(decision.ids) != size or len(set(decision.ids)) != size:
        raise DecisionError(
            f"{size} members and the ids {listed(decision.ids)} do not match; give each member "
            "its own tool id"
        )
    if size < least:
        raise DecisionError(f"{decision.action} names {size} tools; give at least {least}")
    check = {"split": _check_split, "drop": _check_drop, "edit": _check_edit}
    if decision.action in check:
        check[decision.action](decision)
    elif (
        decision.action == "canonical" and decision.detail.get("canonical") not in decision.members
    ):
        raise DecisionError(
            f"canonical is {decision.detail.get('canonical')!r}, which is no member; choose one of "
            f"{listed(decision.ids)}"
        )


def resolve(catalog: Catalog, row: Mapping[str, Any]) -> Decision:
    """One line of a ``decisions.jsonl`` as a decision, ready for ``admit``; keeps its ``seq``.

    ``members`` may be missing where ``ids`` name tools of ``catalog``, and the other way round;
    ``detail`` may name tools by id or by fingerprint. Raises ``DecisionError``.
    """
    actions = get_args(Action)
    action = next((known for known in actions if known == row.get("action")), None)
    if action is None:
        raise DecisionError(f"action is {row.get('action')!r}; give one of {', '.join(actions)}")
    detail = row.get("detail") or {}
    if not isinstance(detail, dict):
        raise DecisionError(f"detail is {detail!r}; give an object")
    seq = row.get("seq") or 0
    if not isinstance(seq, int):
        raise DecisionError(f"seq is {seq!r}; give a whole number, or leave it out")
    ids = _texts(row.get("ids") or (), "ids")
    members = _texts(row.get("members") or (), "members")
    if not members:
        members = tuple(_known(catalog.by_id, "tool id", i).fingerprint for i in ids)
    if not ids:
        owner = {tool.fingerprint: tool for tool in reversed(catalog.tools)}
        ids = tuple(_known(owner, "fingerprint", member).id for member in members)
    return Decision(
        action=action,
        members=members,
        ids=ids,
        reviewer=str(row.get("reviewer") or ""),
        at=str(row.get("at") or ""),
        seq=seq,
        detail=_by_fingerprint(detail, dict(zip(ids, members, strict=False))),
    )


def decision_row(decision: Decision) -> dict[str, Any]:
    """The line of a ``decisions.jsonl``, as JSON values; the inverse of ``resolve``."""
    return {
        "seq": decision.seq,
        "at": decision.at,
        "reviewer": decision.reviewer,
        "action": decision.action,
        "members": list(decision.members),
        "ids": list(decision.ids),
        "detail": dict(decision.detail),
    }


def listed(ids: Sequence[str]) -> str:
    """Tool ids in a sentence: the first five."""
    shown = ", ".join(ids[:5]) or "nothing"
    return f"{shown} and {len(ids) - 5} more" if len(ids) > 5 else shown


def _check_split(decision: Decision) -> None:
    groups = decision.detail.get("groups")
    if not isinstance(groups, list | tuple):
        raise DecisionError(f"split has the groups {groups!r}; give a list of lists of members")
    parts = [_texts(group, "a group of the split") for group in groups]
    whole = Counter(chain.from_iterable(parts)) == Counter(decision.members)
    if not whole or len(parts) < 2 or not all(parts):
        raise DecisionError(
            f"the groups of the split do not divide {listed(decision.ids)}; put each member into "
            "exactly one of two or more groups"
        )


def _check_drop(decision: Decision) -> None:
    dropped = _texts(decision.detail.get("drop"), "drop")
    inside = Counter(dropped) <= Counter(decision.members)
    if not inside or not 0 < len(dropped) < len(decision.members):
        raise DecisionError(
            f"drop names {listed(dropped)}; give some, not all, of {listed(decision.ids)}"
        )


def _check_edit(decision: Decision) -> None:
    unknown = sorted(set(decision.detail) - set(EDITABLE))
    if unknown or not decision.detail:
        raise DecisionError(f"edit has the fields {unknown}; give some of {', '.join(EDITABLE)}")
    name = decision.detail.get("name", "name")
    if not isinstance(name, str) or not name.strip():
        raise DecisionError(f"the edited name is {name!r}; give a name that is not blank")
    description, schema = decision.detail.get("description", ""), decision.detail.get("schema", {})
    if not isinstance(description, str):
        raise DecisionError(
            f"the edited description of {listed(decision.ids)} is {description!r}; give a text"
        )
    renames = decision.detail.get("renames", {})
    if not isinstance(renames, dict) or not all(isinstance(new, str) for new in renames.values()):
        raise DecisionError(
            f"the renames of {listed(decision.ids)} are {renames!r}; give an object of old and new "
            "parameter names"
        )
    if not isinstance(schema, dict):
        raise DecisionError(
            f"the edited schema of {listed(decision.ids)} is {schema!r}; give a JSON object"
        )


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise DecisionError(f"{what} is {value!r}; give a list of texts")
    return tuple(value)


def _known(tools: Mapping[str, Tool], what: str, key: str) -> Tool:
    if key not in tools:
        raise DecisionError(f"the catalog has no tool with the {what} {key!r}; check the decision")
    return tools[key]


def _by_fingerprint(detail: Mapping[str, Any], named: Mapping[str, str]) -> dict[str, Any]:
    """``detail`` with the tool ids in it replaced by fingerprints."""

    def translate(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [translate(item) for item in value]
        known = isinstance(value, str) and value not in named.values()
        return named.get(value, value) if known else value

    places = ("groups", "drop", "canonical")
    return {key: translate(value) if key in places else value for key, value in detail.items()}

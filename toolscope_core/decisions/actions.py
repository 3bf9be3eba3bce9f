"""The actions of decisions, their form, and their line in a ``decisions.jsonl``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Tool


@dataclass(frozen=True, slots=True)
class ActionRule:
    """One row of the table of actions: ``done`` is its name in the history, ``addresses`` are the
    tools it names, ``implies`` is what it asks of every later merge, ``undo`` what takes it back.
    ``merge --decisions`` replays every one of them.
    """

    done: str
    addresses: str
    implies: str
    undo: str = "undo, as long as no later decision builds on it"


ACTIONS: Mapping[Action, ActionRule] = {
    "accept": ActionRule(
        "Accepted",
        "two tools or more",
        "They are one tool, of the relation that was shown, and keep the member that was.",
    ),
    "reject": ActionRule(
        "Never merge",
        "two tools or more",
        "No two of them are ever merged.",
    ),
    "recut": ActionRule(
        "Taken apart, nothing accepted",
        "two tools or more, in groups",
        "No two of different groups are merged; each group of two or more waits as a proposal.",
    ),
    "split": ActionRule(
        "Split, parts of two or more accepted",
        "two tools or more, in groups",
        "Each group of two or more is one tool; no two of different groups are merged. No button "
        "makes it any more.",
    ),
    "drop": ActionRule(
        "Kept out, the others accepted",
        "two tools or more, some of them dropped",
        "The others are one tool, with which the dropped are never merged. Keeps newcomers out of "
        "an accepted merge.",
    ),
    "propose": ActionRule(
        "Sent to review",
        "two tools or more",
        "They are on one card that waits for a person; no accept policy takes it.",
    ),
    "canonical": ActionRule(
        "Canonical chosen",
        "the members of a merge",
        "The one named gives the merged tool its id and name. It may choose the kind too: *prune* "
        "switches the others off although they may keep things of their own, *router* keeps all "
        "reachable.",
    ),
    "edit": ActionRule(
        "Document edited",
        "the members of a merge, or one tool",
        "Agents read this name, description or schema.",
    ),
    "omit": ActionRule(
        "Left out",
        "one tool or more",
        "They leave the toolset: `removed` in `relabel.json`, in no merge; the others of a merge "
        "stay together.",
    ),
    "owner": ActionRule(
        "Implied server changed",
        "one tool or more",
        "They count as tools of the server named, or of none; ids, names and fingerprints stay.",
    ),
    "augment": ActionRule(
        "Document variants reviewed",
        "one tool or more",
        "Searches read the variant of each beside its own text; where it is empty, none that is "
        "offered.",
    ),
    "flag": ActionRule(
        "Flagged",
        "one tool or more",
        "Nothing: it keeps a note for whoever looks at them next, and lists them.",
    ),
    "note": ActionRule(
        "Note on a decision",
        "another decision, and with it its tools",
        "Nothing: it keeps why that decision was made, for whoever reads the history.",
    ),
    "threshold": ActionRule(
        "Threshold applied",
        "the catalog",
        "Pairs of less similarity or probability are not proposed; the last one standing counts.",
    ),
    "undo": ActionRule(
        "Taken back",
        "another decision, by its number",
        "That decision holds no longer; its row stays.",
        "none: decide again",
    ),
}
"""The table of actions that a person can decide."""

LINKING: tuple[Action, ...] = ("accept", "reject", "recut", "split", "drop")
"""The actions that keep tools together or apart."""

JOINING: tuple[Action, ...] = ("accept", "split", "drop")
"""Those that put tools together."""

WITH_RELATION: tuple[Action, ...] = (*JOINING, "recut")
"""Those whose detail holds the relation of the cluster on the screen."""

ON_SEVERAL: tuple[Action, ...] = (*LINKING, "propose")
"""The actions on two tools or more; *propose* and *recut* leave a card to decide on."""

HOLDING: tuple[Action, ...] = ("propose",)
"""Those that keep what they propose for a person."""

ASKING: tuple[Action, ...] = (*HOLDING, "recut")
"""Those that ask for a proposal, whatever the judge says."""

BESIDE_MERGES: tuple[Action, ...] = ("augment", "flag", "note")
"""The actions that change no merge: what is decided on merges neither builds on them nor waits."""

_KEPT = "canonical"
"""In the detail of *canonical* which member is kept from now on, of *accept* which one was."""
LONGEST_OWNER = 200
LONGEST_NOTE = 1_000

EDITABLE = ("name", "description", "schema", "renames", "maps")
"""The fields an edit may have."""


def check_form(decision: Decision) -> None:
    """Raises ``DecisionError`` unless the decision can be read on its own."""
    size = len(decision.members)
    least = (
        2
        if decision.action in ON_SEVERAL
        else int(decision.action not in ("threshold", "note", "undo"))
    )
    if not decision.reviewer.strip():
        raise DecisionError("the decision has no reviewer; give a name")
    if len(decision.ids) != size or len(set(decision.ids)) != size:
        raise DecisionError(
            f"{size} members and the ids {id_list(decision.ids)} do not match; give each member "
            "its own tool id"
        )
    if size < least:
        raise DecisionError(f"{decision.action} names {size} tools; give at least {least}")
    check = {
        "canonical": _check_canonical,
        "split": _check_groups,
        "recut": _check_groups,
        "drop": _check_drop,
        "edit": _check_edit,
        "omit": _check_omit,
        "owner": _check_owner,
        "augment": _check_augment,
        "flag": _check_flag,
        "note": _check_note,
        "threshold": _check_threshold,
        "undo": _check_undo,
    }
    if decision.action in check:
        check[decision.action](decision)
    elif decision.action == "accept" and _KEPT in decision.detail:
        _check_canonical(decision)


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
    ids = _texts(row.get("ids") or (), "ids")
    members = _texts(row.get("members") or (), "members")
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


def id_list(ids: Sequence[str]) -> str:
    """The first five tool ids, as a part of a sentence."""
    shown = ", ".join(ids[:5]) or "nothing"
    return f"{shown} and {len(ids) - 5} more" if len(ids) > 5 else shown


def _check_canonical(decision: Decision) -> None:
    if decision.detail.get(_KEPT) not in decision.members:
        raise DecisionError(
            f"canonical is {decision.detail.get('canonical')!r}, which is no member; choose one of "
            f"{id_list(decision.ids)}"
        )
    if decision.detail.get("kind") not in (None, "prune", "router"):
        raise DecisionError(
            f"the kind of the merge of {id_list(decision.ids)} is {decision.detail['kind']!r}; "
            "give prune or router"
        )


def _check_groups(decision: Decision) -> None:
    groups, action = decision.detail.get("groups"), decision.action
    if not isinstance(groups, list | tuple):
        raise DecisionError(f"{action} has the groups {groups!r}; give a list of lists of members")
    parts = [_texts(group, f"a group of the {action}") for group in groups]
    whole = Counter(chain.from_iterable(parts)) == Counter(decision.members)
    if not whole or len(parts) < 2 or not all(parts):
        raise DecisionError(
            f"the groups of the {action} do not divide {id_list(decision.ids)}; put each member "
            "into exactly one of two or more groups"
        )


def _check_drop(decision: Decision) -> None:
    dropped = _texts(decision.detail.get("drop"), "drop")
    inside = Counter(dropped) <= Counter(decision.members)
    if not inside or not 0 < len(dropped) < len(decision.members):
        raise DecisionError(
            f"drop names {id_list(dropped)}; give some, not all, of {id_list(decision.ids)}"
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
            f"the edited description of {id_list(decision.ids)} is {description!r}; give a text"
        )
    renames = decision.detail.get("renames", {})
    if not isinstance(renames, dict) or not all(isinstance(new, str) for new in renames.values()):
        raise DecisionError(
            f"the renames of {id_list(decision.ids)} are {renames!r}; give an object of old and "
            "new parameter names"
        )
    _check_maps(decision)
    if not isinstance(schema, dict):
        raise DecisionError(
            f"the edited schema of {id_list(decision.ids)} is {schema!r}; give a JSON object"
        )


def _check_maps(decision: Decision) -> None:
    maps = decision.detail.get("maps", {})
    sound = isinstance(maps, dict) and all(
        member in decision.members and _is_map(given) for member, given in maps.items()
    )
    if not sound:
        raise DecisionError(
            f"the argument maps of {id_list(decision.ids)} are {str(maps)[:80]!r}; give for each "
            "member an object of moves, constants and dropped"
        )


def _is_map(given: object) -> bool:
    """Whether this is what ``merging.given_maps`` reads."""
    if not isinstance(given, dict) or not set(given) <= {"moves", "constants", "dropped"}:
        return False
    if not all(isinstance(part, dict) for part in given.values()):
        return False
    return all(
        isinstance(why, str) and why.strip() for why in given.get("dropped", {}).values()
    ) and all(
        isinstance(move, dict)
        and isinstance(move.get("to"), str)
        and isinstance(move.get("values", []), list)
        and all(isinstance(two, list) and len(two) == 2 for two in move.get("values", []))
        for move in given.get("moves", {}).values()
    )


def _check_omit(decision: Decision) -> None:
    reason = decision.detail.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        raise DecisionError(
            f"{id_list(decision.ids)} cannot be left out for the reason {reason!r}; say why, in a "
            "few words"
        )


def _check_owner(decision: Decision) -> None:
    owner = decision.detail.get("owner")
    if not isinstance(owner, str) or len(owner) > LONGEST_OWNER:
        raise DecisionError(
            f"the implied server of {id_list(decision.ids)} is {str(owner)[:80]!r}; give a name of "
            f"up to {LONGEST_OWNER} characters, or an empty text for none"
        )


def _check_augment(decision: Decision) -> None:
    variants = decision.detail.get("variants")
    if not isinstance(variants, list | tuple) or len(variants) != len(decision.members):
        raise DecisionError(
            f"the variants of {id_list(decision.ids)} are {str(variants)[:80]!r}; give a list with "
            "one for each tool, in their order"
        )
    for tool_id, variant in zip(decision.ids, variants, strict=True):
        if not isinstance(variant, dict) or not isinstance(variant.get("expanded"), str):
            raise DecisionError(
                f"the variant of {tool_id} is {str(variant)[:80]!r}; give `expanded`, a text, and "
                "`questions`"
            )
        _texts(variant.get("questions"), f"questions of the variant of {tool_id}")


def _check_flag(decision: Decision) -> None:
    note = decision.detail.get("note")
    if not isinstance(note, str) or not note.strip() or len(note) > LONGEST_NOTE:
        raise DecisionError(
            f"the note on {id_list(decision.ids)} is {str(note)[:80]!r}; write one of up to "
            f"{LONGEST_NOTE:,} characters"
        )


def _check_note(decision: Decision) -> None:
    _check_flag(decision)
    about = decision.detail.get("about")
    if not isinstance(about, str) or not about:
        raise DecisionError(
            f"the note is about {about!r}; give the key of a decision as detail.about"
        )


def _check_threshold(decision: Decision) -> None:
    for name in ("similarity", "probability"):
        value = decision.detail.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise DecisionError(f"the {name} of the threshold is {value!r}; give 0 to 1")
    if decision.members:
        raise DecisionError(
            f"a threshold is the catalog's, and this one names {id_list(decision.ids)}; leave "
            "members and ids empty"
        )


def _check_undo(decision: Decision) -> None:
    seq = decision.detail.get("retracts")
    if not isinstance(seq, int):
        raise DecisionError(
            f"the undo takes back {seq!r}; give the seq of a decision as detail.retracts"
        )


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise DecisionError(f"{what} is {value!r}; give a list of texts")
    return tuple(value)


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

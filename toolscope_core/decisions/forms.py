"""Whether a decision can be read on its own: the form of each action."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from toolscope_core.decisions.actions import (
    BY_SEARCH,
    IN_EVERY_PROMPT,
    ON_SEVERAL,
    ONE_ACCOUNT,
    OWN_ACCOUNTS,
)
from toolscope_core.decisions.profile_decisions import check_name, profile_of
from toolscope_core.model.cluster import Document
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.numbers import listed

LONGEST_OWNER = 200

LONGEST_NOTE = 1_000

EDITABLE = ("name", "description", "schema", "renames", "maps")
"""The fields an edit may have."""

_ON_NO_TOOL = ("profile", "threshold", "note", "undo")

_KEPT = "canonical"
"""In the detail of *canonical* which member is kept from now on, of *accept* which one was."""


def check_form(decision: Decision) -> None:
    """Raises ``DecisionError`` unless the decision can be read on its own."""
    size = len(decision.members)
    least = 2 if decision.action in ON_SEVERAL else int(decision.action not in _ON_NO_TOOL)
    if not decision.reviewer.strip():
        raise DecisionError("the decision has no reviewer; give a name")
    if len(decision.ids) != size or len(set(decision.ids)) != size:
        raise DecisionError(
            f"{size} members and the ids {id_list(decision.ids)} do not match; give each member "
            "its own tool id"
        )
    if size < least:
        raise DecisionError(f"{decision.action} names {size} tools; give at least {least}")
    if decision.action in _CHECKS:
        _CHECKS[decision.action](decision)
    elif decision.action == "accept" and _KEPT in decision.detail:
        _check_canonical(decision)


def id_list(ids: Sequence[str]) -> str:
    """The first five tool ids, as a part of a sentence."""
    return listed(ids, 5) or "nothing"


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
    parts = [texts(group, f"a group of the {action}") for group in groups]
    whole = Counter(chain.from_iterable(parts)) == Counter(decision.members)
    if not whole or len(parts) < 2 or not all(parts):
        raise DecisionError(
            f"the groups of the {action} do not divide {id_list(decision.ids)}; put each member "
            "into exactly one of two or more groups"
        )


def _check_drop(decision: Decision) -> None:
    dropped = texts(decision.detail.get("drop"), "drop")
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


def _check_account(decision: Decision) -> None:
    answers, answer = (ONE_ACCOUNT, OWN_ACCOUNTS), decision.detail.get("account")
    if answer not in answers:
        raise DecisionError(
            f"the account of the servers of {id_list(decision.ids[:2])} is {str(answer)[:80]!r}; "
            f"give one of {answers} as detail.account"
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
        texts(variant.get("questions"), f"questions of the variant of {tool_id}")


def _check_load(decision: Decision) -> None:
    ways, way = (IN_EVERY_PROMPT, BY_SEARCH), decision.detail.get("loading")
    if way not in ways:
        raise DecisionError(
            f"the loading of {id_list(decision.ids)} is {str(way)[:80]!r}; give one of {ways} as "
            "detail.loading"
        )


def _check_namespace(decision: Decision) -> None:
    description = decision.detail.get("description")
    if not isinstance(description, str) or len(description) > LONGEST_NOTE:
        raise DecisionError(
            f"the description of the namespace of {id_list(decision.ids)} is "
            f"{str(description)[:80]!r}; give a text of up to {LONGEST_NOTE:,} characters"
        )


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


def _check_profile(decision: Decision) -> None:
    if decision.detail.get("deleted") is True:
        check_name(decision.detail.get("profile"))
    else:
        profile_of(decision)


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


def texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise DecisionError(f"{what} is {value!r}; give a list of texts")
    return tuple(value)


_CHECKS: Mapping[Action, Callable[[Decision], None]] = {
    "canonical": _check_canonical,
    "split": _check_groups,
    "recut": _check_groups,
    "drop": _check_drop,
    "edit": _check_edit,
    "omit": _check_omit,
    "owner": _check_owner,
    "account": _check_account,
    "augment": _check_augment,
    "load": _check_load,
    "namespace": _check_namespace,
    "flag": _check_flag,
    "note": _check_note,
    "profile": _check_profile,
    "threshold": _check_threshold,
    "undo": _check_undo,
}
"""What each action asks of its detail."""


NAME_RULE = r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"
"""Names that MCP and most clients take: 1 to 64 characters (the specifications allow 128)."""


def document_problems(
    document: Document, before: Document, outside: frozenset[str]
) -> tuple[str, ...]:
    """Sentences on what is wrong; empty if nothing is.

    ``before`` is the document as it was: a name it already had is not held against it.
    ``outside`` are the names of the tools outside the cluster.
    """
    problems = []
    if document.name != before.name:
        if not re.fullmatch(NAME_RULE, document.name):
            problems.append(
                f"the name is {document.name!r}; use 1 to 64 letters, digits, _ . - "
                "and begin with a letter or _"
            )
        if document.name in outside:
            problems.append(f"the name `{document.name}` belongs to another tool; choose another")
    if not document.description.strip():
        problems.append("the description is empty; say in a sentence what the tool does")
    if document.schema is not None:
        problems += _schema_problems(dict(document.schema))
    return tuple(problems)


def _schema_problems(schema: dict[str, Any]) -> list[str]:
    from jsonschema import Draft202012Validator, SchemaError

    if schema.get("type") != "object":
        return ["the parameters are no JSON Schema of an object; keep `type: object` at the top"]
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        place = "/".join(str(part) for part in error.absolute_path) or "the top"
        return [f"the parameters are no valid JSON Schema: at {place}, {error.message}"]
    properties, required = schema.get("properties") or {}, schema.get("required") or ()
    odd = [name for name, sub in properties.items() if not isinstance(sub, dict)]
    if odd:
        return [f"`{odd[0]}` is declared as {properties[odd[0]]!r}; give it a JSON Schema object"]
    missing = [name for name in required if name not in properties]
    return [f"`{name}` is required but not declared; declare it or drop it" for name in missing]

"""The forms of decisions: their effect on later merges, their detail, and their text in the
history.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from toolscope_core.decisions.profile_decisions import check_name, profile_of
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.numbers import listed, quantity

LONGEST_OWNER = 200

LONGEST_NOTE = 1_000

ONE_ACCOUNT, OWN_ACCOUNTS = "one account", "each its own"
"""People's answers to the question whether two servers work on the same account."""

IN_EVERY_PROMPT, BY_SEARCH = "in every prompt", "by search"
"""How a client that searches for tools loads a tool."""


@dataclass(frozen=True, slots=True)
class DetailPart:
    """One part of a decision's detail.

    It has a ``key``, a test of the value's form, and the ``form`` in words, written to follow
    *give*. An ``optional`` part may be missing. ``in_words`` is the history's text for a value;
    empty for no text.
    """

    key: str
    is_valid: Callable[[Any, Decision], bool]
    form: str
    optional: bool = False
    in_words: Callable[[Any, Decision], str] = lambda value, decision: ""


@dataclass(frozen=True, slots=True)
class DecisionForm:
    """The form of one action.

    ``label`` is the name of the action in the history. ``addresses`` says which tools a decision
    names, from ``least_tools`` to ``most`` of them. ``implies`` is the effect on later merges, and
    ``undo`` says what reverses it. ``merge --decisions`` replays every form. The detail may have
    other parts too, such as the batch, unless the form ``is_closed``. A form that is
    ``beside_merges`` neither joins nor separates tools, so decisions on merges do not depend on it.
    """

    label: str
    addresses: str
    implies: str
    detail: tuple[DetailPart, ...] = ()
    least_tools: int = 1
    most: int | None = None
    is_closed: bool = False
    beside_merges: bool = False
    undo: str = "undo, as long as no later decision builds on it"


def check_form(decision: Decision) -> None:
    """Raises ``DecisionError`` unless the decision is well-formed on its own."""
    action, size, form = decision.action, len(decision.fingerprints), ACTIONS[decision.action]
    if not decision.reviewer.strip():
        raise DecisionError("the decision has no reviewer; add a name")
    if len(decision.ids) != size or len(set(decision.ids)) != size:
        raise DecisionError(
            f"the decision has {quantity(size, 'fingerprint')} but the ids "
            f"{id_list(decision.ids)}; give each fingerprint a different tool id"
        )
    if size < form.least_tools:
        raise DecisionError(
            f"{action} names only {quantity(size, 'tool')}; use at least {form.least_tools}"
        )
    if form.most is not None and size > form.most:
        raise DecisionError(
            f"{action} takes no tools, but names {id_list(decision.ids)}; leave both lists empty"
        )
    parts = [part.key for part in form.detail]
    if form.is_closed and not set() < set(decision.detail) <= set(parts):
        unknown = sorted(set(decision.detail).difference(parts))
        raise DecisionError(f"{action} has unknown fields {unknown}; use only {', '.join(parts)}")
    for part in form.detail:
        value = decision.detail.get(part.key)
        is_left_out = part.optional and part.key not in decision.detail
        if not (is_left_out or part.is_valid(value, decision)):
            tools = f" on {id_list(decision.ids)}" if decision.ids else ""
            raise DecisionError(
                f"`{part.key}` is {repr(value)[:80]} in this {action} decision{tools}; "
                f"use {part.form}"
            )


def in_words(decision: Decision) -> str:
    """The decision in words, with the details that distinguish it: *Left out (nobody calls it)*."""
    form = ACTIONS[decision.action]
    values = ((part, decision.detail.get(part.key)) for part in form.detail)
    details = [words for part, value in values if (words := part.in_words(value, decision))]
    return f"{form.label} ({', '.join(details)})" if details else form.label


def id_list(ids: Sequence[str]) -> str:
    """The first five tool ids, for use in a sentence."""
    return listed(ids, 5) or "nothing"


def texts(value: Any, what: str) -> tuple[str, ...]:
    if not _are_texts(value):
        raise DecisionError(f"`{what}` is {value!r}; use a list of strings")
    return tuple(value)


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _text(
    key: str, form: str, longest: int | None = None, required: bool = True, empty: str = ""
) -> DetailPart:
    """A part for a text, which the history quotes.

    If the text is empty, the history shows ``empty``. A ``required`` text may not be blank.
    """

    def is_valid(value: object, decision: Decision) -> bool:
        is_text = isinstance(value, str) and (longest is None or len(value) <= longest)
        return is_text and (not required or bool(str(value).strip()))

    return DetailPart(key, is_valid, form, in_words=lambda value, decision: value or empty)


def _choice(key: str, answers: Sequence[str]) -> DetailPart:
    form = " or ".join(map(repr, answers))
    return DetailPart(key, lambda value, _: value in answers, form, in_words=lambda value, _: value)


def _share(key: str) -> DetailPart:
    def is_valid(value: Any, decision: Decision) -> bool:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and 0 <= value <= 1

    return DetailPart(key, is_valid, "0 to 1", in_words=lambda value, _: f"{key} {value:.2f}")


def _count(key: str) -> DetailPart:
    return DetailPart(key, lambda value, _: type(value) is int and value >= 0, "a whole number")


def _member_in_words(member: str, decision: Decision) -> str:
    return dict(zip(decision.fingerprints, decision.ids, strict=False)).get(member, member)


def _divides(groups: object, decision: Decision) -> bool:
    if not isinstance(groups, list | tuple) or not all(map(_are_texts, groups)):
        return False
    is_partition = Counter(chain.from_iterable(groups)) == Counter(decision.fingerprints)
    return is_partition and len(groups) > 1 and all(groups)


def _is_a_part(dropped: Any, decision: Decision) -> bool:
    is_subset = _are_texts(dropped) and Counter(dropped) <= Counter(decision.fingerprints)
    return is_subset and 0 < len(dropped) < len(decision.fingerprints)


def _are_renames(renames: object, decision: Decision) -> bool:
    return isinstance(renames, dict) and all(isinstance(new, str) for new in renames.values())


def _are_maps(maps: object, decision: Decision) -> bool:
    return isinstance(maps, dict) and all(
        member in decision.fingerprints and _is_map(value) for member, value in maps.items()
    )


def _is_map(value: object) -> bool:
    """Whether ``merging.edited_maps`` can read this value."""
    if not isinstance(value, dict) or not set(value) <= {"moves", "constants", "dropped"}:
        return False
    if not all(isinstance(part, dict) for part in value.values()):
        return False
    return all(
        isinstance(why, str) and why.strip() for why in value.get("dropped", {}).values()
    ) and all(
        isinstance(move, dict)
        and isinstance(move.get("to"), str)
        and isinstance(move.get("values", []), list)
        and all(isinstance(two, list) and len(two) == 2 for two in move.get("values", []))
        for move in value.get("moves", {}).values()
    )


def _are_variants(variants: object, decision: Decision) -> bool:
    return (
        isinstance(variants, list | tuple)
        and len(variants) == len(decision.fingerprints)
        and all(
            isinstance(one, dict)
            and isinstance(one.get("expanded"), str)
            and _are_texts(one.get("questions"))
            for one in variants
        )
    )


def _variants_in_words(variants: Sequence[Mapping[str, Any]], decision: Decision) -> str:
    accepted = sum(bool(one["expanded"] or one["questions"]) for one in variants)
    counts = {"accepted": accepted, "rejected": len(variants) - accepted}
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)


def _is_profile(name: object, decision: Decision) -> bool:
    """True for a valid profile; otherwise a ``DecisionError`` that names the invalid part is
    raised.
    """
    if decision.detail.get("deleted") is True:
        check_name(name)
    else:
        profile_of(decision)
    return True


_KEPT = DetailPart("canonical", lambda value, one: value in one.fingerprints, "one of its tools")
_KIND = DetailPart(
    "kind",
    lambda value, _: value in (None, "drop_in", "gateway"),
    "'drop_in' or 'gateway'",
    optional=True,
)
_GROUPS = DetailPart(
    "groups", _divides, "two or more lists of members that together contain each member once"
)
_NOTE = _text("note", f"one of up to {LONGEST_NOTE:,} characters", LONGEST_NOTE)
_KINDS = {"drop_in": "the others switched off", "gateway": "all stay reachable"}

ACTIONS: Mapping[Action, DecisionForm] = {
    "accept": DecisionForm(
        "Accepted",
        "two tools or more",
        "They become one tool, with the relation that was shown, and keep the chosen member.",
        detail=(replace(_KEPT, optional=True), _KIND),
        least_tools=2,
    ),
    "keep_apart": DecisionForm(
        "Kept apart", "two tools or more", "No two of them are ever merged.", least_tools=2
    ),
    "recut": DecisionForm(
        "Taken apart, nothing accepted",
        "two tools or more, in groups",
        "Tools of different groups are never merged; each group of two or more becomes a proposal.",
        detail=(_GROUPS,),
        least_tools=2,
    ),
    "split": DecisionForm(
        "Split, parts of two or more accepted",
        "two tools or more, in groups",
        "Each group of two or more becomes one tool; tools of different groups are never "
        "merged. The app no longer offers this.",
        detail=(_GROUPS,),
        least_tools=2,
    ),
    "drop": DecisionForm(
        "Kept out, the others accepted",
        "two tools or more, some of them dropped",
        "The others become one tool and are never merged with the dropped ones. This keeps "
        "newcomers out of an accepted merge.",
        detail=(DetailPart("drop", _is_a_part, "some, not all, of its tools"),),
        least_tools=2,
    ),
    "propose": DecisionForm(
        "Sent to review",
        "two tools or more",
        "They go on one card that waits for you; no accept policy takes it.",
        least_tools=2,
    ),
    "canonical": DecisionForm(
        "Canonical chosen",
        "the members of a merge",
        "The chosen tool gives the merged tool its id and name. A reviewer may also choose the "
        "kind: *drop-in* switches the others off even if they have data of their own; *gateway* "
        "keeps all reachable.",
        detail=(
            replace(_KEPT, in_words=_member_in_words),
            replace(_KIND, in_words=lambda kind, _: _KINDS.get(kind, "")),
        ),
    ),
    "edit": DecisionForm(
        "Document edited",
        "the members of a merge, or one tool",
        "Agents read this name, description or schema.",
        detail=(
            DetailPart(
                "name",
                lambda name, _: isinstance(name, str) and bool(name.strip()),
                "a name that is not blank",
                optional=True,
            ),
            DetailPart("description", lambda x, _: isinstance(x, str), "a string", optional=True),
            DetailPart("schema", lambda x, _: isinstance(x, dict), "a JSON object", optional=True),
            DetailPart(
                "renames", _are_renames, "an object of old and new parameter names", optional=True
            ),
            DetailPart(
                "maps",
                _are_maps,
                "for each member an object of moves, constants and dropped",
                optional=True,
            ),
        ),
        is_closed=True,
    ),
    "omit": DecisionForm(
        "Left out",
        "one tool or more",
        "They leave the toolset (`removed` in `relabel.json`) and are in no merge; the other "
        "members of a merge stay together.",
        detail=(_text("reason", "one in a few words"),),
    ),
    "owner": DecisionForm(
        "Implied server changed",
        "one tool or more",
        "They count as tools of the named server, or of none; ids, names and fingerprints do "
        "not change.",
        detail=(
            _text(
                "owner",
                f"a name of up to {LONGEST_OWNER} characters, or an empty text for none",
                LONGEST_OWNER,
                required=False,
                empty="none",
            ),
        ),
    ),
    "account": DecisionForm(
        "Account of two servers",
        "the tools of two servers",
        "The two servers use one account or backend, or each its own. Accordingly, merges "
        "between them switch tools off or keep all reachable, unless the kind of a merge was "
        "chosen.",
        detail=(_choice("account", (ONE_ACCOUNT, OWN_ACCOUNTS)),),
        beside_merges=True,
    ),
    "compare": DecisionForm(
        "Calls compared",
        "two tools",
        "If the two did not answer the same calls alike, no merge of them is accepted without a "
        "person. It counts until one of them changes or their calls are compared again.",
        detail=(
            DetailPart(
                "verdict",
                lambda text, one: isinstance(text, str) and len(one.ids) == 2,
                "one in words, on two tools",
                in_words=lambda text, _: text,
            ),
            _count("calls"),
            _count("differing"),
            DetailPart(
                "versions",
                lambda two, _: _are_texts(two) and isinstance(two, list) and len(two) == 2,
                "a list of the two servers' versions",
                optional=True,
            ),
        ),
        beside_merges=True,
    ),
    "augment": DecisionForm(
        "Document variants reviewed",
        "one tool or more",
        "Searches read each tool's variant together with its own text. An empty variant means "
        "that none is used.",
        detail=(
            DetailPart(
                "variants",
                _are_variants,
                "a list with one for each tool, in their order: an object of `expanded`, a "
                "string, and `questions`, a list of strings",
                in_words=_variants_in_words,
            ),
        ),
        beside_merges=True,
    ),
    "load": DecisionForm(
        "Loading chosen",
        "one tool or more",
        "In clients that search for tools, these are either in every prompt or appear only "
        "when a search returns them.",
        detail=(_choice("loading", (IN_EVERY_PROMPT, BY_SEARCH)),),
        beside_merges=True,
    ),
    "namespace": DecisionForm(
        "Namespace described",
        "the tools of a server",
        "A model that searches by namespace reads this text about the server. Where it is "
        "empty, it reads the server's own text, or else the names of its tools.",
        detail=(
            _text(
                "description",
                f"a string of up to {LONGEST_NOTE:,} characters",
                LONGEST_NOTE,
                required=False,
            ),
        ),
        beside_merges=True,
    ),
    "flag": DecisionForm(
        "Flagged",
        "one tool or more",
        "Nothing changes: the note is kept for the next reviewer, and its tools are listed.",
        detail=(_NOTE,),
        beside_merges=True,
    ),
    "note": DecisionForm(
        "Note on a decision",
        "another decision, and with it its tools",
        "Nothing changes: the reason for that decision is kept for readers of the history.",
        detail=(
            _NOTE,
            DetailPart(
                "about",
                lambda key, _: isinstance(key, str) and bool(key),
                "the key of a decision as detail.about",
            ),
        ),
        least_tools=0,
        beside_merges=True,
    ),
    "profile": DecisionForm(
        "Profile changed",
        "its tools after this decision, and those kept out by hand",
        "Agents with this profile get these tools, and those that match its rules. The "
        "latest decision on a name counts; one that says *deleted* ends it.",
        detail=(
            DetailPart(
                "profile", _is_profile, "the name of a profile", in_words=lambda name, _: name
            ),
            DetailPart(
                "deleted",
                lambda value, _: True,
                "true",
                in_words=lambda value, _: "deleted" if value is True else "",
            ),
        ),
        least_tools=0,
        beside_merges=True,
    ),
    "threshold": DecisionForm(
        "Threshold applied",
        "the catalog",
        "Pairs below this similarity or probability are not proposed; the latest one counts.",
        detail=(_share("similarity"), _share("same_job")),
        least_tools=0,
        most=0,
    ),
    "undo": DecisionForm(
        "Undone",
        "another decision, by its number",
        "That decision no longer applies; its row stays.",
        (
            DetailPart(
                "retracts",
                lambda seq, _: isinstance(seq, int),
                "the seq of a decision as detail.retracts",
            ),
        ),
        least_tools=0,
        undo="none: decide again",
    ),
}
"""All actions that a person can decide, each with its form."""

LINKING: tuple[Action, ...] = ("accept", "keep_apart", "recut", "split", "drop")
"""The actions that keep tools together or apart."""

JOINING: tuple[Action, ...] = ("accept", "split", "drop")
"""The actions that join tools."""

WITH_RELATION: tuple[Action, ...] = (*JOINING, "recut")
"""The actions whose detail has the relation of the shown cluster."""

ON_SEVERAL = tuple(action for action, form in ACTIONS.items() if form.least_tools > 1)
"""The actions on two or more tools. After *propose* and *recut*, a card is still to be decided."""

HOLDING: tuple[Action, ...] = ("propose",)
"""The actions that reserve a proposal for a person."""

ASKING_ACTIONS: tuple[Action, ...] = (*HOLDING, "recut")
"""The actions that ask for a proposal, whatever the judge says."""

BESIDE_MERGES = tuple(action for action, form in ACTIONS.items() if form.beside_merges)
"""The actions that neither join nor separate tools."""

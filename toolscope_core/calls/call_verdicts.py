"""What the same calls of two tools showed: a verdict with its number of calls, and its rows."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import shorten
from typing import Any

from toolscope_core.calls.result_columns import CallAnswer
from toolscope_core.calls.result_comparison import (
    LEFT_OUT,
    DifferenceKind,
    ResultDifference,
    pattern_in_words,
    result_differences,
    result_names,
    varying_paths,
)
from toolscope_core.mcp.servers.masked_words import shown_text
from toolscope_core.model.numbers import listed
from toolscope_core.model.tool import JsonObject, Tool, canonical_json, with_texts

_LONGEST = 120
_LEAST_CONSTANT = 2


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """One call of a tool as another tool gets it through α, and both answers.

    ``again`` are the answers to the same call sent a second time, if it was. With ``is_guess`` an
    argument has a value that nothing says the tools take. ``differences`` are those of the results.
    """

    arguments: JsonObject
    mapped: JsonObject
    answers: tuple[CallAnswer, CallAnswer]
    again: tuple[CallAnswer, CallAnswer] | None = None
    is_guess: bool = False
    differences: tuple[ResultDifference, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Whether both gave a result."""
        return not any(one.refusal for one in self.answers)

    @property
    def refusing(self) -> int | None:
        """Which of the two alone refused, 0 or 1; ``None`` if neither or both did, or for a
        guess.
        """
        refused = [bool(one.refusal) for one in self.answers]
        return None if self.is_guess or refused[0] == refused[1] else refused.index(True)

    @property
    def counting(self) -> tuple[ResultDifference, ...]:
        """The differences that count."""
        return tuple(one for one in self.differences if one.kind not in LEFT_OUT)

    @property
    def tells(self) -> bool:
        """Whether one of the two refused, or both gave a value that does not change by itself."""
        changing = {one.path for one in self.differences if one.kind == "varies"}
        is_stable = self.is_answered and not changing.issuperset(self.answers[0].columns)
        return is_stable or self.refusing is not None


@dataclass(frozen=True, slots=True)
class CallComparison:
    """What calls to two tools showed.

    ``tools`` are the one whose calls were sent and the one that would take them over; ``versions``
    are those of their servers, empty if unknown. ``names`` are the paths in the first tool's
    results that have another name in the second's. ``stopped`` says why no more calls were sent.
    """

    tools: tuple[Tool, Tool]
    calls: tuple[AnsweredCall, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    versions: tuple[str, str] = ("", "")
    stopped: str = ""

    @property
    def size(self) -> int:
        """The number of calls that tell something."""
        return sum(one.tells for one in self.calls)

    @property
    def differing(self) -> int:
        """The number of calls that the two did not answer alike."""
        return sum(one.refusing is not None or bool(one.counting) for one in self.calls)

    @property
    def left_out(self) -> dict[str, DifferenceKind]:
        """The paths that differ and do not count, each with its kind."""
        every = {one.path: one.kind for call in self.calls for one in call.differences}
        return {path: kind for path, kind in sorted(every.items()) if kind in LEFT_OUT}

    @property
    def verdict(self) -> str:
        """The verdict in words: *same on 12 of 12*, *differs in 3 of 12: …*."""
        stop = [f"stopped: {self.stopped}"] if self.stopped else []
        return "; ".join((*self._findings(), *stop))

    def _findings(self) -> Iterator[str]:
        if not self.size:
            yield self._nothing()
            return
        yield from self._refusals()
        pairs: defaultdict[tuple[str, DifferenceKind], list[ResultDifference]] = defaultdict(list)
        for one in (one for call in self.calls for one in call.counting):
            pairs[one.path, one.kind].append(one)
        if pairs:
            count = sum(bool(call.counting) for call in self.calls)
            yield f"differs in {count} of {self.size}: {listed(_parts(pairs))}"
        elif not self.differing:
            but = ", ".join(f"`{path or 'text'}` ({kind})" for path, kind in self.left_out.items())
            yield f"same on {self.size} of {self.size}{f' but for {but}' if but else ''}"

    def _refusals(self) -> Iterator[str]:
        for side in (0, 1):
            if calls := [one for one in self.calls if one.refusing == side]:
                given = (calls[0].arguments, calls[0].mapped)[side]
                why = _short(calls[0].answers[side].refusal)
                yield (
                    f"one refuses what the other takes: {self.tools[side].id} refuses "
                    f"{len(calls)} of {self.size}, such as {_short(given)}: {why}"
                )

    def _nothing(self) -> str:
        """Why no call tells anything."""
        refusals = [one.refusal for call in self.calls for one in call.answers if one.refusal]
        if refusals:
            return f"nothing compared: refused, such as {_short(refusals[0])}"
        return f"nothing compared{': every value changes by itself' if self.calls else ''}"

    def as_json(self) -> dict[str, Any]:
        """The comparison as kept: texts are cut, and secrets in them are masked."""
        sides = ("path", "kind", "left", "right")
        rows = [
            {
                "arguments": call.arguments,
                "mapped": call.mapped,
                "refused": [_cut(one.refusal) for one in call.answers],
                "differences": [
                    {key: _cut(getattr(one, key)) for key in sides} for one in call.differences
                ],
            }
            for call in self.calls
        ]
        value = {
            "verdict": self.verdict,
            "calls": self.size,
            "differing": self.differing,
            "left_out": {kind: LEFT_OUT[kind] for kind in sorted(set(self.left_out.values()))},
            "names": dict(self.names),
            "versions": list(self.versions),
            "rows": rows,
        }
        return {**with_texts(value, shown_text)}


def comparison_of(tools: tuple[Tool, Tool], calls: Sequence[AnsweredCall]) -> CallComparison:
    """The comparison of the answers of two tools to several calls."""
    answered = [one for one in calls if one.is_answered]
    names = result_names([(a.columns, b.columns) for a, b in (one.answers for one in answered)])
    varying = [_varying(one, names) for one in calls]
    shared = {path for one in answered for path in one.answers[0].columns}
    constant = _changing_on_one_side(varying) & shared
    judged = list(calls)
    for place, (call, sides) in enumerate(zip(calls, varying, strict=True)):
        if call.is_answered:
            left, right = (one.columns for one in call.answers)
            own = result_differences(left, right, names, sides[0] | sides[1], call.arguments)
            own = [replace(one, kind="constant") if one.path in constant else one for one in own]
            judged[place] = replace(call, differences=tuple(own))
    return CallComparison(tools, tuple(judged), names)


def _varying(call: AnsweredCall, names: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """The paths that changed by themselves on each side, as the left side calls them."""
    if call.again is None or not call.is_answered:
        return set(), set()
    left, right = (
        varying_paths(first.columns, second.columns)
        for first, second in zip(call.answers, call.again, strict=True)
    )
    back = {theirs: own for own, theirs in names.items()}
    return left, {back.get(path, path) for path in right}


def _changing_on_one_side(varying: Sequence[tuple[set[str], set[str]]]) -> set[str]:
    """The paths that change in every repeated call on one side, and never on the other."""
    repeated = [sides for sides in varying if any(sides)]
    if len(repeated) < _LEAST_CONSTANT:
        return set()
    often = [set.intersection(*(sides[side] for sides in repeated)) for side in (0, 1)]
    ever = [set().union(*(sides[side] for sides in repeated)) for side in (0, 1)]
    return (often[0] - ever[1]) | (often[1] - ever[0])


def _parts(pairs: Mapping[tuple[str, DifferenceKind], Sequence[ResultDifference]]) -> Iterator[str]:
    """Each difference in words; the fields that only one of the two gives together."""
    missing = [own[0] for (_, kind), own in pairs.items() if kind == "missing"]
    for who, is_second in (("first", False), ("second", True)):
        if names := [f"`{one.path}`" for one in missing if (one.right is not None) == is_second]:
            yield f"only the {who} gives {listed(names)}"
    for (path, kind), own in pairs.items():
        if kind != "missing":
            yield _in_words(kind, path, own)


def _in_words(kind: DifferenceKind, path: str, own: Sequence[ResultDifference]) -> str:
    name = f"`{path}`" if path else "the text"
    left, right = own[0].left, own[0].right
    if kind == "reversed":
        return f"{name} is sorted the other way"
    if kind == "constant":
        return f"{name} changes from call to call on one server only"
    if kind == "length":
        return f"{name} has {left} and {right} values"
    pattern = pattern_in_words([(one.left, one.right) for one in own])
    shown = f"{name} is {_short(left)} and {_short(right)}"
    return f"{shown} ({pattern})" if pattern else shown


def _short(value: Any) -> str:
    """A value as a sentence shows it: texts of servers in quotes, cut, without secrets."""
    text = value if isinstance(value, str) else canonical_json(value)
    text = shown_text(shorten(text, _LONGEST, placeholder="…"))
    return f"“{text}”" if isinstance(value, str) else text


def _cut(value: Any) -> Any:
    return value[:_LONGEST] if isinstance(value, str) else value

"""What the same calls to two tools showed: a verdict with the number of calls, and one row per
call.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from textwrap import shorten
from typing import Any

from toolscope_core.calls.result_columns import CallAnswer
from toolscope_core.calls.result_comparison import (
    LEFT_OUT,
    DifferenceKind,
    ResultDifference,
    factor_in_words,
    result_differences,
    result_names,
    varying_paths,
)
from toolscope_core.mcp.servers.masked_words import shown_text
from toolscope_core.model.numbers import listed
from toolscope_core.model.tool import JsonObject, Tool, canonical_json, with_texts

_READ, _LONGEST = 10_000, 120
_LEAST_CONSTANT = 2
_IN_WORDS: Mapping[DifferenceKind, str] = {
    "value": "{path} is {left} and {right}",
    "missing": "only the {giver} gives {path}",
    "length": "{path} has {left} and {right} values",
    "reversed": "{path} is sorted the other way",
    "constant": "{path} changes from call to call on one server only",
}
"""The differences that count."""


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """One call to a tool, the same call mapped through α to another tool, and both answers.

    ``again`` has the answers to the same call sent a second time, or ``None`` if it was not
    repeated. ``is_guess`` is true if nothing says that the tools accept the value of some argument.
    ``differences`` are those between the results.
    """

    arguments: JsonObject
    mapped: JsonObject
    answers: tuple[CallAnswer, CallAnswer]
    again: tuple[CallAnswer, CallAnswer] | None = None
    is_guess: bool = False
    differences: tuple[ResultDifference, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Whether both tools gave a result."""
        return not any(one.refusal for one in self.answers)

    @property
    def refusing(self) -> int | None:
        """The only tool that refused the call, 0 or 1; ``None`` if neither or both did, or for a
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
        """Whether only one tool refused, or both gave a value that does not change by itself."""
        changing = {one.path for one in self.differences if one.kind == "varies"}
        is_stable = self.is_answered and not changing.issuperset(self.answers[0].columns)
        return is_stable or self.refusing is not None


@dataclass(frozen=True, slots=True)
class CallComparison:
    """What calls to two tools showed.

    ``tools`` are the tool whose calls were sent and the tool that would take them over.
    ``versions`` are the versions of their servers, empty if unknown. ``names`` maps paths in the
    first tool's results to their names in the second tool's results, if these differ. ``stopped``
    says why no more calls were sent.
    """

    tools: tuple[Tool, Tool]
    calls: tuple[AnsweredCall, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    versions: tuple[str, str] = ("", "")
    stopped: str = ""

    @property
    def size(self) -> int:
        """The number of calls from which something can be concluded."""
        return sum(one.tells for one in self.calls)

    @property
    def differing(self) -> int:
        """The number of calls that the two tools did not answer alike."""
        return sum(one.refusing is not None or bool(one.counting) for one in self.calls)

    @property
    def left_out(self) -> dict[str, DifferenceKind]:
        """The paths that differ without counting as different, each with the kind of difference."""
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
            parts = [_in_words(kind, path, own) for (path, kind), own in pairs.items()]
            count = sum(bool(call.counting) for call in self.calls)
            yield f"differs in {count} of {self.size}: {listed(parts)}"
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
        """Why nothing can be concluded from any call."""
        refusals = [one.refusal for call in self.calls for one in call.answers if one.refusal]
        if refusals:
            return f"nothing compared: refused, such as {_short(refusals[0])}"
        return f"nothing compared{': every value changes by itself' if self.calls else ''}"

    def as_json(self) -> dict[str, Any]:
        """The comparison in the form that is stored: texts are cut, and secrets in them are
        masked.
        """
        rows = [
            {
                "arguments": call.arguments,
                "mapped": call.mapped,
                "refused": [_cut(one.refusal) for one in call.answers],
                "differences": [with_texts(asdict(one), _cut) for one in call.differences],
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
    """A comparison of two tools by their answers to several calls."""
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
    """The paths whose values changed by themselves on each side, under the left side's names."""
    if call.again is None or not call.is_answered:
        return set(), set()
    left, right = (
        varying_paths(first.columns, second.columns)
        for first, second in zip(call.answers, call.again, strict=True)
    )
    back = {theirs: own for own, theirs in names.items()}
    return left, {back.get(path, path) for path in right}


def _changing_on_one_side(varying: Sequence[tuple[set[str], set[str]]]) -> set[str]:
    """The paths whose values change in every repeated call on one side, and never on the other."""
    repeated = [sides for sides in varying if any(sides)]
    if len(repeated) < _LEAST_CONSTANT:
        return set()
    often = [set.intersection(*(sides[side] for sides in repeated)) for side in (0, 1)]
    ever = [set().union(*(sides[side] for sides in repeated)) for side in (0, 1)]
    return (often[0] - ever[1]) | (often[1] - ever[0])


def _in_words(kind: DifferenceKind, path: str, own: Sequence[ResultDifference]) -> str:
    """What differs at a path, with the first values and what all of them have in common."""
    left, right = own[0].left, own[0].right
    text = _IN_WORDS[kind].format(
        path=f"`{path}`" if path else "the text",
        left=_short(left),
        right=_short(right),
        giver="first" if right is None else "second",
    )
    factor = factor_in_words([(one.left, one.right) for one in own]) if kind == "value" else ""
    return f"{text} ({factor})" if factor else text


def _short(value: Any) -> str:
    """A value as shown in a sentence: shortened and without secrets; texts from servers are
    quoted.
    """
    text = value if isinstance(value, str) else canonical_json(value)
    text = shorten(shown_text(text[:_READ]), _LONGEST, placeholder="…")
    return f"“{text}”" if isinstance(value, str) else text


def _cut(text: str) -> str:
    """The start of a text. Secrets are masked first, since half a secret does not look like one."""
    return shown_text(text[:_READ])[:_LONGEST]

"""Compares two results field by field, and separates real differences from apparent ones."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Literal

from toolscope_core.calls.result_columns import ResultColumns
from toolscope_core.model.tool import JsonObject, canonical_json

DifferenceKind = Literal[
    "value", "missing", "length", "reversed", "constant", "varies", "clock", "order", "page",
    "name", "more", "form",
]  # fmt: skip
LEFT_OUT: Mapping[DifferenceKind, str] = {
    "varies": "changes when a server gets the same call again",
    "clock": "times less than a minute apart",
    "order": "the same rows in another order",
    "page": "the place in a list of pages, the id of a request, or how long the answer took",
    "name": "the same values under another name",
    "more": "only the tool that would take over gives it",
    "form": "the same values written in another way",
}
"""The differences that do not count, each with the rule for it."""
_CLOCK = 60.0
_PAGE = re.compile(
    r"(?:next|prev|previous|page|continuation)+(?:cursor|token|link|url)|cursor|etag"
    r"|(?:request|trace|correlation|session)id"
    r"|(?:elapsed|took|latency|(?:query|response|execution|processing)time)\w*"
)
"""Matches names of fields after everything but letters has been removed."""
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d)\b)?"
    r"|\b\d\d:\d\d:\d\d\b"
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)", re.IGNORECASE)
_WORST_FIRST: tuple[DifferenceKind, ...] = ("value", "order", "form", "clock")
_LONGEST_FRAME = 80
"""A server adds only a few words around a text; more characters than this mean another text."""
_LEAST_REVERSED, _LEAST_FACTORS = 3, 2
"""Two rows are often reversed by chance, and one pair of numbers always has a factor."""


@dataclass(frozen=True, slots=True)
class ResultDifference:
    """A path at which two results differ, with the first differing values in ``left`` and
    ``right``.

    For *length*, the values are the numbers of rows; for *name*, the two paths. The value is
    ``None`` on a side that lacks the path.
    """

    path: str
    kind: DifferenceKind
    left: Any = None
    right: Any = None


def result_names(answers: Sequence[tuple[ResultColumns, ResultColumns]]) -> dict[str, str]:
    """The paths of left results, each mapped to another path on the right with the same values.

    The values must be the same in every call. They must also distinguish the path from all others,
    or both paths must end in the same name.
    """
    left, right = (_by_values([pair[side] for pair in answers]) for side in (0, 1))
    everywhere = [{path for paths in own.values() for path in paths} for own in (left, right)]
    names = {}
    for values, paths in left.items():
        ours = sorted(paths - everywhere[1])
        theirs = sorted(right.get(values, set()) - everywhere[0])
        same_end = {a: b for a in ours for b in theirs if _last(a) == _last(b)}
        if len(ours) == len(theirs) == 1 and len({one for call in values for one in call}) > 1:
            names[ours[0]] = theirs[0]
        elif len(set(same_end.values())) == len(same_end):
            names |= same_end
    return dict(sorted(names.items()))


def result_differences(
    left: ResultColumns,
    right: ResultColumns,
    names: Mapping[str, str],
    varying: Collection[str],
    arguments: JsonObject,
) -> list[ResultDifference]:
    """The differences between two answers to one call, by their path in the left answer.

    ``names`` comes from ``result_names``. ``varying`` has the paths whose values change by
    themselves. ``arguments`` are the arguments of the call, which a text may repeat.
    """
    if (left.keys() == {""}) != (right.keys() == {""}):
        return _text_against_fields(left, right) or [ResultDifference("", "form")]
    back = {_list_of(theirs): _list_of(own) for own, theirs in names.items()}
    back |= {theirs: own for own, theirs in names.items()}
    right = {back.get(path, path): values for path, values in right.items()}
    varying = {path for path in varying if not _are_times(left.get(path), right.get(path))}
    differences = [
        *(ResultDifference(own, "name", own, names[own]) for own in left if own in names),
        *(ResultDifference(path, "varies") for path in varying),
    ]
    own, other = ({p: v for p, v in one.items() if p not in varying} for one in (left, right))
    compared = set[str]()
    for prefix, group in groupby(sorted(own.keys() | other.keys(), key=_list_of), _list_of):
        paths = {*group} if prefix else set[str]()
        if of_rows := _row_difference(prefix, paths, own, other):
            differences.append(of_rows)
            compared |= paths if of_rows.kind == "length" else paths & own.keys() & other.keys()
    numbers = Counter(_numbers(canonical_json(arguments)))
    for path in (own.keys() | other.keys()) - compared:
        if path not in own or path not in other:
            side: DifferenceKind = "missing" if path in own else "more"
            kind = "page" if _is_page(path) else side
            first = (next(iter(one.get(path, ())), None) for one in (own, other))
            differences.append(ResultDifference(path, kind, *first))
        elif difference := _column_difference(path, own[path], other[path], numbers):
            differences.append(difference)
    return sorted(differences, key=lambda one: (one.path, one.kind))


def varying_paths(first: ResultColumns, second: ResultColumns) -> set[str]:
    """The paths at which two answers of one server to the same call differ."""
    paths = first.keys() | second.keys()
    return {path for path in paths if first.get(path) != second.get(path)}


def factor_in_words(pairs: Sequence[tuple[Any, Any]]) -> str:
    """The factor between the numbers in all pairs, as in *the second is 100 times as large*.

    Empty if there is none, or if all pairs are equal, which tells nothing.
    """
    numbers = [(a, b) for a, b in pairs if _is_number(a) and _is_number(b) and a and b]
    factors = [b / a for a, b in numbers]
    is_one = all(math.isclose(one, factors[0], rel_tol=1e-6) for one in factors)
    if len(set(numbers)) < _LEAST_FACTORS or len(numbers) < len(pairs) or not is_one:
        return ""
    larger, times = ("second", factors[0]) if abs(factors[0]) > 1 else ("first", 1 / factors[0])
    return f"the {larger} is {times:.6g} times as large"


def _by_values(calls: Sequence[ResultColumns]) -> dict[tuple[tuple[str, ...], ...], set[str]]:
    """The paths of several results, grouped by their values in each; the order of values is
    ignored.
    """
    paths: defaultdict[tuple[tuple[str, ...], ...], set[str]] = defaultdict(set)
    for path in {path for columns in calls for path in columns}:
        paths[tuple(tuple(sorted(map(_key, one.get(path, ())))) for one in calls)].add(path)
    return paths


def _are_times(*columns: Sequence[Any] | None) -> bool:
    """Whether all values are times. Times are compared even if they change."""
    return all(own and all(_moment(one) is not None for one in own) for own in columns)


def _list_of(path: str) -> str:
    """The path of the innermost list; empty outside lists."""
    front, mark, _ = path.rpartition("[]")
    return front + mark


def _row_difference(
    prefix: str, paths: Collection[str], left: ResultColumns, right: ResultColumns
) -> ResultDifference | None:
    """The difference between two lists in the number or order of rows; ``None`` if there is
    none.
    """
    most, other = (
        max((len(one.get(path, ())) for path in paths), default=0) for one in (left, right)
    )
    if most != other:
        return ResultDifference(prefix, "length", most, other)
    shared = [
        path
        for path in sorted(paths)
        if {len(one.get(path, ())) for one in (left, right)} == {most}
    ]
    ours, theirs = (
        [*zip(*(map(_key, one[path]) for path in shared), strict=True)] for one in (left, right)
    )
    if ours == theirs or sorted(ours) != sorted(theirs):
        return None
    if [*shared] == [prefix] and all(map(_is_number, left[prefix])):  # for example, coordinates
        return None
    is_reversed = len(set(ours)) >= _LEAST_REVERSED and ours == theirs[::-1]
    return ResultDifference(prefix, "reversed" if is_reversed else "order")


def _column_difference(
    path: str, left: Sequence[Any], right: Sequence[Any], numbers: Counter[float | str]
) -> ResultDifference | None:
    """The first of the most serious differences between two columns."""
    if len(left) != len(right):
        return ResultDifference(path, "length", len(left), len(right))
    kinds: dict[DifferenceKind, tuple[Any, Any]] = {}
    for a, b in zip(left, right, strict=True):
        if kind := _value_difference(a, b, numbers):
            kinds.setdefault(kind, (a, b))
    kind = next((one for one in _WORST_FIRST if one in kinds), None)
    if kind is None:
        return None
    return ResultDifference(path, "page" if _is_page(path) else kind, *kinds[kind])


def _value_difference(a: Any, b: Any, numbers: Counter[float | str]) -> DifferenceKind | None:
    if _key(a) == _key(b):
        return None
    first, second = _moment(a), _moment(b)
    if first is not None and second is not None:
        if first == second:
            return "form"
        return "clock" if abs(first - second) < _CLOCK else "value"
    if _is_number(a) and _is_number(b):
        return "value"
    if None in (a, b) or bool in (type(a), type(b)):
        words = [_key(one).lower().strip('"') for one in (a, b)]
        return "form" if words[0] == words[1] else "value"
    return _text_difference(str(a), str(b), numbers)


def _text_difference(a: str, b: str, numbers: Counter[float | str]) -> DifferenceKind | None:
    """How two texts differ: in lines, in numbers, or only in the words around them.

    A text may repeat the ``numbers`` of the call before or after its own numbers.
    """
    times = [[_moment(one) for one in _TIME.findall(text)] for text in (a, b)]
    has_clock = times[0] != times[1] and len(times[0]) == len(times[1])
    if has_clock and all(abs((x or 0) - (y or 0)) < _CLOCK for x, y in zip(*times, strict=True)):
        a, b = (_TIME.sub("", text) for text in (a, b))
        return _text_difference(a, b, numbers) or "clock" if a != b else "clock"
    lines = [[" ".join(one.split()) for one in text.splitlines() if one.strip()] for text in (a, b)]
    if lines[0] == lines[1]:
        return "form"
    if sorted(lines[0]) == sorted(lines[1]):
        return "order"
    short, long = sorted((" ".join(lines[0]), " ".join(lines[1])), key=len)
    few, many = (_numbers(text) for text in (short, long))
    if len(few) > len(many):
        few, many = many, few
    extra = len(many) - len(few)
    is_more = any(
        rest == few and not Counter(other) - numbers
        for rest, other in ((many[extra:], many[:extra]), (many[: len(few)], many[len(few) :]))
    )
    is_framed = bool(short) and short in long and len(long) - len(short) <= _LONGEST_FRAME
    has_same = is_more if many else is_framed
    return "form" if has_same else "value"


def _text_against_fields(left: ResultColumns, right: ResultColumns) -> list[ResultDifference]:
    """The fields of one result whose values are not all stated in the other result, which is a
    text.

    No field counts as missing if the left result is the text and equals values of the fields.
    """
    text, fields = (left, right) if left.keys() == {""} else (right, left)
    given = {_key(one) for own in fields.values() for one in own}
    if text is left and given.issuperset(map(_key, left[""])):
        return []
    words = " ".join(" ".join(map(str, text[""])).replace("T", " ").split())
    numbers, times = set(_numbers(words)), [_moment(one) for one in _TIME.findall(words)]

    def is_said(value: Any) -> bool:
        said, moment = " ".join(str(value).replace("T", " ").split()), _moment(value)
        if moment is None:
            return said in words or (_is_number(value) and float(value) in numbers)
        is_near = any(one is not None and abs(one - moment) < _CLOCK for one in times)
        return is_near or said[:16] in words  # a text often gives the local time without its zone

    missing = []
    for path, values in sorted(fields.items()):
        unsaid = [one for one in values if one is not None and not is_said(one)]
        if unsaid and not _is_page(path):
            sides = (None, unsaid[0]) if text is left else (unsaid[0], None)
            missing.append(ResultDifference(path, "missing", *sides))
    return missing


def _key(value: Any) -> str:
    """The form of a value that is compared: numbers have nine digits, and blanks in texts are
    unified.
    """
    if _is_number(value):
        return f"{float(value):.9g}"
    return f'"{" ".join(value.split())}"' if isinstance(value, str) else str(value)


def _last(path: str) -> str:
    return path.rpartition(".")[2].replace("[]", "")


def _is_page(path: str) -> bool:
    return bool(_PAGE.fullmatch(re.sub(r"[^a-z]", "", _last(path).lower())))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers(text: str) -> list[float | str]:
    """The numbers in a text; those that no float holds as texts."""
    pairs = ((float(one.replace(",", "")), one) for one in _NUMBER.findall(text))
    return [number if math.isfinite(number) else one for number, one in pairs]


def _moment(value: Any) -> float | None:
    """The time that a value gives, in seconds since 1970; UTC is assumed if no zone is given."""
    if not isinstance(value, str) or not _TIME.fullmatch(value.strip()):
        return None
    text = value.strip().removesuffix("UTC").strip()
    try:
        time = datetime.fromisoformat(text if "-" in text else f"1970-01-01T{text}")
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()

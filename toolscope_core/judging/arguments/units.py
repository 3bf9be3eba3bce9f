"""Reads the unit or written form that a parameter expects, if it says so."""

import re
from functools import lru_cache

from toolscope_core.model.tool import Parameter
from toolscope_core.wording.words import meaning, plain_words

_UNITS = {
    "temperature": {
        "degrees Celsius": "celsius centigrade °c",
        "degrees Fahrenheit": "fahrenheit °f",
        "kelvin": "kelvin kelvins",
    },
    "length": {
        "millimetres": "mm millimeter millimeters millimetre millimetres",
        "centimetres": "cm centimeter centimeters centimetre centimetres",
        "metres": "meter meters metre metres",
        "kilometres": "km kms kilometer kilometers kilometre kilometres",
        "miles": "mile miles",
        "feet": "feet foot ft",
        "inches": "inch inches",
    },
    "time": {
        "milliseconds": "ms msec millis millisecond milliseconds",
        "seconds": "sec secs second seconds",
        "minutes": "mins minute minutes",
        "hours": "hour hours hrs",
        "days": "day days",
        "weeks": "week weeks",
        "months": "month months",
        "years": "year years",
    },
    "mass": {
        "grams": "gram grams",
        "kilograms": "kg kgs kilo kilos kilogram kilograms",
        "pounds": "lb lbs pound pounds",
        "ounces": "oz ounce ounces",
    },
    "angle": {"degrees": "deg degree degrees", "radians": "rad radian radians"},
    "currency": {
        "US dollars": "usd dollar dollars",
        "euros": "eur euro euros",
        "pounds sterling": "gbp sterling",
        "yen": "jpy yen",
        "yuan": "cny rmb yuan",
        "rupees": "inr rupee rupees",
        "cents": "cent cents",
    },
    "share": {"percent": "percent percentage pct %", "a fraction of one": "fraction decimal"},
    "size": {
        "bytes": "byte bytes",
        "kilobytes": "kb kilobyte kilobytes",
        "megabytes": "mb megabyte megabytes",
        "gigabytes": "gb gigabyte gigabytes",
    },
}
_SHORT = {
    (word, short): unit
    for words, shorts in (
        ("temp temperature", {"c": "celsius", "f": "fahrenheit", "k": "kelvin"}),
        ("timeout duration delay interval time", {"s": "sec", "min": "minutes", "h": "hours"}),
        ("distance length height width depth radius", {"m": "metre"}),
        ("weight mass", {"g": "gram"}),
    )
    for word in words.split()
    for short, unit in shorts.items()
}
"""Abbreviations: the second, in a name that also has the first, means the unit."""

_NAMES = {
    word: (dimension, unit)
    for dimension, units in _UNITS.items()
    for unit, words in units.items()
    for word in words.split()
}
_UNIT = "|".join(sorted((re.escape(word) for word in _NAMES), key=len, reverse=True))
_SAID = re.compile(
    rf"(?:\b(?:in|(?<!such )as)\s+(?:an?\s+|the\s+|degrees?\s+|us\s+|whole\s+)*|\(\s*(?:in\s+)?|"
    rf"\bunits?\s*[:=]\s*)({_UNIT})(?![\w/-])"
)
_COUNTED = re.compile(rf"\b(?:how many|number of)\s+({_UNIT})(?!\w)")
_SINGULAR = frozenset("second minute hour day week month year degree fraction decimal".split())
"""In the singular, these words are not the unit: ``month`` says which month,
``months`` how many.
"""

_WORDS = re.compile(r"[a-z]+|°[cf]|%")
_FORM_WORDS = frozenset("yyyy epoch unix iso rfc".split())
_FORMS = (
    ("milliseconds since 1970", r"(?:epoch|unix)[^.;]*\b(?:milliseconds|millis|ms)\b"),
    ("seconds since 1970", r"\bepoch\b|\bunix(?:[- ]?time(?:stamp)?|\s+seconds)?\b"),
    ("a date as YYYY-MM-DD", r"\byyyy-mm-dd\b(?![ t]?hh)"),
    ("a date and time as ISO 8601", r"\byyyy-mm-ddt?[t ]?hh:mm|\brfc ?3339|\biso[- ]?8601"),
    ("a date as MM/DD/YYYY", r"\bmm/dd/yyyy\b"),
    ("a date as DD/MM/YYYY", r"\bdd/mm/yyyy\b"),
    ("a date as MM-DD-YYYY", r"\bmm-dd-yyyy\b"),
    ("a date as DD-MM-YYYY", r"\bdd-mm-yyyy\b"),
)
_FORMATS = {
    "date-time": "a date and time as ISO 8601",
    "date": "a date as YYYY-MM-DD",
    "unix-time": "seconds since 1970",
    "timestamp": "seconds since 1970",
}
_SHOWN = re.compile(
    r"\bformats?\b(?:\s+of)?[\s:]*"
    r"((?:['\"`][A-Z][a-z]+(?:\s*[,/]\s*[A-Z][a-z]+)+['\"`](?:\s*(?:,|or|and)\s*)*)+)"
)
"""Quoted forms made of the names of their parts: *in the format 'City, State'*."""
_WIDTHS = frozenset("int32 int64 uint32 uint64 float double number integer string".split())


def difference(one: Parameter, other: Parameter) -> str:
    """The disagreement between the two, such as ``degrees Celsius, not degrees Fahrenheit``;
    otherwise empty.

    Silence is no disagreement. A parameter that lists its values or offers several units does not
    disagree either.
    """
    ours = units_of(one)
    theirs = dict(units_of(other)) if ours else {}
    for dimension, unit in ours:
        if theirs.get(dimension, unit) != unit:
            return f"{unit}, not {theirs[dimension]}"
    parts, other_parts = parts_of(one.description), parts_of(other.description)
    if parts and other_parts and not (parts <= other_parts or other_parts <= parts):
        return f"{' and '.join(sorted(parts))}, not {' and '.join(sorted(other_parts))}"
    return ""


@lru_cache(maxsize=65_536)
def parts_of(description: str) -> frozenset[str]:
    """The parts of a written form, from all forms that the description shows: *City, State*."""
    shown = " ".join(_SHOWN.findall(description))
    return frozenset(word.casefold() for word in re.findall(r"[A-Z][a-z]{2,}", shown))


def units_of(parameter: Parameter) -> tuple[tuple[str, str], ...]:
    """Pairs of dimension and unit, sorted; empty for a parameter that lists its values.

    Units are read from the name, or else from the description. A written form, such as a date as
    YYYY-MM-DD, has the dimension ``form``; it is read from a known ``format``, the description, any
    other ``format`` that is not a type, or the name, in this order.
    """
    if "enum" in parameter.schema:
        return ()
    form = parameter.schema.get("format")
    return _measures(parameter.name, parameter.description, form if isinstance(form, str) else "")


def same_but_unit(one: str, other: str) -> bool:
    """Whether two names differ only in the unit: ``temp_c`` and ``temperature_fahrenheit``."""
    ours = _unit_words(one)
    theirs = _unit_words(other) if ours else {}
    if not theirs or _named(one).keys() != _named(other).keys():
        return False
    names = ((one, ours), (other, theirs))
    bare, bare_other = (
        {meaning(word) for word in plain_words(name) if word not in units} for name, units in names
    )
    return bare == bare_other


@lru_cache(maxsize=65_536)
def _measures(name: str, description: str, form: str) -> tuple[tuple[str, str], ...]:
    text = description.casefold()
    words = frozenset(_WORDS.findall(text))
    unit_by_dimension = _mentioned(text) if words & _NAMES.keys() else {}
    unit_by_dimension |= _named(name)
    form_name = _FORMATS.get(form, "")
    if not form_name and words & _FORM_WORDS:
        form_name = next((form for form, mark in _FORMS if re.search(mark, text)), "")
    if form_name:
        unit_by_dimension["form"] = form_name
    elif form and form not in _WIDTHS:
        unit_by_dimension["form"] = f"the format {form}"
    elif {"epoch", "unix"} & set(plain_words(name)):
        unit_by_dimension["form"] = f"{unit_by_dimension.get('time', 'seconds')} since 1970"
    return tuple(sorted(unit_by_dimension.items()))


def _named(name: str) -> dict[str, str]:
    units_by_dimension: dict[str, set[str]] = {}
    for word in _unit_words(name).values():
        dimension, unit = _NAMES[word]
        units_by_dimension.setdefault(dimension, set()).add(unit)
    return {
        dimension: units.pop() for dimension, units in units_by_dimension.items() if len(units) == 1
    }


@lru_cache(maxsize=65_536)
def _unit_words(name: str) -> dict[str, str]:
    """The words of a name that give the unit, and their full forms."""
    words = plain_words(name)
    last = words[-1] if words else ""
    short = next((_SHORT[word, last] for word in words if (word, last) in _SHORT), "")
    if short:
        return {last: short}
    return {word: word for word in words if word in _NAMES and word not in _SINGULAR}


def _mentioned(text: str) -> dict[str, str]:
    """Units that the text gives for the value itself; none for a dimension with several units."""
    own = {_NAMES[word] for word in _SAID.findall(text) + _COUNTED.findall(text)}
    mentioned = {_NAMES[word] for word in re.findall(rf"(?<!\w)({_UNIT})(?!\w)", text)}
    return {
        dimension: unit
        for dimension, unit in own
        if sum(where == dimension for where, _ in mentioned) == 1
    }

"""Reads the effect of leaving an argument out, from its schema or the tool's words.

The argument may have a default. It may also be required although the schema calls it optional:
*exactly one of `id` and `key` must be given* turns two optional arguments into one required one.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolscope_core.model.cluster import ArgumentMove
from toolscope_core.model.tool import JsonObject, Parameter, Tool, canonical_json
from toolscope_core.wording.words import sentences, spelling, words_of

MOST_READ = 2_000
"""Facts are read in this many characters of a text; in the rest, words are only compared."""

_ONE_OF = (
    r"\b(?:exactly|only|at least|either|just|any) (?:one|1)\b[^.]*?\b(?:of|or)\b"
    r"|\beither\b[^.]*\bor\b"
)
_GIVEN = (
    r"\b(?:given|provided|specified|supplied|passed|set|used|present|required|needed|specify|provide"
    r"|give|pass|supply|use)\b"
)
_CHOICE = re.compile(
    rf"(?=.*{_GIVEN}).*?(?:{_ONE_OF})|.*\bmutually exclusive\b|.*\bnot both\b"
    r"|.*\b(?:alternative to|in place of|or else|or (?:give|use|pass|set))\b",
    re.IGNORECASE,
)
_WHEN = r"(?:if|when|unless|for|with|without|only)\b"
_NEEDED = re.compile(
    r"(?:^|[(,;:–-] *|\b(?:is|are|be|argument|parameter|field) )"
    rf"(?:required|mandatory|compulsory|obligatory)\b(?! (?!{_WHEN})\w)"
    r"|(?<!not )\b(?:required|mandatory) (?:if|when|unless)\b"
    r"|\b(?:must|has to|needs to) be (?:given|provided|specified|supplied|passed|set|present)\b"
    r"|\bwithout (?:it|this)\b|\balways (?:give|pass|provide|set)\b"
    r"|\byou (?:must|have to|need to) (?:say|give|pass|provide|set)\b",
    re.IGNORECASE,
)
_IN_QUOTES = re.compile(r"['\"`]([^'\"`]+)['\"`]")
_AT_MOST = re.compile(
    r"\bmutually exclusive\b|\bnot both\b|\b(?:exactly|only|just) (?:one|1)\b", re.I
)


_STATED = re.compile(
    r"""\bdefaults?\b(?:\s+value)?(?:\s*(?:is|to|be|being|assumed|set\ to|the\ same\ as|=|:))*\s*
    ('[^']*'|"[^"]*"|`[^`]*`|-?\d+(?:\.\d+)?(?![\w.]*\w)|(?:true|false|empty|none|null|all|any)\b
    |[a-z][\w-]*(?=\s*(?:[.,;)\]]|$)))""",
    re.IGNORECASE | re.VERBOSE,
)
_VALUE = r"""('[^']*'|"[^"]*"|`[^`]*`|[\w.-]*\w)"""
_GONE = r"(?:omitted|left (?:out|empty|blank)|absent|missing|unset|un?specified|empty|not \w+)"
_USED = re.compile(
    rf"\b(?:if|when|where)(?: (?:it|this)(?: is)?)? {_GONE}[,:]?(?: (?:then|it|this|the|is|are"
    rf"|uses?|defaults? to|will be|falls? back to))* {_VALUE}"
    r"(?=(?: (?:is|are|will be) \w+)? *(?:[.,;)]|$))"
    rf"|\b(?:if|when|where)(?: \w+){{0,3}} {_GONE}[^.;]{{0,20}}?('[^']+'|\"[^\"]+\"|`[^`]+`)"
    rf"|{_VALUE} (?:is|will be) (?:used|taken|assumed) (?:if|when|unless)[^.;)]*"
    rf"|{_VALUE},? unless (?:\w+ )?(?:\w+ )?(?:stated|specified|given|told|set|provided|passed|pass"
    r"|otherwise|said|changed|overridden)\b[^.;)]*",
    re.IGNORECASE,
)
"""Words for the value used if an argument is left out."""
_SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
_AS_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_NOTHING = frozenset({"", "none", "null"})
_NO_LIMIT = _NOTHING | {"empty", "all", "any", "dontcare", "[]", "{}"}


@dataclass(frozen=True, slots=True)
class Condition:
    """A sentence on when arguments must be given: all ``arguments``, or some of them if it is a
    choice.
    """

    sentence: str
    arguments: frozenset[str]
    is_choice: bool

    @property
    def key(self) -> tuple[bool, frozenset[str], frozenset[str]]:
        """A key that is equal for conditions that require the same in different words."""
        values = frozenset() if self.is_choice else frozenset(_IN_QUOTES.findall(self.sentence))
        return self.is_choice, self.arguments, values


def other_default(source: Parameter, target: Parameter) -> tuple[str, str] | None:
    """The two defaults as JSON, if both parameters state one and they differ.

    A *null* in a schema states nothing, with two exceptions: for a switch, which is then in neither
    position, and beside a value in the other schema.
    """
    if source.required:
        return None
    if "default" not in source.schema and "default" not in target.schema:
        values = [_in_words(source), _in_words(target)]
        stated = None not in values
    else:
        values = [_default(source), _default(target)]
        stated = values[1] is not None and (values[0] is not None or _is_open(source))
        both_declare = "default" in source.schema and "default" in target.schema
        stated |= both_declare and _limits(values[0])
    if not stated or _spelled(values[0]) == _spelled(values[1]):
        return None
    return canonical_json(values[0]), canonical_json(values[1])


def unshared_default(one: Parameter, other: Parameter) -> str:
    """A default as JSON that only one of two optional parameters states, in its schema or its
    words.

    Empty if both or neither do, or if the default leaves everything open.
    """
    if one.required or other.required:
        return ""
    values = [_stated_default(one), _stated_default(other)]
    if (values[0] is None) == (values[1] is None):
        return ""
    value = values[0] if values[1] is None else values[1]
    return canonical_json(value) if _limits(value) and value is not False else ""


@lru_cache(maxsize=65_536)
def conditions_of(tool: Tool) -> tuple[Condition, ...]:
    """The conditions on optional arguments in a tool's words, in order."""
    names = [parameter.name for parameter in tool.parameters]
    required = frozenset(parameter.name for parameter in tool.parameters if parameter.required)
    texts = [("", tool.description), *((p.name, p.description) for p in tool.parameters)]
    conditions = []
    for owner, text in texts:
        for sentence in sentences(text[:MOST_READ]):
            is_choice = _CHOICE.match(sentence) is not None
            if not is_choice and not _NEEDED.search(sentence):
                continue
            about = frozenset({owner} - {""})
            if is_choice or not owner:
                about |= {name for name in names if _is_named(name, sentence)}
            if about and not about <= required:
                conditions.append(Condition(sentence, about, is_choice))
    return tuple(conditions)


def without_omission(description: str) -> str:
    """The description without the text about leaving the argument out: its default, and when it
    must be given.
    """
    own = sentences(description[:MOST_READ])
    plain = [one for one in own if not (_CHOICE.match(one) or _NEEDED.search(one))]
    text = " ".join((*plain, description[MOST_READ:]))
    return _USED.sub(" ", _STATED.sub(" ", text[:MOST_READ])) + text[MOST_READ:]


def unmet_conditions(
    tool: Tool, target: Tool, moves: Sequence[ArgumentMove], constants: JsonObject
) -> Iterator[str]:
    """Sentences on conditions of ``target`` that not every call to ``tool`` meets.

    A condition on other values of an argument in ``constants`` does not count.
    """
    always = {parameter.name for parameter in tool.parameters if parameter.required}
    targets = {move.target for move in moves}
    supplied = {move.target for move in moves if move.source in always}
    for condition in _alone(target, tool):
        if _is_of_other_values(condition.sentence, target, constants):
            continue
        at_once = len(condition.arguments & targets) if _AT_MOST.search(condition.sentence) else 1
        if at_once > 1 or condition.arguments.isdisjoint(supplied):
            yield f"not every call to {tool.id} does what {target.id} says: {_shown(condition)}"


def _is_of_other_values(sentence: str, target: Tool, constants: JsonObject) -> bool:
    """Whether the sentence names listed values of such an argument, but not the constant."""
    words = set(words_of(sentence.casefold()))
    for parameter in target.parameters:
        if parameter.name in constants:
            named = [v for v in parameter.enum if words.issuperset(words_of(str(v).casefold()))]
            if named and constants[parameter.name] not in named:
                return True
    return False


def conditions_apart(tool: Tool, target: Tool) -> Iterator[str]:
    """Sentences on conditions that only one of the two tools states."""
    for own, other in ((tool, target), (target, tool)):
        for condition in _alone(own, other):
            yield f"only {own.id} says: {_shown(condition)}"


def _stated_default(parameter: Parameter) -> Any:
    """The stated value of an omitted parameter; ``None`` if there is none."""
    if "default" in parameter.schema:
        return parameter.schema["default"]
    return _in_words(parameter)


def _limits(value: Any) -> bool:
    """Whether a default is a value that restricts something."""
    return value not in (None, [], {}) and str(value).casefold() not in _NO_LIMIT


def _default(parameter: Parameter) -> Any:
    """The value of an omitted argument, in any spelling; ``None`` if there is none."""
    if "default" not in parameter.schema:
        return _in_words(parameter) or None
    value = parameter.schema["default"]
    return None if isinstance(value, str) and value.casefold() in _NOTHING else value


def _in_words(parameter: Parameter) -> Any:
    """The default quoted in a description, as a number or a truth value.

    Empty if the description says that there is none, or no limit; ``None`` if nothing can be read.
    """
    text = parameter.description[:MOST_READ]
    match = _STATED.search(text) or _USED.search(text)
    if match is None:
        return None
    stated = next(filter(None, match.groups()), "")
    text = stated.strip("'\"`")
    if text.casefold() in _NO_LIMIT and text not in parameter.enum:
        return ""
    if parameter.type == "boolean" or text.casefold() in ("true", "false"):
        return _SWITCHES.get(text.casefold(), text)
    return json.loads(text) if text == stated and _AS_NUMBER.fullmatch(text) else text


def _spelled(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return spelling(float(value) if is_number else value)


def _is_open(parameter: Parameter) -> bool:
    """Whether the parameter is a switch without a stated default, which has three positions."""
    unset = "default" in parameter.schema and _default(parameter) is None
    return unset and parameter.type == "boolean"


def _alone(own: Tool, other: Tool) -> Iterator[Condition]:
    """The conditions of one tool for which the other has none on the same arguments."""
    theirs = {condition.key for condition in conditions_of(other)}
    return (condition for condition in conditions_of(own) if condition.key not in theirs)


def _is_named(name: str, sentence: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", sentence) is not None


def _shown(condition: Condition) -> str:
    text = " ".join(condition.sentence.split())
    return f"“{text if len(text) <= 120 else text[:119] + '…'}”"

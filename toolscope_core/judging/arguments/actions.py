"""Finds the value of one tool's argument that says what another tool does.

``manage_records(action)`` with the action ``delete`` does what ``delete_record`` does.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from toolscope_core.model.tool import Parameter, Tool
from toolscope_core.wording.products import product_words
from toolscope_core.wording.reading import ToolReading, named_words, read_tool
from toolscope_core.wording.vocabulary import action_classes
from toolscope_core.wording.words import are_one, is_empty, is_plural, singular, words_of

_LISTING = frozenset("list search find query filter".split())
"""Verbs that read several things; *get* does if its object is plural."""


def action_arguments(tool: Tool) -> Iterator[Parameter]:
    """The required arguments of the tool with several listed texts."""
    for parameter in tool.parameters:
        if parameter.required and len(_values(parameter)) > 1:
            yield parameter


def _values(parameter: Parameter) -> list[str]:
    return [value for value in parameter.enum if isinstance(value, str)]


@lru_cache(maxsize=65_536)
def action_of(tool: Tool, general: Tool) -> tuple[str, str] | None:
    """The required argument of ``general`` and its value that together mean the act of ``tool``.

    Both are about the same thing by their names. The value says the verb of ``tool``, or what it
    reads of the thing; or it is the only one that does the same. ``None`` without one, or if
    several fit equally.
    """
    reading = read_tool(tool)
    if not _is_among(subject_of(general), subjects_of(tool)) or any(action_arguments(tool)):
        return None
    things, whole = things_of(tool), things_of(general)
    fitting = sorted(
        (rank, parameter.name, value)
        for parameter in action_arguments(general)
        for value in _values(parameter)
        if (rank := _rank(reading, things, whole, words_of(value)))
    )
    if not fitting or (len(fitting) > 1 and fitting[0][0] == fitting[1][0]):
        return None
    return fitting[0][1:]


def subject_of(general: Tool) -> str:
    """The last noun of a general tool's name, or its verb if there is none (``encode``)."""
    return (read_tool(general).verb, *things_of(general))[-1]


def subjects_of(tool: Tool) -> tuple[str, ...]:
    """The words of a tool's name that may be the ``subject_of`` a more general one."""
    return (read_tool(tool).verb, *things_of(tool))


def completes_name(tool: Tool, general: Tool) -> bool:
    """Whether the name of ``tool`` has a noun more, which a value must say (``action_of``):
    ``get_income_statement`` is ``get_statement(kind="income")``.
    """
    whole = things_of(general)
    return any(not _is_among(one, whole) for one in things_of(tool))


@lru_cache(maxsize=65_536)
def things_of(tool: Tool) -> tuple[str, ...]:
    """The nouns of a name in the singular, without the words of the server's name."""
    of_server = product_words(tool.server)
    return tuple(
        singular(word)
        for word in named_words(tool)
        if (is_plural(word) or not action_classes(word))
        and not is_empty(word)
        and word not in of_server
    )


def _rank(
    reading: ToolReading, things: Sequence[str], whole: Sequence[str], value: Sequence[str]
) -> tuple[bool, bool, int] | None:
    """How well a value fits, the lowest best; ``None`` if it does not.

    Reading one or several, as the tool does, comes first, then equal words before verbs of one
    kind, then few words before many.
    """
    others = [one for one in things if not _is_among(one, whole)]
    if any(not _is_among(one, value) for one in others):
        return None
    verbs = [word for word in value if action_classes(word)]
    reads, several = reading.classes == {"reads"}, any(map(is_plural, reading.name))
    lists = reading.verb in _LISTING or several
    is_other_number = bool(verbs) and reads and (verbs[0] in _LISTING) != lists
    if is_other_number and not set(reading.name).issuperset(value):
        return None
    if all(_is_among(word, reading.name) for word in value) and (verbs or others):
        return is_other_number, False, len(value)
    one_kind = len(reading.classes) == 1 and len(value) == 1 == len(verbs)
    is_one_kind = one_kind and not others and action_classes(value[0]) == reading.classes
    return (False, True, 1) if is_one_kind else None


def _is_among(word: str, words: Sequence[str]) -> bool:
    return any(are_one(word, other) for other in words)

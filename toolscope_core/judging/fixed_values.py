"""Tools that are a more general tool with one argument fixed.

``translate_to_french(text)`` is ``translate(text, language)`` where ``language`` lists French. That
is read off names and schemas, without a model: the name is the general tool's with one of its
values added, and every call can be mapped.
"""

from collections.abc import Sequence

from toolscope_core.catalog.source_words import source_name
from toolscope_core.judging.arguments.alignment import argument_map
from toolscope_core.judging.words import is_empty, stem, words_of
from toolscope_core.model.tool import Tool


def general_tools(tools: Sequence[Tool]) -> dict[str, str]:
    """Tool id → id of the general tool it is an instance of, on the same server.

    Where several fit, the one with the first id. General tools are not in the result.
    """
    named: dict[tuple[str, frozenset[str]], list[Tool]] = {}
    for tool in tools:
        own = _words(source_name(tool))
        for parameter in tool.parameters:
            for value in parameter.enum:
                added = _words(value) - own if isinstance(value, str) else frozenset()
                if added:
                    named.setdefault((tool.server, own | added), []).append(tool)
    general_by_id: dict[str, str] = {}
    for tool in tools:
        fitting = [
            general
            for general in named.get((tool.server, _words(source_name(tool))), ())
            if general.id != tool.id
            and (alpha := argument_map(tool, general)).lossless
            and alpha.constants
            and not alpha.inferred
        ]
        if fitting:
            general_by_id[tool.id] = min(general.id for general in fitting)
    return {
        tool: general for tool, general in general_by_id.items() if general not in general_by_id
    }


def _words(name: str) -> frozenset[str]:
    """The words of a name that say something: ``translate_to_french`` has two."""
    return frozenset(stem(word) for word in words_of(name) if not is_empty(word))

"""Writes calls from a tool's declaration, from values seen in results, and with a model."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Annotated, Any

from toolscope_core.calls.result_columns import ResultColumns
from toolscope_core.catalog.calls import takes, validator_of
from toolscope_core.judging.arguments.argument_words import with_all_words
from toolscope_core.judging.arguments.subschema import inlined
from toolscope_core.judging.arguments.value_facts import examples_of
from toolscope_core.llm.http_replies import load
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks import prompt_task as prompts
from toolscope_core.llm.tasks.fence import RULES, plain_prompt_text, prompt_text
from toolscope_core.model.tool import JsonObject, Parameter, Tool, canonical_json
from toolscope_core.wording.reading import read_tool
from toolscope_core.wording.words import plain_words, singular

_OF_FORMATS: Mapping[str, Sequence[str]] = {
    "date": ("2026-01-15", "2025-12-31"),
    "date-time": ("2026-01-15T09:30:00Z", "2025-12-31T23:00:00Z"),
    "time": ("09:30:00", "23:15:00"),
    "uri": ("https://example.com/",),
    "email": ("name@example.com",),
    "uuid": ("00000000-0000-4000-8000-000000000001",),
    "ipv4": ("192.0.2.1",),
    "hostname": ("example.com",),
}
"""For each format, values that anybody may use in a call."""
_NUMBERS, _SMALL = (3, 10, 1, 2, 0), 1e6
_TEXT = "Hello world"
_MOST_VALUES, _LONGEST_VALUE, _DEEPEST = 5, 200, 3
_KEYS = frozenset(("id", "key", "uuid", "name", "slug", "path", "number"))
"""Words for an identifier; the word before it may name the thing, as in ``issue_id``."""


_MOST_BY_MODEL, _LONGEST_CALL = 3, 2_000
_SYSTEM = f"""\
You write the arguments of calls that show what a tool does. The same calls go to another tool \
that might do the same job, so that the answers can be compared. The tools only read.

For each question, write {_MOST_BY_MODEL} calls that such a tool can probably answer, each as a \
JSON object in a text. Give a value to exactly the arguments that the question lists; the others \
are filled in already. Take well-known public things and plain, harmless values of the kind that \
the text asks for. Make the calls differ. Write no secret, no private data, and nothing that would \
change anything.

{RULES}
The lists of arguments stand between such lines too, and the same holds for them.
"""


def _show(tool: Tool, number: int) -> prompts.ShownItem:
    texts = {
        f"t{number}": prompt_text(tool),
        f"arguments {number}": plain_prompt_text([*open_arguments(tool)]),
    }
    return prompts.ShownItem(texts, ", ".join(texts))


@dataclass(slots=True)
class SeenValues:
    """Values from results that may be arguments of other calls, keyed by the words of their
    field.
    """

    _values: dict[tuple[str, ...], dict[Any, None]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def add(self, tool: Tool, columns: ResultColumns) -> None:
        """Add the values of one result; the values of an ``id`` become ids of the tool's objects
        too.
        """
        for path, values in columns.items():
            above, _, last = path.replace("[]", "").rpartition(".")
            words = tuple(plain_words(last))
            things = {tuple(plain_words(above))[-1:], *((one,) for one in read_tool(tool).objects)}
            is_key = bool(words) and words[-1] in _KEYS
            for name in {words, *((*map(singular, one), *words) for one in things if is_key)}:
                for value in values[:_MOST_VALUES]:
                    if value is not None and len(str(value)) <= _LONGEST_VALUE:
                        self._values[name].setdefault(value)

    def of(self, parameter: Parameter) -> list[Any]:
        """The values seen under the name of this parameter."""
        return list(self._values.get(tuple(plain_words(parameter.name)), ()))[:_MOST_VALUES]


def written_calls(tool: Tool, seen: SeenValues, most: int) -> tuple[JsonObject, ...]:
    """At most ``most`` different sets of arguments that the tool's schema accepts, the simplest
    first.

    The first set has only the required arguments. Each of the others changes one value or adds an
    optional argument. The values come from the schema's lists, examples and defaults, from the
    results in ``seen``, and from plain values of the type. The result is empty if no value can be
    found for a required argument.
    """
    tool = inlined(tool)
    values = {one.name: _values_of(one, tool, seen) for one in tool.parameters}
    required = [one.name for one in tool.parameters if one.required]
    if not all(values[name] for name in required):
        return ()
    first = {name: values[name][0] for name in required}
    calls: dict[str, JsonObject] = {}
    validator = validator_of(tool.schema)
    for arguments in _variations(first, values):
        if takes(validator, arguments):
            calls.setdefault(canonical_json(arguments), arguments)
    return tuple(islice(calls.values(), most))


def is_guess(tool: Tool, arguments: JsonObject) -> bool:
    """Whether a written call contains a text without any sign that the tool accepts it."""
    return not _guesses(tool).isdisjoint(map(str, arguments.values()))


def open_arguments(tool: Tool) -> tuple[str, ...]:
    """The required arguments for which ``written_calls`` has no value, or only texts without any
    sign that the tool accepts them.
    """
    tool, seen = inlined(tool), SeenValues()
    required = (one for one in tool.parameters if one.required)
    return tuple(
        one.name
        for one in required
        if _guesses(tool).issuperset(map(str, _values_of(one, tool, seen)))
    )


class _CallsForm(prompts.AnswerForm[Tool]):
    """An answer, before the values are read."""

    calls: list[Annotated[str, prompts.up_to(_LONGEST_CALL)]]

    def ledger_answer(self, item: Tool) -> JsonObject:
        """The arguments of the calls that the tool's schema accepts, and the number of the
        others.
        """
        accepted = [call for text in self.calls if (call := _completed(item, text)) is not None]
        return {"calls": accepted[:_MOST_BY_MODEL], "dropped": len(self.calls) - len(accepted)}


CALLS_TASK: prompts.PromptTask[Tool] = prompts.PromptTask(
    name="calls",
    batch=4,
    system=_SYSTEM,
    reply_name="calls",
    form=_CallsForm,
    answer_tokens=400,
    hashes=lambda tool: [tool.content_hash],
    show=prompts.numbered(_show),
)
"""An answer is ``{"calls": [arguments…], "dropped": number}``; the schema refused those dropped."""


def calls_of_model(tools: Sequence[Tool], asker: Asker) -> dict[str, JsonObject]:
    """The answers about those of the tools that have ``open_arguments``, by the tool's id. The
    model gives values only to these arguments.
    """
    open_tools = [tool for tool in {one.id: one for one in tools}.values() if open_arguments(tool)]
    answers = zip(open_tools, asker(CALLS_TASK, open_tools), strict=True)
    return {tool.id: one.value for tool, one in answers if one and one.value}


def _completed(tool: Tool, text: str) -> JsonObject | None:
    """A call with the values in a model's text, and with written values for the other required
    arguments; ``None`` if the tool's schema does not accept it.
    """
    try:
        given = load(text)
    except ValueError:
        return None
    names = open_arguments(tool)
    if not isinstance(given, dict) or given.keys() != {*names}:
        return None
    whole, seen = inlined(tool), SeenValues()
    rest = [one for one in whole.parameters if one.required and one.name not in names]
    call = {**{one.name: _values_of(one, whole, seen)[0] for one in rest}, **given}
    return call if takes(validator_of(whole.schema), call) else None


def _guesses(tool: Tool) -> set[str]:
    return {*read_tool(tool).objects, _TEXT}


def _variations(
    first: Mapping[str, Any], values: Mapping[str, Sequence[Any]]
) -> Iterator[dict[str, Any]]:
    """The first arguments, then variations in which one argument, in turn, has another value."""
    yield dict(first)
    for place in range(_MOST_VALUES + 1):
        for name, own in values.items():
            at = place + 1 if name in first else place
            if at < len(own):
                yield {**first, name: own[at]}
        if place == 1:  # all arguments together
            yield {name: own[min(1, len(own) - 1)] for name, own in values.items() if own}


def _values_of(parameter: Parameter, tool: Tool, seen: SeenValues, depth: int = 0) -> list[Any]:
    """Distinct values for a parameter, those most likely to be accepted first."""
    validator = validator_of(parameter.schema)
    every = {canonical_json(one): one for one in _candidates(parameter, tool, seen, depth)}
    return [one for one in every.values() if takes(validator, one)][:_MOST_VALUES]


def _candidates(parameter: Parameter, tool: Tool, seen: SeenValues, depth: int) -> Iterator[Any]:
    """Values from the schema, from results, and plain values of the type."""
    schema = parameter.schema
    if "const" in schema or parameter.enum:
        yield from (schema["const"],) if "const" in schema else parameter.enum
        return
    yield from seen.of(parameter)
    examples = schema.get("examples")
    yield from examples if isinstance(examples, list) else ()
    yield from (schema[key] for key in ("example", "default") if schema.get(key) not in (None, ""))
    for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(option, Mapping) and depth < _DEEPEST:
            part = {"description": parameter.description, **option}
            yield from _candidates(Parameter(parameter.name, True, part), tool, seen, depth + 1)
    for kind in parameter.type.split("|"):
        if kind in ("string", "any"):
            yield from _texts(parameter, tool)
        elif kind in ("array", "object"):
            yield from _containers(kind, parameter, tool, seen, depth)
        elif kind == "boolean":
            yield from (True, False)
        else:
            limits = [schema.get("minimum"), schema.get("maximum")]
            small = (one for one in limits if isinstance(one, int | float) and abs(one) < _SMALL)
            yield from (*_NUMBERS, *small, *((2.5, 37.25) if kind == "number" else ()))


def _texts(parameter: Parameter, tool: Tool) -> Iterator[str]:
    """Examples in the parameter's description, values of its format, or names of the tool's
    objects.
    """
    yield from examples_of(with_all_words(parameter).description)
    if "format" in parameter.schema:
        yield from _OF_FORMATS.get(str(parameter.schema["format"]), ())
    else:
        yield from (*read_tool(tool).objects, _TEXT)


def _containers(
    kind: str, parameter: Parameter, tool: Tool, seen: SeenValues, depth: int
) -> Iterator[Any]:
    """A list of several values, then a list of one value; or an object with its required fields."""
    if depth >= _DEEPEST:
        return
    if kind == "object":
        parts = [one for one in replace(tool, schema=parameter.schema).parameters if one.required]
        values = {one.name: _values_of(one, tool, seen, depth + 1)[:1] for one in parts}
        yield {name: own[0] for name, own in values.items() if own}
        return
    items = parameter.schema.get("items")
    part = {"description": parameter.description, **(items if isinstance(items, dict) else {})}
    inner = _values_of(Parameter(parameter.name, True, part), tool, seen, depth + 1)
    yield from (inner, inner[:1])

"""Random tools whose schemas and values are known to belong together."""

from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from toolscope_core.model.tool import Tool

WORDS = ("city", "path", "query", "limit", "start_date", "end_date", "user_id", "text", "unit")

TEXT = st.text("abcxyz ", max_size=6)
SCHEMAS = st.one_of(
    st.builds(lambda n: {"type": "string", "maxLength": n}, st.integers(0, 9)),
    st.just({"type": "string"}),
    st.builds(
        lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more},
        st.integers(-5, 5),
        st.integers(0, 9),
    ),
    st.just({"type": "number"}),
    st.just({"type": "boolean"}),
    st.just({"type": ["string", "null"]}),
    st.builds(
        lambda values: {"type": "string", "enum": sorted(values)},
        st.sets(st.sampled_from(["Red", "red", "GREEN", "green", "blue"]), min_size=1),
    ),
    st.builds(lambda item: {"type": "array", "items": item}, st.just({"type": "string"})),
    st.just({}),
)


@st.composite
def tools(draw, tool_id="t", names=("get_weather", "fetch_weather", "list_files", "send_mail")):
    """A tool with up to four parameters; ``None`` for a schema now and then."""
    if draw(st.integers(0, 9)) == 0:
        return Tool(tool_id, draw(st.sampled_from(names)), "Does something.")
    chosen = draw(st.lists(st.sampled_from(WORDS), max_size=4, unique=True))
    properties = {name: draw(SCHEMAS) for name in chosen}
    required = [name for name in chosen if draw(st.booleans())]
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(tool_id, draw(st.sampled_from(names)), "Does something.", schema=schema)


ALSO = {"path": "file_path", "query": "q", "user_id": "userId", "start_date": "startDate"}


@st.composite
def like_tools(draw, one, tool_id="w"):
    """A tool that may take every call of ``one``: each parameter under its name or a like one,
    bounds kept, moved or dropped, and now and then another parameter.
    """
    properties, required = {}, []
    for parameter in one.parameters:
        name = draw(st.sampled_from([parameter.name, ALSO.get(parameter.name, parameter.name)]))
        bounds = {key: at for key, at in parameter.schema.items() if key.startswith("m")}
        moved = {key: max(at + draw(st.integers(-4, 4)), 0) for key, at in bounds.items()}
        rest = {key: at for key, at in parameter.schema.items() if key not in bounds}
        properties[name] = rest | draw(st.sampled_from([{}, bounds, moved]))
        if parameter.required and draw(st.booleans()):
            required.append(name)
    properties |= draw(st.just({}) | st.builds(lambda schema: {"beside": schema}, SCHEMAS))
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(tool_id, one.name, one.description, schema=schema)


def values(schema):
    """Values valid under one of ``SCHEMAS``."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "string":
        return st.text("abc", max_size=schema.get("maxLength", 4))
    if kind == "integer":
        return st.integers(schema.get("minimum"), schema.get("maximum"))
    simple = {
        "number": st.floats(-9, 9) | st.integers(-9, 9),
        "boolean": st.booleans(),
        "array": st.lists(st.text("abc", max_size=3), max_size=3),
    }
    if isinstance(kind, list):
        return st.none() | st.text("abc", max_size=3)
    return simple.get(kind, st.none() | st.booleans() | st.text("abc", max_size=3))


@st.composite
def calls(draw, tool):
    """Arguments of a valid call to ``tool``."""
    return {
        parameter.name: draw(values(parameter.schema))
        for parameter in tool.parameters
        if parameter.required or draw(st.booleans())
    }


def conforming(schema):
    """Values valid under any schema of a real catalog: from the keywords, then sifted."""
    check = Draft202012Validator(schema, registry=Registry())
    return _likely(schema).filter(check.is_valid)


def _likely(schema):
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return st.one_of([_likely(option) for option in options])
    kind = schema.get("type", ["string", "null"])
    if isinstance(kind, list):
        return st.one_of([_likely({**schema, "type": one}) for one in kind])
    return _OF_TYPE[kind](schema)


def _object(schema):
    needed = set(schema.get("required", ()))
    every = {name: _likely(sub) for name, sub in (schema.get("properties") or {}).items()}
    return st.fixed_dictionaries(
        {name: every.get(name, st.none()) for name in needed},
        optional={name: values for name, values in every.items() if name not in needed},
    )


def _array(schema):
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    high = max(low, 2) if high is None else min(high, max(low, 2))
    return st.lists(_likely(schema.get("items") or {}), min_size=low, max_size=high)


def _string(schema):
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True)
    low = schema.get("minLength", 0)
    return st.text("abc-1", min_size=low, max_size=min(low + 4, schema.get("maxLength", low + 4)))


def _number(schema, numbers):
    low, high = schema.get("minimum", -99), schema.get("maximum", 99)
    return numbers(low, max(low, high))


_OF_TYPE = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": lambda schema: _number(schema, st.integers),
    "number": lambda schema: _number(schema, st.floats),
    "boolean": lambda _: st.booleans(),
    "null": lambda _: st.none(),
}

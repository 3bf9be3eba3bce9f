"""What one schema accepts of another: by hand, and against jsonschema-rs on drawn changes."""

import json
import os
import random

import pytest
from jsonschema_rs import Draft202012Validator

from toolscope_core.check.accepted_values import takes_all

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
TREE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}, "v": TEXT}}


def tree(name, **more):
    text = json.dumps({"properties": {"n": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": TREE}})
    schema = json.loads(text.replace("tree", name))
    schema["$defs"][name]["properties"] |= more
    return schema


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, {"title": "A", "x-own": 1, "contentEncoding": "base64"}),
        ({"type": ["string", "null"]}, {"oneOf": [TEXT, {"type": "null"}]}),
        ({"enum": ["a", "b"]}, {"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
        ({"type": "array"}, {"type": "array", "minItems": 0, "uniqueItems": False, "items": {}}),
        (TEXT, {**TEXT, "minLength": 0, "pattern": ""}),
        (WHOLE, {**WHOLE, "multipleOf": 1}),
        ({**WHOLE, "minimum": 1}, {**WHOLE, "exclusiveMinimum": 0}),
        ({**WHOLE, "minimum": 1, "maximum": 3}, {"enum": [1, 2, 3]}),
        ({"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}),
        ({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"required": ["b", "a"]}),
        ({"type": "boolean"}, {"enum": [True, False]}),
        (tree("one"), tree("other")),
        ({"$defs": {"a": TEXT}, "items": {"$ref": "#/$defs/a"}}, {"items": TEXT}),
        (
            {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
            {"dependentRequired": {"a": ["b"]}},
        ),
    ],
)
def test_the_same_in_other_words(one, other):
    assert takes_all(one, other) and takes_all(other, one)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ({}, TEXT),
        ({"type": "number"}, WHOLE),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"type": "object", "required": ["a"]}),
        (tree("one"), tree("other", v={"enum": ["x"]})),
        ({"not": TEXT}, WHOLE),
        ({"oneOf": [{**TEXT, "maxLength": 5}, WHOLE]}, {**TEXT, "maxLength": 3}),
    ],
)  # fmt: skip
def test_one_takes_more_than_the_other(wide, narrow):
    assert takes_all(wide, narrow) and not takes_all(narrow, wide)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ({"enum": [1]}, {"enum": [True]}),
        ({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b"]}]}, {"enum": ["a", "b"]}),
        ({"oneOf": [WHOLE, {"type": "number"}]}, {"type": "number"}),
        ({"properties": {"$ref": TEXT}}, {"properties": {"$ref": WHOLE}, "required": ["$ref"]}),
        ({"$ref": "#/$defs/gone"}, TEXT),
        (TEXT, {"type": "file"}),
        (False, {}),
    ],
)
def test_what_is_not_shown_is_a_doubt(wide, narrow):
    assert not takes_all(wide, narrow)


def test_values_that_are_no_list_are_a_doubt():
    assert not takes_all(TEXT, {"type": "null", "enum": None})


def test_a_closed_comparison_counts_only_what_is_declared():
    old, new = {"properties": {"a": TEXT}}, {"properties": {"a": TEXT, "b": WHOLE}}
    assert takes_all(new, old, is_closed=True) and not takes_all(new, old)
    free = {"properties": {"a": {"type": "object"}}}
    assert not takes_all({"properties": {"a": {"maxProperties": 1}}}, free, is_closed=True)


def test_a_branch_may_require_a_name_without_which_two_branches_overlap():
    first, second = ({"type": "object", "properties": {"kind": {"const": c}}} for c in "ab")
    old, new = {"oneOf": [first, second]}, {"oneOf": [{**first, "required": ["kind"]}, second]}
    assert takes_all(new, old) and not takes_all(old, new)
    free = {"type": "object", "properties": {"other": TEXT}}
    old, new = {"oneOf": [free, second]}, {"oneOf": [{**free, "required": ["other"]}, second]}
    assert not takes_all(new, old)  # {"kind": "a"}


def branching(leaf, levels, width):
    """A chain of objects, each with several needed properties of the next kind."""
    names = [f"p{at}" for at in range(width)]
    kinds = {
        f"t{level}": {
            "type": "object",
            "properties": {name: {"$ref": f"#/$defs/t{level + 1}"} for name in names},
            "required": names,
        }
        for level in range(levels)
    }
    return {"$ref": "#/$defs/t0", "$defs": {**kinds, f"t{levels}": leaf}}


def test_what_grows_when_it_is_followed_comes_to_an_end():
    again = {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}
    old = {"type": "object", "properties": {"x": again, "v": TEXT}, "required": ["x"]}
    new = {**old, "properties": {"x": again, "v": {}}}
    assert takes_all(new, old)
    assert not takes_all(branching(WHOLE, 14, 4), branching(TEXT, 14, 4))
    assert takes_all({}, branching(TEXT, 14, 4)) and not takes_all(TEXT, branching(TEXT, 14, 4))


SCALARS = (
    lambda r: {**TEXT, **some(r, minLength=(0, 2), maxLength=(2, 4))},
    lambda r: {"enum": sorted(r.sample(["a", "b", "ccc"], r.randint(1, 3)))},
    lambda r: {"const": r.choice(["a", 1, None])},
    lambda r: {
        "type": r.choice(["integer", "number"]),
        **some(r, minimum=(0, 2), exclusiveMinimum=(0, 1), maximum=(2, 5), multipleOf=(1, 2)),
    },
    lambda r: {"type": r.choice(["boolean", "null", ["string", "null"], ["integer", "boolean"]])},
    lambda r: {},
)  # fmt: skip


def some(draw, **ranges):
    return {key: draw.randint(*ends) for key, ends in ranges.items() if draw.random() < 0.4}


def schema(draw, depth=2):
    """A schema, drawn from all kinds that tools have."""
    kind = draw.random() if depth else 0
    if kind < 0.4:
        return draw.choice(SCALARS)(draw)
    inner = [schema(draw, depth - 1) for _ in range(3)]
    if kind < 0.7:
        names = draw.sample("abc", draw.randint(1, 3))
        more = {"additionalProperties": draw.choice([False, {}])} if draw.random() < 0.4 else {}
        needed = [name for name in names if draw.random() < 0.4]
        named = dict(zip(names, inner, strict=False))
        return {"type": "object", "properties": named, "required": needed, **more}
    if kind < 0.85:
        sizes = some(draw, minItems=(0, 1), maxItems=(1, 3))
        return {"type": "array", "items": inner[0], "uniqueItems": draw.random() < 0.3, **sizes}
    return {draw.choice(["anyOf", "oneOf", "allOf"]): inner[:2]}


def neighbour(draw, one):
    """The schema with one thing changed somewhere, or said in other words."""
    if not isinstance(one, dict) or not one:
        return schema(draw, 1)
    choice = draw.random()
    if choice < 0.15:
        return {draw.choice(["anyOf", "allOf", "oneOf"]): [one]}
    if choice < 0.25:
        return {"anyOf": [one, schema(draw, 0)]}
    key = draw.choice(sorted(one))
    value, rest = one[key], {name: sub for name, sub in one.items() if name != key}
    if key == "properties":
        name = draw.choice(sorted(value))
        return {**one, key: {**value, name: neighbour(draw, value[name])}}
    if key == "required":
        return {**one, key: sorted({*value} ^ {draw.choice(sorted(one["properties"]))})}
    if key == "items":
        return {**one, key: neighbour(draw, value)}
    if isinstance(value, int):
        least = 1 if key == "multipleOf" else 0
        moved = max(value + draw.choice([-1, 1]), least)
        return {**one, key: not value if isinstance(value, bool) else moved}
    if key in ("anyOf", "oneOf", "allOf"):
        return {**one, key: [neighbour(draw, value[0]), *value[1:]]}
    if key == "enum" and draw.random() < 0.5:
        return {"anyOf": [{"const": item} for item in value]}
    return rest


def instances(draw, one, depth=3):
    """Values near a schema: most of them valid, some just not."""
    plain = [None, True, 0, 1, 2, 3, 4, 5, 7, 1.5, -1, "", "a", "b", "cc", "ccc", "dddd", [], {}]
    if not isinstance(one, dict) or not depth or draw.random() < 0.15:
        return draw.choice([*plain, ["a"], ["a", "a"], {"a": "a"}, {"b": 1}])
    for key in ("anyOf", "oneOf", "allOf"):
        if one.get(key):
            return instances(draw, draw.choice(one[key]), depth - 1)
    if "properties" in one:
        needed = one.get("required", ())
        return {
            name: instances(draw, sub, depth - 1)
            for name, sub in one["properties"].items()
            if name in needed or draw.random() < 0.5
        }
    if "items" in one:
        items = [instances(draw, one["items"], depth - 1) for _ in range(draw.randint(0, 3))]
        return items * 2 if draw.random() < 0.2 else items
    return draw.choice(one["enum"]) if one.get("enum") else draw.choice(plain)


def witness(draw, wide, narrow, tries):
    """A value that ``narrow`` accepts and ``wide`` does not, in a list, if one is drawn."""
    accepts, refuses = Draft202012Validator(narrow).is_valid, Draft202012Validator(wide).is_valid
    drawn = (instances(draw, draw.choice([narrow, narrow, wide])) for _ in range(tries))
    return next(([value] for value in drawn if accepts(value) and not refuses(value)), None)


def test_drawn_changes_are_judged_as_the_oracle_judges_them():
    """A miss is a proof that is wrong, and no doubt may stay where no value speaks against it."""
    count = int(os.environ.get("DRAWN_CHANGES", "150"))
    misses, doubts = [], []
    for seed in range(count):
        draw = random.Random(seed)
        old = schema(draw)
        new = neighbour(draw, old)
        shown = takes_all(new, old)
        against = witness(draw, new, old, 60 if shown else 4000)
        if shown and against is not None:
            misses.append((seed, old, new, against))
        if not shown and against is None:
            doubts.append((seed, old, new))
    assert (misses, doubts) == ([], [])

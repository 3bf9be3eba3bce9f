"""Mutated files over every reader: only ``CatalogError``, every record accounted for.

Half of the files are damaged as bytes, half in a value of theirs.
"""

import copy
import json
import random
import re

import pytest

from tests.support.catalogs import DATA
from toolscope_core.catalog.formats.format_table import INPUTS
from toolscope_core.catalog.readers import read_catalog, read_contents
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.values import Record, read_values
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import canonical_json

GOLD = re.compile("alignment", re.IGNORECASE)  # argument maps, not a catalog
SEEDS = sorted(
    (path.name, path.read_bytes())
    for path in DATA.rglob("*.*")
    if path.is_file() and not GOLD.match(path.name)
)
SPLICES = (
    b"null", b"true", b"[]", b"{}", b'""', b"-1", b"1e999", b"NaN", b"\x00", b"\xff", b"\\ud800",
    b"\xe2\x80\xa8", b'"',
    b"{", b"}", b"[", b"]", b",", b":", b"\n", b"&a ", b"*a", b"<<: ", b"- ",
    b'"$ref": "#"', b'"$ref": "#/paths"', b'"allOf": [{}]', b'"type": "object"', b'"tools"',
    b"!!x ",
    b'"properties": 5', b'"name"', b'"parameters"', b'"required": true', b'"server"', b'"in"',
)  # fmt: skip


def mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((0, 1, 1, 4, 20)))
        kind = rng.randrange(4)
        if kind == 0:
            data[start:end] = rng.choice(SPLICES)
        elif kind == 1:
            del data[start:end]
        elif kind == 2:
            data[start:end] = bytes(rng.randrange(256) for _ in range(end - start))
        else:
            data[start:start] = data[start : start + 60]
    return bytes(data)


VALUES = (
    None, True, 0, -1.5, 10**400, "", " ", "a", "#", "\u2028", "\ud800", [], {}, [1], ["a", "a"],
    {"": {}}, {"$ref": "#"}, {"$ref": "#/paths"}, {"$ref": 5}, {"allOf": [{"$ref": "#"}]},
    {"type": "object"}, {"type": ["x", 1]}, {"name": "b"}, [{"name": "c"}], {"tools": {"a": {}}},
    {"properties": []}, {"properties": {"a": "int"}, "required": "a"}, {"schema": {"oneOf": 1}},
)  # fmt: skip


def bent(value, rng):
    """The value with one to three of its places holding something else."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        holder, key = None, None
        at = value
        while isinstance(at, (dict, list)) and at and (holder is None or rng.random() < 0.9):
            holder, key = at, rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
            at = at[key]
        if holder is not None and rng.random() < 0.8:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        elif isinstance(holder, dict):
            holder[rng.choice(NAMES)] = holder.pop(key)
    return json.dumps(value).encode()


NAMES = (
    "name tools id server parameters inputSchema function arguments required type $ref allOf paths "
    "openapi mcpServers servers result functionDeclarations annotations requestBody items nullable"
).split()


def values_of(label, data):
    items, _ = read_values(Source(label, data))
    return [item.value for item in items if isinstance(item, Record)]


TREES = [tree for label, data in SEEDS for tree in values_of(label, data)]


@pytest.mark.case(31)
@pytest.mark.parametrize(
    ("count", "seed"), [(1_500, 31), pytest.param(40_000, None, marks=pytest.mark.nightly)]
)
def test_mutated_files_are_read_or_refused_and_every_record_is_accounted_for(count, seed):
    rng = random.Random(seed)
    read = refused = 0
    for number in range(count):
        label, data = SEEDS[number // 2 % len(SEEDS)]
        if number % 2:
            label, data = "x.json", bent(TREES[number // 2 % len(TREES)], rng)
        else:
            data = mutated(data, rng)
        source = Source(label, data, rng.choice((None, None, None, None, None, *INPUTS)))
        try:
            catalog = read_catalog([source])
        except CatalogError as error:
            assert str(error)
            refused += 1
            continue
        except Exception as error:
            raise AssertionError((label, source.format, source.data)) from error
        (part,) = read_contents([source], None, lambda label: None)
        assert len(catalog.tools) + len(catalog.problems) == len(part.items)
        for tool in catalog.tools:
            canonical_json(tool.raw).encode()
            canonical_json([tool.schema, tool.returns]).encode()
        read += 1
    assert read > count / 5
    assert refused > count / 10

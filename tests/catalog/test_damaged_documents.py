"""A damaged document crashes and hangs no reader, and loses no tool without a word.

Documents of every kind that is read (``tests.support.documents``) are damaged one to six times:
other values, keys dropped, doubled, renamed, parts wrapped, moved and nested, references turned into
circles, text cut and spliced. Each is read as the program reads, in a process with limits.
"""

import copy
import time
from dataclasses import replace
from random import Random

import pytest

from tests.support.catalogs import DATA
from tests.support.documents import AGAIN, KINDS, Document, Grammar, vanished
from toolscope_core.catalog.formats.format_table import INPUTS
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.readers import read_catalog, read_contents
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.values import Record, read_values
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import canonical_json

FAILURES = ("report it to us", "to be read (", "ended the process")
"""What is said of a reading that failed by our fault, reached a limit, or ended its process."""
SECONDS = 10.0
SAID = 0.1
"""The share of documents of which somebody says the format, any of them."""

KEYS = (
    "name description parameters inputSchema type function arguments required properties items "
    "$ref allOf anyOf $defs annotations id server servers mcpServers mcp command tools functions "
    "apis data records result functionDeclarations function_declarations nextCursor openapi paths "
    "get GET query additionalOperations webhooks components operationId requestBody x-more payload"
).split()
ODD = (
    "",
    " ",
    "\u0000",
    "\u2028",
    "\ufeff",
    "\ud800",
    "\u202e",
    "\U000e0041",
    "e\u0301" * 9,
    "=1+1",
)
VALUES = (
    None, True, 0, -1.5, 10**40, 10**4000, 5e-324, float("nan"), float("inf"), *ODD, "a" * 2000,
    [], {}, [[]], [{}], [None], {"": {}}, {"$ref": "#"}, {"$ref": "#/paths"}, {"$ref": 5},
    {"$ref": "#/components/schemas/Ring"}, {"$ref": "https://example.com/x"},
    {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}, {"type": "object"}, {"type": ["x", 1]},
    {"properties": []}, {"name": "b"}, [{"name": "c"}], {"tools": {"a": {}}}, {"oneOf": 1},
)  # fmt: skip
SPLICES = (
    b"null", b"[]", b"{}", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b"\x00", b"\xff",
    b"NaN", b"1e999", b"9" * 5000, b"[" * 3000, b'{"a":' * 3000, b"- " * 300,
    b"&a ", b"*a", b"<<: ",
    b"&a [*a]", b"!!python/object:os.system ", b"# ", b"---\n", b"| ", b"\t", b"'", b",,,",
    b"\xe2\x80\xa8",
)  # fmt: skip


def places(value):
    """Every place of a value, from the outside in: a list or object, and an index or key of it."""
    waiting, passed = [value], []
    while waiting:
        item = waiting.pop(0)
        keys = item.keys() if isinstance(item, dict) else range(len(item))
        passed += [(item, key) for key in keys]
        waiting += [item[key] for key in keys if isinstance(item[key], (dict, list))]
    return passed


def other_value(at, rng, value):
    at[0][at[1]] = copy.deepcopy(rng.choice(VALUES))


def dropped(at, rng, value):
    del at[0][at[1]]


def doubled(at, rng, value):
    holder, key = at
    if isinstance(holder, dict):
        holder[f"{key}{AGAIN}"] = copy.deepcopy(holder[key])
    else:
        holder.insert(key, holder[key])


def renamed(at, rng, value):
    holder, key = at
    if isinstance(holder, dict):
        moved = holder.pop(key)
        holder[rng.choice((*KEYS, *ODD))] = moved


def wrapped(at, rng, value):
    holder, key = at
    inner = holder[key]
    holder[key] = rng.choice(([inner], {rng.choice(KEYS): inner}, {rng.choice(KEYS): [inner]}))


def nested(at, rng, value):
    holder, key = at
    for _ in range(rng.choice((3, 18, 25, 90, 150))):
        holder[key] = rng.choice(([holder[key]], {rng.choice(KEYS): holder[key]}))


def moved(at, rng, value):
    """A copy of something else of the document comes in, or takes the place."""
    holder, key = rng.choice(places(value))
    part = copy.deepcopy(holder[key])
    if isinstance(at[0], dict):
        at[0][rng.choice((at[1], *KEYS))] = part
    else:
        at[0].insert(at[1], part)


def oddly_spelled(at, rng, value):
    holder, key = at
    if isinstance(holder[key], str):
        cut = rng.randrange(len(holder[key]) + 1)
        holder[key] = f"{holder[key][:cut]}{rng.choice(ODD)}{holder[key][cut:]}"


CHANGES = (
    other_value, dropped, doubled, renamed, wrapped, nested, moved, oddly_spelled,
)  # fmt: skip


def damaged(document, rng):
    """The document with one to six changes, of its value or, one time in four, of its bytes."""
    value = copy.deepcopy(document.value)
    in_bytes = rng.random() < 0.25
    for _ in range(0 if in_bytes else rng.randint(1, 6)):
        if inside := places(value):
            rng.choice(CHANGES)(rng.choice(inside), rng, value)
    try:
        source = Document(document.syntax, value).source
    except (ValueError, TypeError, AttributeError, RecursionError):
        source = document.source  # a table with a row that is none, a circle: cannot be written
    return Source(source.label, spliced(source.data, rng)) if in_bytes else source


def spliced(data, rng):
    text = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 1, 4, 20)))
        text[start:end] = rng.choice((b"", *SPLICES, bytes(text[start : start + 60])))
    return bytes(text[: rng.randrange(len(text) + 1)] if rng.random() < 0.2 else text)


def sources(count, seed):
    """As many damaged documents, kind by kind; each depends on the seed and its number alone."""
    for number in range(count):
        rng = Random(f"{seed}/{number}")
        document = KINDS[number % len(KINDS)](Grammar(rng))
        format = rng.choice(INPUTS) if rng.random() < SAID else None
        yield replace(damaged(document, rng), format=format)


def failure(source):
    """What went wrong in a reading: empty for a catalog without loss, and for a refusal."""
    start = time.monotonic()
    try:
        catalog = read_isolated([source])
    except CatalogError as error:
        return str(error) if any(words in str(error) for words in FAILURES) else ""
    seconds = time.monotonic() - start
    if seconds > SECONDS:
        return f"it takes {seconds:.0f} s"
    return ", ".join(vanished(source, catalog))


@pytest.mark.parametrize(
    ("count", "seed"), [(16, 3), pytest.param(5_000, 1, marks=pytest.mark.nightly)]
)
@pytest.mark.timeout(1800)
def test_no_damaged_document_crashes_hangs_or_loses_a_tool(count, seed):
    outcomes = ((failure(source), source) for source in sources(count, seed))
    assert [(outcome, source) for outcome, source in outcomes if outcome] == []


FILES = sorted(
    (path.name, path.read_bytes())
    for path in DATA.rglob("*.*")
    if path.is_file() and not path.name.lower().startswith("alignment")
)
VALUES_OF_FILES = [
    item.value
    for label, data in FILES
    for item in read_values(Source(label, data))[0]
    if isinstance(item, Record)
]


@pytest.mark.case(31)
@pytest.mark.parametrize(
    ("count", "seed"), [(1_500, 31), pytest.param(40_000, None, marks=pytest.mark.nightly)]
)
def test_damaged_files_are_read_or_refused_and_every_record_is_accounted_for(count, seed):
    """Half of the files are damaged as bytes, half in a value of theirs."""
    rng, read, refused = Random(seed), 0, 0
    for number in range(count):
        if number % 2:
            value = VALUES_OF_FILES[number // 2 % len(VALUES_OF_FILES)]
            source = damaged(Document("json", value), rng)
        else:
            label, data = FILES[number // 2 % len(FILES)]
            source = Source(label, spliced(data, rng))
        source = replace(source, format=rng.choice((None, None, None, None, None, *INPUTS)))
        try:
            catalog = read_catalog([source])
        except CatalogError as error:
            assert str(error)
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(source) from error
        (part,) = read_contents([source], None, lambda label: None)
        assert len(catalog.tools) + len(catalog.problems) == len(part.items)
        for tool in catalog.tools:
            canonical_json([tool.raw, tool.schema, tool.returns]).encode()
        read += 1
    assert read > count / 8
    assert refused > count / 10

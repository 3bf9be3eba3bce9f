"""Whether a damaged document can crash or hang the readers, or lose a tool without a word.

Documents of every kind that is read (``benchmarks.documents``) are damaged one to six times: other
values, keys dropped, doubled, renamed, parts wrapped, moved and nested, references turned into
circles, text cut and spliced. Each is read as the program reads, in a process with limits. A crash
is a reading that failed by our fault, reached a limit, ended its process or took 10 s; a tool has
vanished if it is neither a tool nor in a problem. Exit status 1 if there is any.

    python -m benchmarks.mutated_documents [--documents 5000] [--seed 1]
"""

import copy
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from benchmarks.documents import AGAIN, KINDS, Document, Grammar, vanished
from benchmarks.measuring import parser_of, print_machine
from toolscope_core.catalog.formats.format_table import INPUTS
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import Source
from toolscope_core.model.errors import CatalogError

DOCUMENTS, SEED, LIMIT = 5_000, 1, 10.0
CRASHES = ("report it to us", "to be read (", "ended the process")
"""What is said of a reading that failed by our fault, reached a limit, or ended its process."""
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
VALUES: tuple[Any, ...] = (
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

Place = tuple[Any, Any]
"""A list or object inside a value, and an index or key of it."""


def places(value: Any) -> list[Place]:
    """Every place of a value, from the outside in."""
    waiting, passed = [value], []
    while waiting:
        item = waiting.pop(0)
        keys = item.keys() if isinstance(item, dict) else range(len(item))
        passed += [(item, key) for key in keys]
        waiting += [item[key] for key in keys if isinstance(item[key], (dict, list))]
    return passed


def other_value(at: Place, rng: Random, value: Any) -> None:
    at[0][at[1]] = copy.deepcopy(rng.choice(VALUES))


def dropped(at: Place, rng: Random, value: Any) -> None:
    del at[0][at[1]]


def doubled(at: Place, rng: Random, value: Any) -> None:
    holder, key = at
    if isinstance(holder, dict):
        holder[f"{key}{AGAIN}"] = copy.deepcopy(holder[key])
    else:
        holder.insert(key, holder[key])


def renamed(at: Place, rng: Random, value: Any) -> None:
    holder, key = at
    if isinstance(holder, dict):
        moved = holder.pop(key)
        holder[rng.choice((*KEYS, *ODD))] = moved


def wrapped(at: Place, rng: Random, value: Any) -> None:
    holder, key = at
    inner = holder[key]
    holder[key] = rng.choice(([inner], {rng.choice(KEYS): inner}, {rng.choice(KEYS): [inner]}))


def nested(at: Place, rng: Random, value: Any) -> None:
    holder, key = at
    for _ in range(rng.choice((3, 18, 25, 90, 150))):
        holder[key] = rng.choice(([holder[key]], {rng.choice(KEYS): holder[key]}))


def moved(at: Place, rng: Random, value: Any) -> None:
    """A copy of something else of the document comes in, or takes the place."""
    holder, key = rng.choice(places(value))
    part = copy.deepcopy(holder[key])
    if isinstance(at[0], dict):
        at[0][rng.choice((at[1], *KEYS))] = part
    else:
        at[0].insert(at[1], part)


def oddly_spelled(at: Place, rng: Random, value: Any) -> None:
    holder, key = at
    if isinstance(holder[key], str):
        cut = rng.randrange(len(holder[key]) + 1)
        holder[key] = f"{holder[key][:cut]}{rng.choice(ODD)}{holder[key][cut:]}"


CHANGES: tuple[Callable[[Place, Random, Any], None], ...] = (
    other_value, dropped, doubled, renamed, wrapped, nested, moved, oddly_spelled,
)  # fmt: skip


def damaged(document: Document, rng: Random) -> Source:
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


def spliced(data: bytes, rng: Random) -> bytes:
    text = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 1, 4, 20)))
        text[start:end] = rng.choice((b"", *SPLICES, bytes(text[start : start + 60])))
    return bytes(text[: rng.randrange(len(text) + 1)] if rng.random() < 0.2 else text)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a document was read: its tools or that it is refused, how it crashed, and which tools
    vanished.
    """

    tools: int = 0
    refused: bool = False
    crash: str = ""
    vanished: tuple[str, ...] = ()


def read(source: Source) -> Reading:
    """The outcome of a reading in a process with limits, as the program reads."""
    start = time.monotonic()
    try:
        catalog = read_isolated([source])
    except CatalogError as error:
        reason = str(error)
        return Reading(refused=True, crash=reason if any(map(reason.count, CRASHES)) else "")
    if (seconds := time.monotonic() - start) > LIMIT:
        return Reading(crash=f"it takes {seconds:.0f} s")
    return Reading(len(catalog.tools), vanished=tuple(vanished(source, catalog)))


def sources(count: int, seed: int) -> Iterator[Source]:
    """As many damaged documents, kind by kind; each depends on the seed and its number alone."""
    for number in range(count):
        rng = Random(f"{seed}/{number}")
        document = KINDS[number % len(KINDS)](Grammar(rng))
        format = rng.choice(INPUTS) if rng.random() < SAID else None
        yield replace(damaged(document, rng), format=format)


def measure(count: int, seed: int) -> list[tuple[str, Reading]]:
    """The syntax of each document and how it was read; failures are printed as they come."""
    readings = []
    for number, source in enumerate(sources(count, seed)):
        reading = read(source)
        readings.append((source.label.partition(".")[2], reading))
        if reading.crash or reading.vanished:
            print(f"document {number} ({source.format}): {reading}\n  {source.data!r}")
    return readings


COLUMNS: dict[str, Callable[[Reading], int]] = {
    "documents": lambda reading: 1,
    "tools": lambda reading: reading.tools,
    "refused": lambda reading: reading.refused and not reading.crash,
    "crashes": lambda reading: bool(reading.crash),
    "vanished": lambda reading: len(reading.vanished),
}


def table(readings: Sequence[tuple[str, Reading]]) -> str:
    """Counts of documents, a row for each syntax and one for all."""
    rows = [f"{'':<8}{''.join(f'{head:>11}' for head in COLUMNS)}"]
    for name in (*sorted({syntax for syntax, _ in readings}), "all"):
        own = [reading for syntax, reading in readings if name in (syntax, "all")]
        counts = (sum(map(count, own)) for count in COLUMNS.values())
        rows.append(f"{name:<8}{''.join(f'{count:>11,}' for count in counts)}")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    print_machine()
    print(f"n = {options.documents:,} documents, seed {options.seed}")
    readings = measure(options.documents, options.seed)
    print(table(readings))
    print("expected: 0 crashes, 0 vanished")
    return int(any(reading.crash or reading.vanished for _, reading in readings))


if __name__ == "__main__":
    sys.exit(main())

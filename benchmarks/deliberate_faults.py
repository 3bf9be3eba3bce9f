"""Whether the tests detect a fault. Faults are tried one at a time, in a copy of the checkout.

A fault is a reversed operator, a dropped rule, an index that is off by one, a wrong key, a text
that is not escaped, or a transaction that is cut in two. They are drawn at random with a seed, from
one package after the other. For each fault, the tests of the package run until the first failure.
If none fails, all tests run.

 python -m benchmarks.deliberate_faults [--faults 40] [--seed 1] [--only 3 17] [--workers 2]

The exit status is 1 if more than two faults are not detected.
"""

import ast
import copy
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random

from benchmarks.measuring import ROOT, parser_of, print_machine

MOST_SURVIVORS = 2
LONGEST_TEST = "120"
"""A test that runs longer than this many seconds counts as failed."""
SOURCES = ("toolscope_core", "ui", "pages")
OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}  # fmt: skip
ESCAPES = frozenset({"escape", "label", "literal", "printable", "quote", "plain_prompt_text"})
LEAVES = (ast.Return, ast.Continue, ast.Raise)
LEAST_RULES = 3

Change = tuple[ast.AST, ast.AST | list[ast.stmt]]
"""A node, and what replaces it."""
Kind = Callable[[ast.AST], Iterator[Change]]


def turned_operators(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[op]):
            new_node = copy.copy(node)
            new_node.ops = [OPPOSITES[type(op)]()]  # type: ignore[list-item]
            yield node, new_node
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in OPPOSITES:
            turned = copy.copy(node)
            turned.op = OPPOSITES[type(op)]()
            yield node, turned
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, operand


def dropped_rules(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If(body=[*_, last], orelse=[]) if isinstance(last, LEAVES):
            yield node.test, ast.Constant(value=False)
        case ast.BoolOp(values=values):
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield node, rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest)
        case ast.Tuple(elts=rules) | ast.List(elts=rules) if len(rules) >= LEAST_RULES:
            if all(isinstance(rule, ast.Call | ast.Lambda) for rule in rules):
                for place in range(len(rules)):
                    fewer = copy.copy(node)
                    fewer.elts = rules[:place] + rules[place + 1 :]
                    yield node, fewer


def shifted_indices(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Subscript(slice=ast.Constant(value=int() as number) as index):
            yield index, ast.Constant(value=number + 1)
        case ast.Slice(lower=lower, upper=upper):
            for bound in (lower, upper):
                if isinstance(bound, ast.Constant | ast.Name | ast.Call):
                    yield bound, ast.BinOp(bound, ast.Add(), ast.Constant(value=1))
        case ast.Call(func=ast.Name(id="range"), args=[*_, end]):
            yield end, ast.BinOp(end, ast.Sub(), ast.Constant(value=1))
        case ast.Compare(comparators=[ast.Constant(value=int() as number) as bound]) if not (
            isinstance(number, bool)
        ):
            yield bound, ast.Constant(value=number + 1)


def wrong_keys(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Subscript(value, ast.Constant(value=str() as key) as name, ast.Load()):
            if ast.unparse(value) != "Literal":
                yield name, ast.Constant(value=f"{key}_")
        case ast.Call(
            func=ast.Attribute(attr="get" | "pop"),
            args=[ast.Constant(value=str() as key) as name, *_],
        ):
            yield name, ast.Constant(value=f"{key}_")


def unescaped_texts(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[text, *_]):
            if name in ESCAPES:
                yield node, text


def cut_transactions(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.With(items=[item], body=body) if (
            ast.unparse(item).split("(")[0].endswith(".write")
        ):
            for place in range(1, len(body)):
                halves = (body[:place], body[place:])
                yield node, [ast.With([item], half, lineno=node.lineno) for half in halves]


KINDS: tuple[Kind, ...] = (
    turned_operators, dropped_rules, shifted_indices, wrong_keys, unescaped_texts, cut_transactions
)  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A file of the checkout with one fault in it."""

    kind: str
    path: Path  # relative to the checkout
    line: int
    before: str
    after: str
    source: str

    @property
    def package(self) -> str:
        """As in ``toolscope_core/judging`` for ``toolscope_core/judging/arguments/facts.py``."""
        parts = self.path.parts
        return "/".join(parts[:2] if len(parts) > 2 else parts[:1])

    def tests(self, checkout: Path) -> list[str]:
        """The tests of the file's package. If the package belongs to the screen, they are the test
        files that contain its name.
        """
        core, _, name = self.package.partition("/")
        if core == "toolscope_core":
            return [f"tests/{name or 'cli'}"]
        folders = [checkout / "tests" / one for one in ("ui", "pages")]
        files = (path for folder in folders for path in folder.rglob("test_*.py"))
        word = name or self.path.stem
        naming = [str(path) for path in sorted(files) if word in path.read_text("utf-8")]
        return naming or [*map(str, folders)]


def faults_of(path: Path) -> Iterator[Fault]:
    """Every possible fault of a file."""
    source = (ROOT / path).read_text("utf-8")
    for node in _outside_texts(ast.parse(source)):
        for kind in KINDS:
            name = kind.__name__.replace("_", " ").removesuffix("s").replace("indice", "index")
            for old, new in _inside(node, kind) if isinstance(node, ast.JoinedStr) else kind(node):
                yield _fault(name, path, source, old, new)


def _inside(text: ast.JoinedStr, kind: Kind) -> Iterator[Change]:
    """Changes to a whole f-string, because the positions inside it are unknown."""
    for part in ast.walk(text):
        for old, new in kind(part):
            new_text = copy.deepcopy(text, {id(old): old})
            yield text, _Replaced(old, new).visit(new_text)


def _outside_texts(node: ast.AST) -> Iterator[ast.AST]:
    """The node and everything below it, except what is inside f-strings."""
    yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from _outside_texts(child)


class _Replaced(ast.NodeTransformer):
    """Replaces one node in a tree."""

    def __init__(self, old: ast.AST, new: ast.AST | list[ast.stmt]) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        return self._new if node is self._old else self.generic_visit(node)


def _fault(
    kind: str, path: Path, source: str, old: ast.AST, new: ast.AST | list[ast.stmt]
) -> Fault:
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    assert isinstance(old, ast.expr | ast.stmt)
    assert old.end_lineno is not None
    assert old.end_col_offset is not None
    start = sum(map(len, lines[: old.lineno - 1])) + old.col_offset
    end = sum(map(len, lines[: old.end_lineno - 1])) + old.end_col_offset
    if isinstance(new, list):
        text = "\n".join(map(ast.unparse, new)).replace("\n", "\n" + " " * old.col_offset)
    else:
        text = f"({ast.unparse(new)})"
    source_bytes = source.encode()
    faulty_source = (source_bytes[:start] + text.encode() + source_bytes[end:]).decode()
    return Fault(kind, path, old.lineno, source_bytes[start:end].decode(), text, faulty_source)


def draw_faults(count: int, seed: int) -> list[Fault]:
    """Draw ``count`` faults, from one package after the other. For each, a kind is drawn, then a
    fault of that kind.
    """
    random = Random(seed)
    files = subprocess.check_output(["git", "ls-files", *SOURCES], cwd=ROOT, text=True).split()
    packages: defaultdict[str, defaultdict[str, list[Fault]]]
    packages = defaultdict(lambda: defaultdict(list))
    for path in map(Path, files):
        if path.suffix == ".py":
            for fault in faults_of(path):
                packages[fault.package][fault.kind].append(fault)
    order = random.sample(sorted(packages), len(packages))
    kinds = (packages[name] for name in cycle(order))
    return [random.choice(of[random.choice(sorted(of))]) for of in islice(kinds, count)]


def copy_checkout(folder: Path) -> None:
    for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(ROOT / ".venv")


def first_failure(folder: Path, workers: int, tests: list[str]) -> str | None:
    """The first test that fails, or ``None``."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-x", f"-n{workers}", "--timeout", LONGEST_TEST]
    options = [*command, "-p", "no:cacheprovider", "--no-header", "-rfE", *tests]
    run = subprocess.run(
        options, check=False, cwd=folder, env=environment, capture_output=True, text=True
    )
    if run.returncode == 0:
        return None
    failures = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failures[0][:150] if failures else (run.stdout + run.stderr)[-300:]


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, nargs="*", default=[], metavar="NUMBER")
    options = parser.parse_args()
    print_machine(f"seed {options.seed}")
    survivors = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        copy_checkout(folder)
        for number, fault in enumerate(draw_faults(options.faults, options.seed), 1):
            if options.only and number not in options.only:
                continue
            print(f"\n{number:>3} {fault.kind}, {fault.path}:{fault.line}", flush=True)
            print(f"    {fault.before!r:.150}\n    {fault.after!r:.150}", flush=True)
            begun = time.monotonic()
            file = folder / fault.path
            right = file.read_bytes()
            file.write_text(fault.source, "utf-8")
            own = first_failure(folder, options.workers, fault.tests(folder))
            failure = own or first_failure(folder, options.workers, [])
            file.write_bytes(right)
            survivors += [] if failure else [number]
            print(f"    {time.monotonic() - begun:.0f} s: {failure or 'SURVIVES'}", flush=True)
    of = len(options.only) or options.faults
    print(f"\n{of - len(survivors)} of {of} seen; survivors: {survivors or 'none'}")
    return len(survivors) > MOST_SURVIVORS


if __name__ == "__main__":
    sys.exit(main())

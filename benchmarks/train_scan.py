"""Train the scan for hostile wording, write its weights as readable JSON, and measure it.

 python -m benchmarks.train_scan [--measure]

Harmful sentences are drawn from patterns (``benchmarks/data/scan``) and taken from texts that
people wrote. Harmless sentences also come from all public catalogs. In a harmful text, the sentence
with the highest weight counts. ``--measure`` does not train. It scans the texts that were left out
of training, and the public catalogs.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack
from sklearn.linear_model import LogisticRegression

from benchmarks.measuring import (
    APP_FOLDER,
    CATALOGS,
    ROOT,
    catalog_file,
    data_folder,
    json_rows,
    parser_of,
    read_file,
)
from tests.catalog.rewordings import HARMFUL, HARMLESS
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.scan import orders
from toolscope_core.catalog.scan.hidden import passages, server_passages
from toolscope_core.catalog.scan.lookalikes import plain_text
from toolscope_core.catalog.scan.scanner import scan_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import JsonObject, Tool

_TEXTS = ROOT / "tests" / "catalog"
_DATA = ROOT / "benchmarks" / "data" / "scan"
_PUBLIC = (*CATALOGS, "toolsense", "mcp-registry", "toucan")
_PER_PATTERN = 40
_FEWEST = 3
"""A signal gets a weight only if at least this many sentences have it."""
_WRITTEN, _DRAWN = 6.0, 0.5
"""The weights of a sentence that a person wrote and of one from a pattern. A sentence from a
catalog has weight 1.
"""
_REGULARISATION, _PAIR = 2.0, 0.6
_ROUNDS = 2
_SCALE = 100
_LEAST = 8
"""Weights closer to zero than this are left out."""
_ORDERS = 0.0025
"""The share of the sentences in public catalogs that may read like orders."""

Labelled = tuple[bool, list[str]]
"""Whether a text is harmful, and the sentences in it."""


def drawn(path: Path) -> list[str]:
    """Sentences drawn from each pattern in a file.

    ``{a|b}`` becomes one of the two, ``[a]`` may be left out, and ``$name`` becomes one of the
    words listed for it.
    """
    lines = path.read_text("utf-8").splitlines()
    lists = dict(line.split(" = ", 1) for line in lines if re.match(r"\$\w+ = ", line))
    patterns = [line for line in lines if line and line[0] != "#" and " = " not in line[:20]]
    rng = random.Random(0)
    texts = {_drawn(one, lists, rng) for one in patterns for _ in range(_PER_PATTERN)}
    return [plain_text(text) for text in sorted(texts)]


def _drawn(pattern: str, lists: Mapping[str, str], rng: random.Random) -> str:
    part = re.compile(r"\$[a-z]+|\{[^{}]*\}|\[[^\[\]]*\]")
    while match := part.search(pattern):
        text = match.group()
        if text[0] == "$":
            new = f"{{{lists[text]}}}"
        else:
            new = rng.choice(text[1:-1].split("|"))
            new = "" if text[0] == "[" and rng.random() < 0.5 else new
        pattern = pattern[: match.start()] + new + pattern[match.end() :]
    text = re.sub(r"\s+(?=[.,;:]|\s|\Z)", "", pattern).strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def catalog_of(row: JsonObject) -> Catalog:
    """The tool in a row, as a catalog. The row has a whole tool with its server, or only a
    description.
    """
    tool = row.get("tool", {"name": "x", "description": row.get("text", "")})
    server = row.get("server", {"name": "a"})
    server = server if isinstance(server, dict) else {"name": server}
    return read_catalog([Source("tool.json", json.dumps({**server, "tools": [tool]}).encode())])


def is_flagged(row: JsonObject) -> bool:
    """Whether a finding asks a person to look at the tool in a row, or at its server."""
    return any(finding.severity != "info" for finding in catalog_of(row).findings)


def _labelled(rows: Sequence[JsonObject]) -> Iterator[Labelled]:
    for row in rows:
        catalog = catalog_of(row)
        if any(finding.severity == "block" for finding in catalog.findings):
            continue  # hidden or encoded text is not a sentence
        texts = [one for tool in catalog.tools for one in passages(tool)]
        texts += [one for server in catalog.servers for one in server_passages(server)]
        is_harmful = row.get("harmful", row.get("label") == "malicious")
        yield is_harmful, _sentences(one.text for one in texts)


def _sentences(texts: Iterator[str]) -> list[str]:
    return [
        one for text in texts for one in orders.sentences(plain_text(text)) if " " in one.strip()
    ]


def public_tools() -> Iterator[tuple[Tool, ...]]:
    """The tools of each public catalog."""
    files = map(catalog_file, (*_PUBLIC, "etom"))
    for path in (*files, *sorted(data_folder("servers").glob("*.json"))):
        yield read_file(path).tools


class Training:
    """The sentences for training, as rows of signals."""

    def __init__(self, people: Sequence[Labelled], public: Sequence[str]) -> None:
        harmful, harmless = (drawn(_DATA / f"{name}.txt") for name in ("harmful", "harmless"))
        written = [text for _, texts in people for text in texts]
        counts = Counter(
            one for text in (*harmful, *harmless, *written) for one in orders.signals(text)
        )
        frequent = sorted(signal for signal, count in counts.items() if count >= _FEWEST)
        self.number = {signal: number for number, signal in enumerate(frequent)}
        own = [text for is_harmful, texts in people for text in texts if not is_harmful]
        self._fixed = self.matrix([*public, *harmful, *harmless, *own])
        self._is_harmful = np.repeat(
            [False, True, False], [len(public), len(harmful), len(harmless) + len(own)]
        )
        self._counts = np.repeat(
            [1.0, _DRAWN, _WRITTEN], [len(public), len(harmful) + len(harmless), len(own)]
        )
        self._harmful = [self.matrix(texts) for is_harmful, texts in people if is_harmful and texts]

    def matrix(self, texts: Sequence[str]) -> csr_matrix:
        """A matrix with one row for each sentence."""
        rows = [
            [signal for signal in orders.signals(text) if signal in self.number] for text in texts
        ]
        columns = [self.number[signal] for row in rows for signal in row]
        values = [_PAIR if signal[1] else 1.0 for row in rows for signal in row]
        starts = np.cumsum([0, *map(len, rows)])
        return csr_matrix((values, columns, starts), shape=(len(texts), len(self.number)))

    def weights(self) -> dict[tuple[str, str], int]:
        """The weight of each signal, in hundredths."""
        model = LogisticRegression(C=_REGULARISATION, solver="liblinear", max_iter=300)
        model.fit(self._fixed, self._is_harmful, sample_weight=self._counts)
        for _ in range(_ROUNDS):
            worst = [rows[int(np.argmax(model.decision_function(rows)))] for rows in self._harmful]
            model.fit(
                vstack([self._fixed, *worst]),
                np.append(self._is_harmful, [True] * len(worst)),
                sample_weight=np.append(self._counts, [_WRITTEN] * len(worst)),
            )
        weights = {}
        for signal, number in self.number.items():
            weight = round(_SCALE * model.coef_[0][number] * (_PAIR if signal[1] else 1.0))
            if abs(weight) >= _LEAST:
                weights[signal] = weight
        return weights


def scores(texts: Sequence[str], weights: Mapping[tuple[str, str], int]) -> NDArray[np.int_]:
    """The sum of the weights of each sentence's signals."""
    return np.array([sum(weights.get(one, 0) for one in orders.signals(text)) for text in texts])


def _laid_out(least: int, tables: Mapping[str, Mapping[str, int]]) -> str:
    """The content of the file of weights, with a line for each first word."""
    encode = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    lines = ",\n".join(f"{encode(first)}:{encode(others)}" for first, others in tables.items())
    return f'{{"least":{least},"signals":{{\n{lines}\n}}}}\n'


def train() -> None:
    people = [
        *_labelled([*json_rows(_TEXTS / "orders.jsonl"), *json_rows(_TEXTS / "wordings.jsonl")])
    ]
    people += _labelled(read_poisoned())
    own = (tool for path in sorted(APP_FOLDER.glob("*.json")) for tool in read_file(path).tools)
    people += ((False, _sentences(one.text for one in passages(tool))) for tool in own)
    reworded = [(True, one) for texts in HARMFUL.values() for one in texts]
    reworded += [(False, one) for one in HARMLESS]
    people += _labelled([{"harmful": harmful, "text": one} for harmful, one in reworded[::2]])
    texts = (one.text for tools in public_tools() for tool in tools for one in passages(tool))
    public = sorted({*_sentences(iter(sorted({*texts})))})
    random.Random(0).shuffle(public)
    aside, rest = public[: len(public) // 8], public[len(public) // 8 :]
    least = int(np.quantile(scores(aside, Training(people, rest).weights()), 1 - _ORDERS))
    weights = Training(people, public).weights()
    tables: dict[str, dict[str, int]] = {}
    for (first, other), weight in sorted(weights.items()):
        tables.setdefault(first, {})[other] = weight
    path = Path(orders.__file__).with_name("order_weights.json")
    path.write_text(_laid_out(least, tables), "utf-8")
    print(f"{len(public):,} sentences, {len(weights):,} weights, least {least}")


def read_poisoned() -> list[JsonObject]:
    """Poisoned and harmless tools that other people collected."""
    path = data_folder("poisoned") / "detect_corpus_v1.json"
    rows: list[JsonObject] = json.loads(path.read_text("utf-8"))["entries"]
    return rows


def measure(name: str, rows: Sequence[JsonObject]) -> None:
    """Print how many of the harmful and of the harmless rows are flagged, with 95 % Wilson
    intervals.
    """
    shares = []
    for is_harmful in (True, False):
        flags = [is_flagged(row) for row in rows if row["harmful"] == is_harmful]
        shares.append(rate_text(sum(flags), len(flags)))
    print(f"{name}: harmful flagged {shares[0]}, harmless {shares[1]}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument(
        "--measure", action="store_true", help="only measure, with the held-out texts"
    )
    if not parser.parse_args().measure:
        train()
        return
    measure("texts left out", json_rows(_DATA / "held_out.jsonl"))
    counts: Counter[str] = Counter()
    for tools in public_tools():
        findings = scan_catalog(tools)
        for severity in ("block", "warn"):
            counts[severity] += len({one.tool_id for one in findings if one.severity == severity})
        counts["tools"] += len(tools)
    print("public catalogs:", dict(counts))


if __name__ == "__main__":
    main()

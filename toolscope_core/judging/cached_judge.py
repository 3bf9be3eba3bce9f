"""The offline judge's results on disk, so that each pair is judged once.

A verdict depends only on the two tools, their servers' texts and the judge. So results for
unchanged tools stay valid in every later run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import PairRows
from toolscope_core.files.cached_values import CachedValues
from toolscope_core.files.folders import code_version
from toolscope_core.judging.judge import OfflineJudge, PairProbabilities
from toolscope_core.model.pair import Pair, PairScores, Verdict
from toolscope_core.model.protocols import LOCAL, Engine, Progress, SharedState, Step, silent
from toolscope_core.model.tool import canonical_json

_BLOCK = 2048
"""The most pairs that a worker judges at a time."""
_LEAST_BLOCK, _PARTS = 64, 8
"""The fewest pairs in a block, and the number of blocks for few pairs, so that the progress bar
moves.
"""
_MOST = 1_000_000
"""The most pairs in one file."""
MOST_EXPLAINED = 250_000
"""The most pairs whose verdicts are looked up and kept. For more pairs, verdicts are made block by
block, so that they need not all be in memory, and only verdicts other than *keep* have reasons.
"""


@dataclass(frozen=True, slots=True)
class CachedJudge:
    """An offline judge that looks up earlier results first; the engine's workers judge the other
    pairs.

    Rows are as in ``judge``.
    """

    judge: OfflineJudge
    _probabilities: CachedValues
    _verdicts: CachedValues
    _engine: Engine
    _shared: SharedState[OfflineJudge]
    _digests: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, judge: OfflineJudge, folder: Path | None = None, engine: Engine = LOCAL
    ) -> CachedJudge:
        """A cached judge; ``folder`` is the root of all caches. Without a folder, results last as
        long as this object.
        """
        code = code_version("judging", "embedding", "wording", "catalog", "model")
        version = f"{judge.name} {judge.signals.near_at} {code}"
        probabilities, evidence = (
            CachedValues(folder, f"verdicts/{name}.json", version, _MOST)
            for name in ("probabilities", "evidence")
        )
        return cls(judge, probabilities, evidence, engine, SharedState(judge))

    def emptied(self) -> CachedJudge:
        """The same judge with an empty cache."""
        return self.of(self.judge)

    def pair_probabilities(
        self, left: PairRows, right: PairRows, progress: Progress = silent
    ) -> PairProbabilities:
        """Like ``OfflineJudge.pair_probabilities``. Reports ``Step("judge", …)`` in pairs."""
        values = self._looked_up(self._probabilities, left, right, _judged, progress)
        columns = np.array(values, dtype=np.float64).reshape(-1, 2)
        return PairProbabilities(columns[:, 0], columns[:, 1])

    def brief_verdicts(self, scores: PairScores) -> Iterator[Verdict]:
        """Like ``OfflineJudge.verdicts`` with ``brief``, for judged pairs.

        If there are very many pairs, a *keep* has no evidence and no differing words.
        """
        left, right = scores.left, scores.right
        tools, judge = self.judge.tools, self.judge
        values: Iterable[Any]
        if len(scores) > MOST_EXPLAINED:
            values = self._with_reasons_of_some(scores)
        else:
            values = self._looked_up(self._verdicts, left, right, _explained)
        for (a, b), value in zip(_rows_of(left, right), values, strict=True):
            yield _verdict(Pair.of(tools[a].id, tools[b].id), judge.name, value)

    def _with_reasons_of_some(self, scores: PairScores) -> Iterator[list[Any]]:
        """The values of verdicts, made block by block with their reasons."""
        weights = self.judge.weights
        is_unlike = (scores.same_job < weights.unsure_at) & (scores.family < weights.family_at)
        others = np.flatnonzero(~is_unlike)
        parts = (others[start : start + _BLOCK] for start in range(0, len(others), _BLOCK))
        rows = ((scores.left[part], scores.right[part]) for part in parts)
        explanations = chain.from_iterable(self._engine.map_blocks(_explained, self._shared, rows))
        columns = is_unlike, scores.similarity, scores.same_job, scores.family
        for unlike, near, same_job, family in _rows_of(*columns):
            if unlike:
                relation, serves = weights.relation(near, (same_job, family), ((), ()), "none")
                yield [near, same_job, "keep", (), relation, family, serves, ((), ())]
            else:
                yield next(explanations)

    def save(self) -> None:
        """Store new results. Raises ``ConfigError`` if the folder is unusable."""
        self._probabilities.save()
        self._verdicts.save()

    def _looked_up(
        self,
        file: CachedValues,
        left: PairRows,
        right: PairRows,
        judge_rows: Callable[[OfflineJudge, tuple[PairRows, PairRows]], list[Any]],
        progress: Progress = silent,
    ) -> list[Any]:
        keys = self._keys(np.minimum(left, right), np.maximum(left, right))
        values = file.get(keys)
        new = [at for at, value in enumerate(values) if value is None]
        if new:
            size = min(_BLOCK, max(_LEAST_BLOCK, len(new) // _PARTS))
            parts = [new[start : start + size] for start in range(0, len(new), size)]
            blocks = ((left[part], right[part]) for part in parts)
            results = self._engine.map_blocks(judge_rows, self._shared, blocks)
            done = len(values) - len(new)
            progress(Step("judge", done, len(values)))
            for part, judgements in zip(parts, results, strict=True):
                for at, value in zip(part, judgements, strict=True):
                    values[at] = value
                file.add({keys[at]: values[at] for at in part})
                done += len(part)
                progress(Step("judge", done, len(values)))
        return values

    def _keys(self, left: PairRows, right: PairRows) -> list[str]:
        if not self._digests:
            self._digests.extend(map(self._digest, range(len(self.judge.tools))))
        digests = self._digests
        pairs = zip(left.tolist(), right.tolist(), self._other_fields(left, right), strict=True)
        return [f"{digests[a]}{digests[b]}{'/' * apart}" for a, b, apart in pairs]

    def _other_fields(self, left: PairRows, right: PairRows) -> list[bool]:
        """Which pairs are on servers for two kinds of thing; the same for all their tools."""
        signals = self.judge.signals
        servers = np.column_stack([signals.servers[left], signals.servers[right]])
        _, first, place = np.unique(servers, axis=0, return_index=True, return_inverse=True)
        firsts = zip(left[first].tolist(), right[first].tolist(), strict=True)
        apart = [signals.are_of_other_fields(*pair) for pair in firsts]
        return [apart[at] for at in place.ravel().tolist()]

    def _digest(self, row: int) -> str:
        """A 128-bit hash of everything that the judge reads about a tool."""
        judge, tool = self.judge, self.judge.tools[row]
        plain, products = judge.signals.plain[row], judge.signals.products[row]
        fields = [sorted(getattr(products, name)) for name in products.__slots__]
        parts = [tool.id, tool.fingerprint, tool.raw, plain.name, plain.description, fields]
        text = canonical_json([*parts, judge.facts.general_of(row)]).encode(
            "utf-8", "surrogatepass"
        )
        return hashlib.sha256(text + judge.signals.vectors[row].tobytes()).hexdigest()[:32]


def _judged(judge: OfflineJudge, rows: tuple[PairRows, PairRows]) -> list[tuple[float, float]]:
    probabilities = judge.pair_probabilities(*rows)
    return list(zip(probabilities.same_job.tolist(), probabilities.family.tolist(), strict=True))


def _explained(judge: OfflineJudge, rows: tuple[PairRows, PairRows]) -> list[list[Any]]:
    verdicts = judge.verdicts(*rows, brief=True)
    return [[getattr(verdict, name) for name in _COLUMNS] for verdict in verdicts]


def _rows_of(*columns: NDArray[Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of columns of equal length, without creating all objects at once."""
    for start in range(0, len(columns[0]), _BLOCK):
        yield from zip(
            *(column[start : start + _BLOCK].tolist() for column in columns), strict=True
        )


def _verdict(pair: Pair, judge: str, value: Sequence[Any]) -> Verdict:
    columns = dict(zip(_COLUMNS, value, strict=True))
    ours, theirs = columns["differs"]
    columns |= {"evidence": tuple(columns["evidence"]), "differs": (tuple(ours), tuple(theirs))}
    return Verdict(pair=pair, judge=judge, **columns)


_COLUMNS = "similarity same_job outcome evidence relation family serves differs".split()
"""The stored parts of a verdict, in order."""

"""Whether people agree in their grades of documentation, and whether the model agrees with them
(ToolScope, appendix E.2).
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

import numpy as np

from toolscope_core.evaluation.intervals import cohens_kappa
from toolscope_core.files.json_lines import utf8_text
from toolscope_core.merging.model_verdicts import Band, DocumentationGrade
from toolscope_core.model.errors import ConfigError

_BANDS: tuple[Band, ...] = get_args(Band)
IN_A_BAND = 10
"""The number of tools in each band that people grade (E.2)."""
_SEED = 409


@dataclass(frozen=True, slots=True)
class GraderPair:
    """Two graders, and Cohen's κ of their bands on the tools that both of them graded.

    κ is ``None`` if they have no tool in common, or if all their bands are the same.
    """

    one: str
    other: str
    tools: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class GraderAgreement:
    """Each pair of graders, and Kendall's τ between the model's bands and the mean of the graders'.

    ``p`` is the probability of such a τ if the two were unrelated. Both are ``None`` if there are
    fewer than two ``tools``, or if one side never varies.
    """

    pairs: tuple[GraderPair, ...]
    tools: int
    tau: float | None
    p: float | None


def tools_to_grade(grades: Mapping[str, DocumentationGrade]) -> tuple[str, ...]:
    """Tool ids drawn at random: ``IN_A_BAND`` from each band of a model's grades, or all if there
    are fewer.

    The ids are sorted, so that their order does not reveal the bands.
    """
    chance = np.random.default_rng(_SEED)
    drawn: list[str] = []
    for band in _BANDS:
        own = sorted(tool for tool, grade in grades.items() if grade.band == band)
        drawn += chance.permutation(own).tolist()[:IN_A_BAND]
    return tuple(sorted(drawn))


def read_grades(content: bytes, label: str) -> dict[str, int]:
    """A person's grades by tool id, from a CSV with ``tool`` and ``grade``; an empty grade is
    skipped.

    Raises ``ConfigError`` with ``label`` for a file without these columns or without grades, and
    for a grade that is not 1 to 5.
    """
    reader = csv.DictReader(io.StringIO(utf8_text(content, label), newline=""))
    if not {"tool", "grade"} <= {*(reader.fieldnames or ())}:
        raise ConfigError(f"{label} has no columns `tool` and `grade`; use the sheet of tools")
    grades: dict[str, int] = {}
    for row in reader:
        grade = (row["grade"] or "").strip()
        if grade and grade not in ("1", "2", "3", "4", "5"):
            raise ConfigError(
                f"{label}, line {reader.line_num}: the grade is {grade[:20]!r}; use 1 to 5"
            )
        if grade:
            grades[(row["tool"] or "").removeprefix("'")] = int(grade)
    if not grades:
        raise ConfigError(f"{label} has no grades; write 1 to 5 in the column `grade`")
    return grades


def grader_agreement(
    by_grader: Mapping[str, Mapping[str, int]], model: Mapping[str, DocumentationGrade]
) -> GraderAgreement:
    """How well graders agree with each other and with the model, compared by bands of grades.

    ``by_grader`` has each person's grades by tool id. Tools that the model did not grade count only
    for the pairs of graders.
    """
    bands = {
        name: {tool: _BANDS.index(DocumentationGrade(one).band) for tool, one in own.items()}
        for name, own in by_grader.items()
    }
    pairs = []
    for one, other in combinations(sorted(bands), 2):
        common = sorted(bands[one].keys() & bands[other].keys())
        answers = ([bands[name][tool] for tool in common] for name in (one, other))
        pairs.append(GraderPair(one, other, len(common), cohens_kappa(*answers)))
    graded = sorted({tool for own in bands.values() for tool in own} & model.keys())
    means = [np.mean([own[tool] for own in bands.values() if tool in own]) for tool in graded]
    tau, p = _kendalls_tau([_BANDS.index(model[tool].band) for tool in graded], means)
    return GraderAgreement(tuple(pairs), len(graded), tau, p)


def _kendalls_tau(first: list[int], second: list[np.floating]) -> tuple[float | None, float | None]:
    """Kendall's τ-b, which allows for ties, and its p-value."""
    if len({*first}) < 2 or len({*second}) < 2:
        return None, None
    from scipy.stats import kendalltau

    result = kendalltau(first, second)
    return float(result.statistic), float(result.pvalue)

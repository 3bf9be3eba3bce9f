"""The commands that judge pairs, grade tools, and estimate the cost of asking a model."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.isolation import read_files
from toolscope_core.cli import options
from toolscope_core.cli.terminal import command, more, progress, say, tell_spent
from toolscope_core.export.bundle import verdict_row
from toolscope_core.files.json_lines import read_rows, write_rows
from toolscope_core.llm.embedding import encoder_and_cache
from toolscope_core.llm.tasks.quality import grade_tools
from toolscope_core.merging.analysing import analyse
from toolscope_core.merging.model_verdicts import DocumentationGrade
from toolscope_core.model.cluster import OUTCOME_NAMES, outcome_word
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import JsonObject


@command
def judge(
    catalogs: options.CatalogPaths,
    pairs: Annotated[Path, typer.Option(help="JSONL with tool ids in `left` and `right`.")],
    out: Annotated[Path, typer.Option(help="JSONL file for the verdicts, in the same order.")],
    judge: options.ChosenJudge = "offline",
    ask: options.AskRequest = options.SAVED,
) -> None:
    """Give a verdict on each pair of tools, with the evidence.

    Example: toolscope judge tools.json --pairs pairs.jsonl --out verdicts.jsonl
    """
    options.refuse_offline(judge, [*ask.options])
    catalog = read_files(catalogs)
    ids = catalog.by_id.keys()
    rows = [_pair_ids(number, row, ids) for number, row in read_rows(pairs)]
    tool_pairs = [Pair.of(*row) for row in rows]
    analysis = analyse(catalog, AnalysisConfig(), *encoder_and_cache(), progress())
    if judge == "llm":
        from toolscope_core.cli.asking import with_verdicts_on  # loads the store

        analysis = with_verdicts_on(analysis, tool_pairs, ask)
    verdicts = analysis.verdicts(tool_pairs)
    write_rows(out, [verdict_row(*row, one) for row, one in zip(rows, verdicts, strict=True)])
    counts = Counter(verdict.outcome for verdict in verdicts)
    summary = "; ".join(
        f"{counts[one]:,} {outcome_word(one)}" for one in OUTCOME_NAMES if one != "unanalysed"
    )
    unanalysed = more(counts["unanalysed"], "unanalysed")
    say(f"{quantity(len(rows), 'pair')}: {summary}{unanalysed}; verdicts: {out}")
    if by_model := analysis.model_verdicts:
        tell_spent(by_model.judge, by_model.costs)


@command
def quality(
    catalogs: options.CatalogPaths,
    out: Annotated[Path, typer.Option(help="JSONL of grades, by tool.")],
    ask: options.AskRequest = options.SAVED,
) -> None:
    """Have a model grade how well each tool is documented, 1 to 5.

    Example: toolscope quality tools.json --out grades.jsonl
    """
    from toolscope_core.cli.asking import asking

    catalog = read_files(catalogs)
    with asking(ask) as (_, asker):
        grades = grade_tools(catalog, asker)
    write_rows(
        out, [_grade_row(tool.id, grades.get(tool.id), asker.name) for tool in catalog.tools]
    )
    bands = Counter(grade.band for grade in grades.values())
    counts = ", ".join(f"{bands[band]} {band}" for band in ("High", "Medium", "Low"))
    unanalysed = more(len(catalog.tools) - bands.total(), "unanalysed")
    say(f"{quantity(len(catalog.tools), 'tool')}: {counts}{unanalysed}; grades: {out}")
    tell_spent(asker.name, asker.costs)


@command
def estimate(
    catalogs: options.CatalogPaths,
    threshold: options.Threshold = None,
    ask: options.AskRequest = options.SAVED,
    paper: options.AskAsPaper = False,
) -> None:
    """Estimate what asking a model would cost; sends nothing.

    Example: toolscope estimate tools.json
    """
    from toolscope_core.cli.asking import tell_estimates_of

    config = AnalysisConfig(threshold=threshold)
    analysis = analyse(read_files(catalogs), config, *encoder_and_cache(), progress())
    questions, tokens = tell_estimates_of(analysis, paper, ask).saved
    say(
        f"saved, compared with the paper's procedure: {questions:,} questions, about {tokens:,} "
        "tokens"
    )


def _grade_row(tool_id: str, grade: DocumentationGrade | None, judge: str) -> JsonObject:
    if grade is None:
        return {"tool": tool_id, "score": None, "band": None, "judge": judge}
    return {
        "tool": tool_id,
        "score": grade.score,
        "band": grade.band,
        "lacking": list(grade.lacking),
        "reason": grade.reason,
        "judge": judge,
    }


def _pair_ids(number: int, row: JsonObject, ids: Iterable[str]) -> tuple[str, str]:
    left, right = row.get("left"), row.get("right")
    for side, tool_id in (("left", left), ("right", right)):
        if not isinstance(tool_id, str) or tool_id not in ids:
            raise CatalogError(
                f"line {number}: {side} is {tool_id!r}, which is not a tool id of the "
                "catalog; `inspect --json` and the bundle's relabel.json list the ids"
            )
    return str(left), str(right)

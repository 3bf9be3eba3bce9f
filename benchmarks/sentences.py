"""Every sentence that templates make for whole catalogs, for a person to read.

 python -m benchmarks.sentences [--catalogs example bfcl]

A template is a text in the source, with … for its gaps. Each template is printed once, with how
often it was used and three instances. Sentences that match no template are listed by their
beginning.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import toolscope_core
from benchmarks.bundle_hashes import CATALOGS
from benchmarks.measuring import add_catalogs, analysis_of, parser_of, read_named
from benchmarks.train_judge import SERVERS
from toolscope_core.judging.distinctions import all_distinctions
from toolscope_core.judging.relation_words import apart_of, relation_of, serving_of
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.coverage import server_coverage
from toolscope_core.merging.server_choice import advise
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.wording.reading import read_tool

MODULES = ("catalog", "judging", "merging")
MOST_PAIRS, MOST_SHOWN, LONGEST, LEAST_WORDS = 1_500, 3, 260, 2


def main() -> None:
    parser = parser_of(__doc__)
    add_catalogs(parser, (*CATALOGS, "mcp-registry", *SERVERS))
    templates = dict(source_templates())
    uses: defaultdict[str, list[str]] = defaultdict(list)
    for name in parser.parse_args().catalogs:
        for sentence in filter(None, sentences(analysis_of(read_named(name)))):
            fitting = [text for text, form in templates.items() if form.fullmatch(sentence)]
            other = re.sub("`[^`]*`|'[^']*'|(?<=[a-z]: ).*", "…", sentence)
            closest = max(fitting, key=lambda text: len(text.replace("…", "")), default=other)
            uses[closest].append(sentence)
    for text, instances in sorted(uses.items(), key=lambda item: -len(item[1])):
        unlike = sorted(set(instances))
        samples = unlike[:: max(1, len(unlike) // MOST_SHOWN)][:MOST_SHOWN]
        print(f"\n{len(instances):>7,}  {text}", *(one[:LONGEST] for one in samples), sep="\n    ")


def source_templates() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Each text in the source that has words in it, with … for its gaps, and a pattern that matches
    it.
    """
    root = Path(toolscope_core.__file__).parent
    for path in (path for name in MODULES for path in sorted((root / name).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [p.value if isinstance(p, ast.Constant) else None for p in parts]
            sentence = " ".join(text for text in texts if isinstance(text, str))
            if len(re.findall(r"[a-z]+ ", sentence)) >= LEAST_WORDS and "\n" not in sentence:
                form = "".join(re.escape(str(t)) if t is not None else "(.*)" for t in texts)
                template = "".join(str(t) if t is not None else "…" for t in texts)
                yield template, re.compile(form, re.DOTALL)


def sentences(analysis: Analysis) -> Iterator[str]:
    """The sentences that the program says about a catalog: on findings, pairs, cards, arguments and
    servers.
    """
    catalog, scores = analysis.catalog, analysis.scores
    yield from (finding.message for finding in catalog.findings)
    yield from (problem.reason for problem in catalog.problems)
    sample = slice(None, None, max(1, len(scores) // MOST_PAIRS))
    for verdict in analysis.judge.verdicts(scores.left[sample], scores.right[sample]):
        tools = catalog.by_id[verdict.pair.left], catalog.by_id[verdict.pair.right]
        yield from (*verdict.evidence, relation_of(verdict, tools), serving_of(verdict, tools))
        yield from (*apart_of(verdict, tools), *all_distinctions(*map(read_tool, tools)))
    clusters = plan_merge(analysis, (), PlanConfig("none")).clusters
    for cluster in clusters:
        yield from cluster.reasons
        for alpha in cluster.arguments:
            yield from (*alpha.lossy, *alpha.dropped.values(), *alpha.inferred, *alpha.notes)
    coverage = server_coverage(analysis, clusters)
    advice = advise(coverage)
    yield advice.needless_in_words
    for one in (*advice.switch_off, *advice.needless, *coverage.of_pairs()):
        yield from (one.in_words, one.why_off, *one.keeps)
        yield from (loss for served in one.served for loss in served.losses)


if __name__ == "__main__":
    main()

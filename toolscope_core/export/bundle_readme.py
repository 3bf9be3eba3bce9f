"""The README of a bundle: what each file is, how to use it, and one call through each α.

Names and values of the catalog are shown in indented lines of JSON only, where Markdown reads none
of them.
"""

from collections.abc import Iterator, Sequence

from toolscope_core.judging.cached_judge import MOST_EXPLAINED
from toolscope_core.merging.calls import map_call, sample_arguments
from toolscope_core.merging.model_verdicts import ModelVerdicts
from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject, Parameter, canonical_json

_FILES = (
    ("toolset.json", "the merged toolset in the shape asked for; toolset-1.json … where split"),
    ("neutral.json", "the same tools with their ids; read where this folder is given as input"),
    ("original.json", "the tools as they came in; `check --baseline` compares with them"),
    ("relabel.json, relabel.csv", "φ: what became of each tool that came in, by id and name"),
    ("arguments.json", "α: how a call to a tool that went becomes a call to the one that stayed"),
    ("clusters.json", "the merges, accepted and proposed, with reasons"),
    (
        "pairs.jsonl",
        "each pair that was judged, with probabilities and reasons; of more than "
        f"{MOST_EXPLAINED:,} pairs those that are kept apart have no reasons",
    ),
    ("aliases.json", "old name to new name, by server, where a name means one tool only"),
    ("never_merge.json", "pairs that people keep apart"),
    ("decisions.jsonl", "what people decided; `merge --decisions` replays it"),
    ("dangling.json", "texts that still name a tool that is gone"),
    ("fingerprints.json", "a hash of each tool that came in, by which `serve` sees what changed"),
    ("tools.csv", "the merged toolset as a table, with tokens"),
    (
        "clients/",
        "files that switch the tools that went off in MCP clients, or leave tools to their "
        "search, where there are any",
    ),
    ("profiles.json", "what `serve --profile` reads, where people made profiles"),
    ("profiles/", "of each profile the toolset and the files of clients"),
    ("manifest.json", "counts, configuration, versions, and a hash of each file"),
)


def readme_text(plan: MergePlan, verdicts: ModelVerdicts | None = None) -> str:
    """The README as Markdown, the same for equal plans and answers of a model."""
    return "\n".join(_lines(plan, verdicts)) + "\n"


def _lines(plan: MergePlan, verdicts: ModelVerdicts | None) -> Iterator[str]:
    before, after = len(plan.catalog.tools), len(plan.tools)
    yield f"# A merged toolset: {before:,} tools in, {after:,} out"
    yield from (
        "",
        "Written by ToolScope. Nothing here runs by itself; `serve` answers calls with it.",
        "",
        "## Files",
        "",
    )
    yield from (f"- `{name}`: {what}" for name, what in _FILES)
    yield from ("", "## How to use it", "")
    yield "1. Give agents the tools of `toolset.json`, and switch the old ones off."
    yield "2. Where something still calls an old tool, look its id up in `relabel.json`, and map"
    yield "   the arguments by `arguments.json`: rename by `args`, add `constants`, leave out"
    yield "   what is in `dropped`."
    yield "3. Rewrite an evaluation set with"
    yield "   `python -m toolscope_core relabel queries.jsonl --bundle . --out new.jsonl`."
    yield "4. Merge the next version of the catalog with"
    yield "   `python -m toolscope_core merge CATALOG --decisions decisions.jsonl --out NEW`."
    left_out = [tool for tool in plan.removed if (tool,) not in plan.unreadable]
    if left_out:
        yield from ("", "## Tools that people left out", "")
        yield "Nothing takes their place; `decisions.jsonl` says why."
        yield ""
        yield from (f"    {canonical_json({'tool': tool})}" for tool in left_out)
    if plan.unreadable:
        yield from ("", "## Tools that the target does not take", "")
        yield "One by itself is left out; a merge of several is not made."
        yield ""
        for ids, why in sorted(plan.unreadable.items()):
            yield f"    {canonical_json({'tools': ids, 'why': why})}"
    if verdicts and verdicts.refused:
        yield from ("", "## Documents of a model that were refused", "")
        yield "In their place stand those that were made offline."
        yield ""
        for ids, reasons in sorted(verdicts.refused.items()):
            yield f"    {canonical_json({'tools': ids, 'why': reasons})}"
    maps = [alpha for alpha in plan.arguments if alpha.tool_id != alpha.to]
    if not maps:
        return
    yield from ("", "## Calls that change", "")
    yield "One example for each tool that went: before, after."
    for alpha in maps:
        yield from ("", *_example(alpha, plan.catalog.by_id[alpha.tool_id].parameters))


def _example(alpha: ArgumentMap, parameters: Sequence[Parameter]) -> Iterator[str]:
    arguments = sample_arguments(parameters)
    mapped = map_call(alpha, arguments)
    yield _call(alpha.tool_id, arguments)
    yield _call(mapped.tool, mapped.arguments)
    if mapped.lost:
        yield f"    lost: {canonical_json(list(mapped.lost))}"


def _call(tool: str, arguments: JsonObject) -> str:
    return f"    {canonical_json({'tool': tool, 'arguments': dict(arguments)})}"

"""The README of a bundle: all files, how to use them, and one example call through each α.

Names and values from the catalog appear only in indented lines of JSON, where Markdown ignores
them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from toolscope_core.catalog.calls import map_call, sample_arguments
from toolscope_core.catalog.clients.client_table import Client
from toolscope_core.catalog.formats.record_format import Target
from toolscope_core.catalog.sources import PROFILE_FOLDER
from toolscope_core.files.archives import BUNDLE_BELOW
from toolscope_core.judging.cached_judge import MOST_EXPLAINED
from toolscope_core.merging.model_verdicts import ModelVerdicts
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject, Parameter, canonical_json

_FILES = (
    (
        "toolset.json",
        "the merged toolset in the requested format; toolset-1.json … if it was split",
    ),
    (
        "neutral.json",
        "the same tools with their ids; ToolScope reads it when this folder is the input",
    ),
    ("original.json", "the original tools; `check --baseline` compares with them"),
    (
        "relabel.json, relabel.csv",
        "the relabelling (φ): what became of each original tool, by id and name",
    ),
    (
        "arguments.json",
        "the argument maps (α): how to turn a call to a replaced tool into a call to the tool "
        "that remains; for each "
        "new id, the server that takes the call (none behind a gateway)",
    ),
    ("clusters.json", "the accepted and proposed merges, with reasons"),
    ("families.json", "which tools form a family; merges nothing"),
    (
        "pairs.jsonl",
        f"each judged pair, with probabilities and reasons; above {MOST_EXPLAINED:,} pairs, "
        "those kept apart have no reasons",
    ),
    ("aliases.json", "old names to new names, by server, for names that mean only one tool"),
    ("never_merge.json", "pairs that people keep apart"),
    ("decisions.jsonl", "what people decided; `merge --decisions` replays it"),
    (
        "calls.jsonl",
        "what the same calls to two tools showed: verdict, each call with its differences, and "
        "`names`, which field of one result is which of the other",
    ),
    ("dangling.json", "texts that still name a tool that is gone"),
    ("fingerprints.json", "a hash of each original tool; `serve` uses it to detect changes"),
    ("tools.csv", "the merged toolset as a table, with tokens"),
    (
        "clients/",
        "files that switch off the replaced tools in MCP clients, or leave "
        "tools to the clients' search",
    ),
    ("profiles.json", "input of `serve --profile`"),
    ("profiles/", "the toolset and the client files of each profile"),
    ("manifest.json", "counts, configuration, versions, and a hash of each file"),
)


def readme_text(
    plan: MergePlan, verdicts: ModelVerdicts | None = None, absent: Collection[str] = ()
) -> str:
    """The README in Markdown; the same for equal plans and model answers.

    ``absent`` are the entries of ``_FILES`` that the bundle does not contain.
    """
    return "\n".join(_lines(plan, verdicts, absent)) + "\n"


def _lines(
    plan: MergePlan, verdicts: ModelVerdicts | None, absent: Collection[str]
) -> Iterator[str]:
    before, after = len(plan.catalog.tools), len(plan.tools)
    yield f"# A merged toolset: {before:,} tools in, {after:,} out"
    yield from (
        "",
        "ToolScope wrote this folder. Nothing in it runs by itself; `serve` answers calls with it.",
        "",
        "## Files",
        "",
    )
    yield from (f"- `{name}`: {what}" for name, what in _FILES if name not in absent)
    yield from ("", "## How to use it", "")
    yield "1. Give agents the tools of `toolset.json`, and switch the old ones off."
    yield "2. If something still calls an old tool, look up its id in `relabel.json`, and map"
    yield "   the arguments by `arguments.json`: rename by `args`, add `constants`, leave out"
    yield "   what is in `dropped`."
    yield "3. Rewrite an evaluation set with"
    yield "   `toolscope relabel queries.jsonl --bundle . --out new.jsonl`."
    yield "4. Merge the next version of the catalog with"
    yield "   `toolscope merge CATALOG --decisions decisions.jsonl --out NEW`."
    yield from gateway_lines(plan)
    yield from _rows(
        "Tools that people left out",
        "Nothing replaces them; `decisions.jsonl` says why.",
        [{"tool": tool} for tool in plan.removed if (tool,) not in plan.unreadable],
    )
    yield from _rows(
        "Tools that the target does not accept",
        "A single tool is left out; a merge of several is not made.",
        [{"tools": ids, "why": why} for ids, why in sorted(plan.unreadable.items())],
    )
    refused = sorted(verdicts.refused.items()) if verdicts else ()
    yield from _rows(
        "Documents from a model that were refused",
        "Documents made offline are used instead.",
        [{"tools": ids, "why": reasons} for ids, reasons in refused],
    )
    maps = [alpha for alpha in plan.arguments if alpha.tool_id != alpha.to]
    if not maps:
        return
    yield from ("", "## Calls that change", "")
    yield "One example for each replaced tool: before, after."
    for alpha in maps:
        yield from ("", *_example(alpha, plan.catalog.by_id[alpha.tool_id].parameters))


def gateway_lines(plan: MergePlan) -> Iterator[str]:
    """A list of the exported tools that need a gateway, or a sentence if there are none."""
    rows = [
        {"tool": item.tool.name, "stands_for": list(item.members)} for item in plan.behind_gateway
    ]
    if not rows:
        yield from ("", "No tool here needs a gateway: each exists unchanged on a server.")
    yield from _rows(
        f"Tools that exist only behind a gateway: {len(rows):,}",
        "No server has them. `toolscope serve` answers their calls by calling the "
        "servers of your configuration.",
        rows,
    )


def _rows(title: str, about: str, rows: Sequence[JsonObject]) -> Iterator[str]:
    """A section with one line per row; empty if there are no rows."""
    if rows:
        yield from ("", f"## {title}", "", about, "")
        yield from (f"    {canonical_json(row)}" for row in rows)


def _example(alpha: ArgumentMap, parameters: Sequence[Parameter]) -> Iterator[str]:
    arguments = sample_arguments(parameters)
    new_call = map_call(alpha, arguments)
    yield _call(alpha.tool_id, arguments)
    yield _call(new_call.tool, new_call.arguments)
    if new_call.losses:
        yield f"    lost: {canonical_json(list(new_call.losses))}"


def _call(tool: str, arguments: JsonObject) -> str:
    return f"    {canonical_json({'tool': tool, 'arguments': dict(arguments)})}"


HOME = f"{BUNDLE_BELOW}/"
"""The bundle's folder in the zip, with the files that the command ``merge`` writes."""


def files_for(use: Target, bundle: Iterable[str]) -> tuple[str, ...]:
    """The names of the bundle files that are needed for ``use``.

    For a client, these are the files that switch tools off or leave them to the client's search.
    For a format, they are the toolset or its parts. Each profile has files of the same names.
    """
    own = {name: _in_profile(name)[1] for name in bundle}
    if isinstance(use, Client):
        files = {use.file, use.search.file if use.search else use.file}
        return tuple(name for name, file in own.items() if file in files)
    return tuple(name for name, file in own.items() if file.startswith("toolset"))


def how_many(use: Target, files: Iterable[str]) -> str:
    """Which of the ``files`` for ``use`` an agent needs, in words; empty if there is only one
    file.
    """
    profiles = [_in_profile(name)[0] for name in files]
    parts = not isinstance(use, Client) and profiles.count("") > 1
    text = ("Give each agent one part of the toolset.",) * parts
    if any(profiles) and not all(profiles):
        text += ("Use one or the other: the whole set, or a profile's.",)
    return " ".join(text)


def where_it_goes(use: Target, name: str) -> str:
    """Where a file for ``use`` must be put, in Markdown."""
    return use.goes_to(_in_profile(name)[1]) if isinstance(use, Client) else use.goes


def name_in_zip(name: str) -> str:
    """The name that a bundle file has at the top of the zip, or in the folder of a profile."""
    profile, own = _in_profile(name)
    return f"{profile}{own.rpartition('/')[2]}"


def _in_profile(name: str) -> tuple[str, str]:
    """The profile folder of a bundle file (empty if there is none), and the file's name inside
    it.
    """
    if not name.startswith(PROFILE_FOLDER):
        return "", name
    profile, _, own = name.removeprefix(PROFILE_FOLDER).partition("/")
    return f"{PROFILE_FOLDER}{profile}/", own


def zip_files(
    bundle: Mapping[str, bytes], plan: MergePlan, use: Target, catalog: str, date: str
) -> dict[str, bytes]:
    """The files of the zip in order, each name with its content.

    The zip has a README, the files for ``use``, and in the folder ``HOME`` the unchanged bundle of
    the ``plan``. The README mentions ``catalog`` and the ``date`` on which it was loaded; the date
    is given because no clock is read.
    """
    own = files_for(use, bundle)
    files = {name_in_zip(name): bundle[name] for name in own}
    lines = _readme(use, own, plan, catalog, date)
    return {
        "README.md": ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"),
        **files,
        **{f"{HOME}{name}": content for name, content in bundle.items()},
    }


def _readme(
    use: Target, files: Sequence[str], plan: MergePlan, catalog: str, date: str
) -> Iterator[str]:
    yield from (f"# Tools for {use.title}", "", "ToolScope wrote this from the catalog")
    yield from ("", f"    {canonical_json({'name': catalog, 'loaded': date})}", "")
    yield from ("## Where each file goes", "")
    yield from (f"- `{name_in_zip(name)}`: {where_it_goes(use, name)}" for name in files)
    if not files:
        yield f"- Nothing for {use.title}: no merge here allows a server's tool to be switched off."
    if many := how_many(use, files):
        yield f"- {many}"
    yield f"- `{HOME}`: everything else, for the record and for ToolScope's commands. Its"
    yield "  `README.md` explains each file and how old calls become new ones."
    if isinstance(use, Client):
        yield from _rows(
            "Server names",
            "These rules name the servers as the catalog does. They work only if your "
            "configuration uses the same names.",
            [{"servers": sorted({tool.server for tool in plan.catalog.tools} - {""})}],
        )
        yield from (
            "",
            "No client's file contains the merges that need a gateway, or the new names and",
        )
        yield "parameters of edited tools. This command starts a server that answers for them,"
        yield "with the servers of `mcp.json` behind it:"
        yield from ("", f"    toolscope serve {HOME[:-1]} --config mcp.json")
    yield from gateway_lines(plan)

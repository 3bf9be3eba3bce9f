"""The command that serves a merged toolset."""

import gc
import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from toolscope_core import __version__
from toolscope_core.check.version_changes import why_look_again
from toolscope_core.cli.options import BundlePath, Configurations, ServerKeys
from toolscope_core.cli.terminal import command, fail_for, say, say_error, say_json
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.llm.embedding import embedder_of, scorer_of
from toolscope_core.mcp.gateway import bundle_routes, preflight, running
from toolscope_core.mcp.gateway.http_transport import (
    TOKEN_VARIABLE,
    HttpPlace,
    http_place,
    profile_path,
    tokens_of_profiles,
)
from toolscope_core.mcp.gateway.routing import FoundTools, Original, Search
from toolscope_core.mcp.gateway.tool_calls import NAMELESS, CallLog, calls_by_server
from toolscope_core.mcp.gateway.tool_search import SearchCosts, ToolSearch, search_costs
from toolscope_core.mcp.gateway.withheld_tools import OnChange, Review
from toolscope_core.mcp.servers.configured_servers import read_configurations
from toolscope_core.mcp.servers.launches import keys_given, launches_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.environment import Settings, read_environment
from toolscope_core.model.errors import ConfigError, ToolScopeError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.protocols import silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import SubstituteTool, Tool
from toolscope_core.retrieval.assembly import LearnedRanking, ToolRequest
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.retrieval.retriever import Retriever


def tool_search(tools: Sequence[Tool], settings: Settings, usage: Path | None = None) -> Search:
    """A search over these tools with the local model.

    Another thread encodes what the first searches do not need. The search also uses the recorded
    requests in a file, if they help. Raises the errors of the retriever, and ``ConfigError`` if the
    file cannot be read.
    """
    config = RetrievalConfig()
    cache = VectorCache(settings.cache_dir)
    retriever = Retriever(tools, embedder_of(settings), cache, config, scorer_of(config))
    Thread(target=_encode_rest, args=(retriever,), daemon=True).start()
    if usage is not None:
        retriever = retriever.with_learned(_learned_from(usage, tools, config))

    def search(query: str, limit: int) -> FoundTools:
        answer = retriever.answer(ToolRequest(query, decompose(query)), limit)
        ids = [one.tool_id for one in answer.places]
        return FoundTools(ids, answer.fit.sentence if answer.fit else "")

    return search


def _encode_rest(retriever: Retriever) -> None:
    with suppress(ToolScopeError):  # a search that needs the texts reports the error
        retriever.encode_documents()


def _learned_from(usage: Path, tools: Sequence[Tool], config: RetrievalConfig) -> LearnedRanking:
    """A model of the original tools, learned from recorded requests.

    The requests may name original tools or merged ones.
    """
    # only a search that learns needs these imports
    from toolscope_core.cli.searcher import usage_model
    from toolscope_core.cli.usage_command import recorded_requests
    from toolscope_core.evaluation.bench import Bench

    originals = [
        one
        for tool in tools
        for one in (tool.members if isinstance(tool, SubstituteTool) else (tool,))
    ]
    named = {(one.id, one.name): one for one in (*originals, *tools)}
    queries = recorded_requests(usage, list(named.values()))
    return usage_model(Bench.of(Catalog(tuple(originals))), queries, config, silent)


def review_of(bundle: Path) -> Review:
    """A review that holds back a changed tool if ``why_look_again`` has reasons.

    The earlier tools are read from the bundle when the first tool changes.
    """
    read = cache(partial(bundle_routes.read_original_catalog, bundle))

    def review(original: Original, tool: Tool) -> Sequence[str]:
        with suppress(ToolScopeError):
            before = read().by_id.get(original.tool_id)
            if before is not None and before.fingerprint == original.fingerprint:
                return why_look_again(read(), replace(tool, id=original.tool_id))
        return ("the bundle does not say what it was",)

    return review


@command
def serve(
    bundle: BundlePath,
    config: Configurations,
    server: ServerKeys = None,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve over streamable HTTP at this address, with a bearer token, instead of "
            "standard input and output.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A host name under which others reach this address; required beyond this machine."
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            help="Serve only the tools of this profile. Over HTTP it is at /profiles/NAME/mcp; "
            "repeatable. Without this option, all profiles are served in addition to the "
            "whole toolset at /mcp."
        ),
    ] = None,
    old_names: Annotated[
        bool,
        typer.Option(
            "--old-names",
            "--aliases",
            help="Also answer calls to the names from before the merge, without listing them, and "
            "report who still uses them.",
        ),
    ] = False,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="List only the tools that an export keeps in every prompt, and tools that list, "
            "search, show and call the others.",
        ),
    ] = False,
    usage: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --search: JSONL or CSV with `query` and `gold`, or a log or trace as "
            "`usage` reads it. Tools are also found by the requests that needed them, if that "
            "finds more on requests left out.",
        ),
    ] = None,
    on_change: Annotated[
        OnChange,
        typer.Option(
            help="What to do with a tool that its server has changed since the export: hold it "
            "back; call it only if the change breaks no call, declares no other effects and "
            "brings no finding of the scan (review); or call it anyway (pass)."
        ),
    ] = "review",
    live_list: Annotated[
        bool,
        typer.Option(
            "--live-list",
            help="Take a held-back tool off the list at once. Without this option, calls to it are "
            "refused and the list changes only in the next session, because clients pay for "
            "the whole prompt again when it changes.",
        ),
    ] = False,
    log: Annotated[
        Path | None, typer.Option(help="Append a line of JSON for each call to this file.")
    ] = None,
    log_arguments: Annotated[
        bool, typer.Option("--log-arguments", help="Include the arguments of each call.")
    ] = False,
    mask_secrets: Annotated[
        bool,
        typer.Option(
            "--mask-secrets",
            help="Also remove secrets of a server's configuration from its results.",
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Start every server, list its tools, compare them with the bundle, and stop. "
            "Exits with 1 if a server failed or changed, or if a tool is held back.",
        ),
    ] = False,
    need: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOOL",
            help="With --check: only whether this tool can be called now; repeatable. Exits with "
            "0 if each can, with 75 if a retry may help, and with 1 if it cannot.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With --check: print JSON.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for a server to start.")] = 60.0,
    call_timeout: Annotated[float, typer.Option(help="Seconds to wait for each call.")] = 300.0,
) -> None:
    """Serve a merged toolset as one MCP server; calls go to the original servers.

    Example: toolscope serve bundle --config mcp.json
    """
    if usage is not None and not search:
        raise ConfigError("--usage only works with --search; add --search")
    if len(profile or ()) > 1 and (check or not http):
        raise ConfigError(
            "each profile needs its own address; add --http, or use only one --profile"
        )
    limits = ConnectionLimits(start_seconds=timeout, answer_seconds=call_timeout)
    settings, every = read_environment(), bundle_routes.read_served_bundle(bundle)
    configuration, keys_by_server = read_configurations(config), keys_given(server or ())
    also = bundle_routes.profiles_of_bundle(bundle) if http and not check else ()
    uses = calls_by_server(log) if log else {}
    bundles = {}
    for name in profile or ("", *also):
        merged = bundle_routes.read_served_bundle(bundle, name) if name else every
        merged = replace(merged, uses=uses)
        launch_readers = {
            one: key
            for one, key in keys_by_server.items()
            if one in merged.table.servers or one not in every.table.servers
        }
        keys, launches = launches_of(
            merged.table.servers, configuration, launch_readers, os.environ, mask_secrets
        )
        for sentence in _beginning(merged, keys):
            say_error(f"profile {name}: {sentence}" if name else sentence)
        finder = _finder(bundle, merged, settings, usage) if search else None
        gateway = running.GatewayConfig(
            *(launches, limits, on_change, review_of(bundle)),
            *(old_names, finder, say_error, live_list),
        )
        bundles[profile_path(name)] = merged, gateway
    if not check:
        odd = [sentence for merged, _ in bundles.values() for sentence in _oddities(merged)]
        for sentence in dict.fromkeys(odd):
            say_error(sentence)
        names = {*(profile or also)}
        place = _place(http, settings, allow_host or (), names) if http else None
        _serve(bundles, CallLog(log, log_arguments, say_error), place)
        return
    if need:
        _check_needed(preflight.check_needed(merged, gateway, need), as_json)
    else:
        states = preflight.check_servers(merged, gateway)
        _check_all(states, search_costs(merged.table), as_json)


def _check_all(states: Sequence[preflight.ServerState], costs: SearchCosts, as_json: bool) -> None:
    """Report the state of the servers, and exit with 1 if a server is not served completely."""
    if as_json:
        say_json([asdict(state) for state in states])
    else:
        for state in states:
            for line in _state_lines(state):
                say(line)
        say(costs.in_words)
    wrong = [state for state in states if not state.is_served_whole]
    if wrong:
        servers = quantity(len(wrong), "server")
        fail_for(f"{servers} failed, changed since the export, or have a tool that is held back")


RETRY_STATUS = 75
"""The exit status for a temporary failure, as defined in sysexits.h."""


def _check_needed(tools: Sequence[preflight.NeededTool], as_json: bool) -> None:
    """Report the state of the tools that a job needs, and exit with the status for it."""
    verdicts = {one.verdict for one in tools}
    worst = next(one for one in ("never", "retry", "ready") if one in verdicts)
    if as_json:
        say_json({"verdict": worst, "tools": [asdict(one) for one in tools]})
    else:
        for one in tools:
            say(f"{one.verdict}  {one.name}" + (f" ({one.reason})" if one.reason else ""))
            if one.message:
                say(f"    {one.message}")
    if worst != "ready":
        raise typer.Exit(RETRY_STATUS if worst == "retry" else 1)


def _place(http: str, settings: Settings, hosts: Sequence[str], profiles: set[str]) -> HttpPlace:
    """The address to listen on, with the tokens of the profiles that are served."""
    tokens = tokens_of_profiles(settings.profile_tokens, profiles)
    return http_place(http, settings.gateway_token, hosts, tokens)


def _serve(by_path: running.ServedByPath, log: CallLog, place: HttpPlace | None) -> None:
    """Serve until the client disconnects or the program is stopped."""
    bundles = list(by_path.values())
    gc.freeze()  # what was read so far is kept to the end
    gc.enable()  # each call leaves cycles, and the program keeps running
    try:
        if place is None:
            running.serve_stdio(*bundles[0], log, __version__)
        else:
            if place.is_new_token:
                say_error(
                    f"bearer token for this run ({TOKEN_VARIABLE} sets a fixed one): {place.token}"
                )
            running.serve_over_http(by_path, log, __version__, place, say_error)
    finally:
        log.close()
        old = {name for one, how in bundles if how.old_names for name in one.table.old_names}
        for sentence in _ending(log, old):
            say_error(sentence)


def _state_lines(state: preflight.ServerState) -> list[str]:
    lines = [
        f"failed  {state.failure}"
        if state.failure
        else f"{'as exported' if state.is_as_exported else 'changed'}  {state.name}: "
        f"{quantity(state.tools, 'tool')}"
    ]
    for what, names in (
        ("changed", state.changed),
        ("changed, called on", state.passed),
        ("missing", state.missing),
        ("listed twice, worded differently", state.twice),
        ("new, waiting for review", state.new),
    ):
        if names:
            lines.append(f"    {what}: {', '.join(names)}")
    for what, sentences in (
        ("renamed", state.renamed),
        ("would be renamed", state.to_be_renamed),
        ("mended", state.mended),
        ("held back", state.withheld),
        ("not read", state.notes),
        ("instructions", (state.words,) if state.words else ()),
    ):
        lines += [f"    {what}: {sentence}" for sentence in sentences]
    return lines


def _beginning(bundle: bundle_routes.ServedBundle, keys: dict[str, str]) -> list[str]:
    """Sentences that the user should read before the gateway starts."""
    table = bundle.table
    lines = [
        f"{quantity(len(table.listed_routes), 'tool')} for "
        f"{quantity(len(bundle.came_in), 'original')} of {quantity(len(keys), 'server')}"
    ]
    lines += [f"server {name!r} is {key!r} in the configuration" for name, key in keys.items()]
    if bundle.withheld:
        saved = sum(len(members) - 1 for members in bundle.withheld)
        lines.append(
            f"an export with them would have {quantity(saved, 'tool')} fewer: "
            f"{quantity(len(bundle.withheld), 'accepted merge')} that only a gateway can serve"
        )
    return lines


def _oddities(bundle: bundle_routes.ServedBundle) -> list[str]:
    """Sentences on tools and texts that clients get changed, under another name, or not at all."""
    table, words = bundle.table, bundle_routes.words_of_servers(bundle).notes
    return [
        *bundle.notes,
        *(f"{name}: {sentence}" for name, sentence in words.items()),
        *(
            sentence
            for server in table.servers
            for sentence in (
                *table.renamed_of(server),
                *table.mended_of(server),
                *(f"held back: {line}" for line in table.withheld_of(server)),
            )
        ),
    ]


def _ending(log: CallLog, old_names: Collection[str]) -> list[str]:
    """A report on the calls, and on who called each of the ``old_names``."""
    counts = ", ".join(f"{number} {what}" for what, number in sorted(log.outcomes.items()))
    lines = [f"calls: {counts}"] if counts else []
    if log.unwritten:
        lines.append(f"{quantity(log.unwritten, 'call')} could not be written to the log")
    lines += [
        f"{client or NAMELESS} called the old name {name} {quantity(number, 'time')}"
        for (name, client), number in sorted(log.old_names.items())
    ]
    if old_names:
        called = len({name for name, _ in log.old_names})
        lines.append(f"{called:,} of {quantity(len(old_names), 'old name')} called")
    return lines


def _finder(
    path: Path, bundle: bundle_routes.ServedBundle, settings: Settings, usage: Path | None
) -> running.Finder:
    search = tool_search(bundle_routes.searched_tools(path, bundle), settings, usage)
    return lambda calls: ToolSearch(calls, search)

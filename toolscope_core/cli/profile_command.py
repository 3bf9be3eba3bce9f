"""The command that shows profiles, or makes a profile from an agent's requests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from getpass import getuser
from pathlib import Path
from typing import Annotated, Literal

import typer

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.isolation import read_files
from toolscope_core.catalog.relabelling import with_members
from toolscope_core.cli import options
from toolscope_core.cli.terminal import MOST_TOLD, command, progress, say
from toolscope_core.cli.usage_command import traced_requests
from toolscope_core.decisions.constraints import owners, profiles
from toolscope_core.decisions.decision_lines import decision_lines, decision_of_row, read_decisions
from toolscope_core.decisions.log import admit
from toolscope_core.decisions.profile_decisions import check_name
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.measured_toolsets import ToolsetRanker
from toolscope_core.evaluation.query_sets import Query, read_queries, with_ids
from toolscope_core.files.json_lines import write_whole
from toolscope_core.llm.embedding import encoder_and_cache
from toolscope_core.merging.analysing import analyse, plan_merge
from toolscope_core.merging.analysis import Analysis, with_owners
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.profile import Profile
from toolscope_core.model.protocols import Embedder
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.profiles import intent_cover, profile_effect
from toolscope_core.profiles.profile_tools import profile_tools
from toolscope_core.retrieval.client_search import SearchSetup
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.rps.planner import intents_by_model

ServedBy = Literal["answers", "search", "model"]
"""The methods that tell which tools serve a request."""


@dataclass(frozen=True)
class DecidedCatalog:
    """A catalog with its decisions and the resulting toolset, and the means of searching it."""

    analysis: Analysis
    log: tuple[Decision, ...]
    plan: MergePlan
    embedder: Embedder
    cache: VectorCache

    @cached_property
    def retriever(self) -> Retriever:
        """The search for tools in the toolset."""
        plan = self.plan
        tools = with_members((item.tool for item in plan.tools), plan.catalog, plan.phi)
        return Retriever(tools, self.embedder, self.cache, progress=progress())

    @cached_property
    def profiles(self) -> dict[str, Profile]:
        """The profiles in the decisions, by name."""
        return profiles(self.plan.catalog, self.log)


@command
def profile(
    catalogs: options.CatalogPaths,
    decisions: Annotated[
        Path | None, typer.Option(help="The decisions.jsonl with the profiles and the merges.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The profile to make, or to show with its tools.")
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            help="Make the profile from these requests of its agent: JSONL or CSV with `query`."
        ),
    ] = None,
    intents: Annotated[
        Path | None,
        typer.Option(
            help="Make the profile from people's requests in this log or trace, as `usage` reads "
            "it; the tools called for each are its answer."
        ),
    ] = None,
    by: Annotated[
        ServedBy,
        typer.Option(
            help="How to tell which tools serve a request: by its `gold` answers, or by a search "
            "if it has none; by the search alone; or by a model's plan."
        ),
    ] = "answers",
    per_job: Annotated[
        int,
        typer.Option(min=1, help="Number of tools that a search takes for each job of a request."),
    ] = 3,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Maximum tokens for all tools of the profile.")
    ] = None,
    resource: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A resource or template that the profile passes on, by its name in the gateway "
            "(notes+file:///a.txt); repeatable. Replaces those that the profile had.",
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A prompt that the profile passes on, in the same form (notes+greet); repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the decisions together with the one that saves the profile."),
    ] = None,
    accept: options.Accepted = "auto",
    gateway: options.WithGatewayTools = False,
    embedder: options.EmbedderName = None,
    ask: options.AskRequest = options.SAVED,
) -> None:
    """Show the profiles of agents, make the smallest one that serves a list of requests, or name
    the resources and prompts that one passes on.

    Example: toolscope profile tools.json --name desk --queries asked.jsonl --out decisions.jsonl
    """
    makes = queries is not None or intents is not None
    changes = makes or resource or prompt
    if changes and name is None:
        raise ConfigError("the profile has no name; add --name, for example --name travel-desk")
    catalog = _decided(catalogs, decisions, PlanConfig(accept, gateway), embedder)
    if name is None or not changes:
        _show(catalog, name)
        return
    tools = catalog.plan.catalog.tools
    query_set = with_ids(read_queries(queries), tools) if queries else ()
    requests = [*query_set, *(traced_requests(intents, tools) if intents else ())]
    if makes:
        needs = _needs(catalog, requests, by, per_job, ask)
        own = _smallest_profile(catalog, name, needs, budget)
    else:
        own = _saved(catalog, name)
    passed = tuple(resource or own.resources), tuple(prompt or own.prompts)
    own = replace(own, resources=passed[0], prompts=passed[1])
    _tell(catalog, own, requests)
    if out is not None:
        _write(catalog, own, out)


def _needs(
    catalog: DecidedCatalog,
    requests: Sequence[Query],
    by: ServedBy,
    per_job: int,
    ask: options.AskRequest,
) -> tuple[intent_cover.Intent, ...]:
    """The requests with the tools that serve them, according to the method ``by``."""
    if by == "model":
        return _planned_intents(catalog, requests, ask)
    searched = requests if by == "answers" else [replace(one, gold=()) for one in requests]
    return intent_cover.intents_of(
        searched, catalog.plan, lambda: catalog.retriever, per_job, False
    )


def _saved(catalog: DecidedCatalog, name: str) -> Profile:
    """The profile with this name. Raises ``ConfigError`` if there is no such profile."""
    if name in catalog.profiles:
        return catalog.profiles[name]
    names = ", ".join(catalog.profiles) or "none"
    raise ConfigError(f"there is no profile {name!r}; the profiles in the decisions are: {names}")


def _decided(
    catalogs: Sequence[Path], decisions: Path | None, config: PlanConfig, embedder: str | None
) -> DecidedCatalog:
    """The catalog in these files, with the decisions in a file."""
    catalog = read_files(catalogs)
    log = read_decisions(catalog, decisions) if decisions else ()
    encoder, cache = encoder_and_cache(embedder)
    analysis = analyse(catalog, AnalysisConfig(), encoder, cache, progress())
    analysis = with_owners(analysis, owners(catalog, log))
    return DecidedCatalog(analysis, log, plan_merge(analysis, log, config), encoder, cache)


def _planned_intents(
    catalog: DecidedCatalog, queries: Sequence[Query], ask: options.AskRequest
) -> tuple[intent_cover.Intent, ...]:
    """The requests with the tools that a model plans for each. Ends in the same way as
    ``asking``.
    """
    from toolscope_core.cli.asking import asking  # the store is loaded only if a model is asked

    with asking(ask) as (_, asker):
        return intents_by_model(queries, catalog.plan, catalog.retriever, asker, progress())


def _smallest_profile(
    catalog: DecidedCatalog, name: str, intents: Sequence[intent_cover.Intent], budget: int | None
) -> Profile:
    """A profile with the smallest set of tools for the intents; the set is reported.

    An existing profile of this name keeps its rules and texts.
    """
    costs, tools = catalog.analysis.syntheses.costs, [item.tool for item in catalog.plan.tools]
    tokens = {tool.id: costs.of(tool, PROMPT_FORMATS[0]) for tool in tools}
    servers = {tool.id: tool.owner for tool in tools}
    cover, total = intent_cover.smallest_cover(intents, tokens, budget, servers), 0
    for number, one in enumerate(cover.additions, 1):
        total += one.tokens
        say(f"{number:3}  {one.tool_id}: {one.intents:,} served, {total:,} tokens")
    if cover.too_large:
        say(f"over the budget: {', '.join(cover.too_large[:MOST_TOLD])}")
    before = catalog.profiles.get(name) or Profile(check_name(name))
    return intent_cover.with_cover(catalog.plan, before, cover)


def _write(catalog: DecidedCatalog, profile: Profile, out: Path) -> None:
    row = {**intent_cover.profile_row(catalog.plan, profile), "reviewer": getuser()}
    log = (*catalog.log, admit(catalog.log, decision_of_row(catalog.plan.catalog, row)))
    write_whole(out, decision_lines(log, catalog.plan.catalog), "--out")
    say(
        f"decisions: {out}; export the profile with merge --decisions, or serve it with serve "
        "--profile"
    )


def _show(catalog: DecidedCatalog, name: str | None) -> None:
    shown = [*catalog.profiles.values()] if name is None else [_saved(catalog, name)]
    say(f"profiles: {', '.join(catalog.profiles) or 'none'}")
    for one in shown:
        _tell(catalog, one, ())


def _tell(catalog: DecidedCatalog, profile: Profile, queries: Sequence[Query]) -> None:
    """Report the figures of a profile for the queries, which by default are the profile's intents.

    For queries with answers, the results are compared with those of the whole toolset.
    """
    queries = queries or [Query("", text) for text in profile.intents]
    intents = intent_cover.intents_of(queries, catalog.plan, lambda: catalog.retriever)
    tools, costs = profile_tools(catalog.plan, profile), catalog.analysis.syntheses.costs
    ranker = ToolsetRanker(SearchSetup(catalog.embedder, catalog.cache, RetrievalConfig()))
    effect = profile_effect.effect_lines(catalog.plan, tools, queries, ranker, costs)
    report = profile_effect.profile_report(catalog.analysis, catalog.plan, tools, intents, costs)
    report = replace(report, misses=profile_effect.misses_of(catalog.plan, tools, queries, ranker))
    for line in (*_lines(report), *effect):
        say(line)


def _lines(report: profile_effect.ProfileReport) -> Iterator[str]:
    yield f"{report.toolset.profile.name}: {profile_effect.in_words(report)}"
    for most, who in profile_effect.client_limits().items():
        over = len(report.toolset.tools) - most
        limit = f"{over:,} over the limit" if over > 0 else "within the limit"
        yield f"{who}: {limit} of {most:,}"
    for item in report.toolset.tools:
        fixed = report.toolset.fixed.get(item.tool.id)
        yield f"  {item.tool.id} as {item.tool.name}{f', fixed {dict(fixed)}' if fixed else ''}"
    own = report.toolset.profile
    yield from (f"  passes on {one}" for one in (*own.resources, *own.prompts))
    yield from (f"changed: {note}" for note in report.toolset.notes)
    for conflict in report.toolset.conflicts:
        kept = f"{conflict.kept} stays" if conflict.kept else "nobody has said which one stays"
        yield f"one job on several servers: {', '.join(conflict.tools)}; {kept}"
    yield from (f"alike: {one.pair.left}, {one.pair.right}" for one in report.confusions)
    if report.misses.requests:
        yield report.misses.in_words
    for cell, texts in report.misses.texts.items():
        yield f"  {cell.actual} ranks above {cell.expected}: {quantity(len(texts), 'request')}"
    if report.intents:
        served_intents = len(report.intents) - len(report.unserved)
        requests = quantity(len(report.intents), "request")
        yield f"tools for {served_intents:,} of {requests}; without answers by a search or a model"
    yield from (f"not served: {one.text}" for one in report.unserved)
    yield from (f"perhaps no tool does this: {i.text}" for i in report.intents if i.is_doubtful)
    if report.unasked:
        names = ", ".join(report.unasked[:MOST_TOLD])
        yield f"no request needs {quantity(len(report.unasked), 'tool')}: {names}"

"""The command that merges catalogs into a bundle."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.formats.format_table import OFFERED, PROMPT_FORMATS
from toolscope_core.catalog.scan.cleaning import hidden_in
from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.catalog.scan.scanner import scan_catalog
from toolscope_core.catalog.tokens import Costs, tokenizer
from toolscope_core.cli import options, own_files, terminal
from toolscope_core.cli.advising import some
from toolscope_core.cli.inspect_commands import FailOn, tell_files, tell_findings, why_failing
from toolscope_core.decisions.constraints import owners
from toolscope_core.export.bundle import Bundle, bundle_of
from toolscope_core.export.checked_plan import held_back
from toolscope_core.files.folders import write_folder
from toolscope_core.llm.embedding import encoder_and_cache
from toolscope_core.merging.analysing import (
    analyse,
    is_larger_gateway,
    merge_size,
    plan_merge,
    size_reason,
    unapplied_edits,
)
from toolscope_core.merging.analysis import Analysis, with_owners
from toolscope_core.merging.coverage import server_coverage
from toolscope_core.merging.former_names import with_names_of
from toolscope_core.merging.model_verdicts import ModelVerdicts
from toolscope_core.merging.server_choice import advise, switched_off, without_loss
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig, QuestionConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import ConfigError, DecisionError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import MergePlan


def _export_format(name: str) -> str:
    """The name of an export format. Raises ``typer.BadParameter`` for any other name."""
    if name not in OFFERED:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, OFFERED))}.")
    return name


@terminal.command
def merge(
    catalogs: options.CatalogPaths,
    out: Annotated[
        Path,
        typer.Option(help="Folder for the bundle; a bundle that is already there is replaced."),
    ],
    threshold: options.Threshold = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            parser=_export_format,
            metavar=f"<{'|'.join(OFFERED)}>",
            help="Format of toolset.json; default: the input's.",
        ),
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Correct or split what the format does not allow, and remove hidden characters.",
        ),
    ] = False,
    accept: options.Accepted = "auto",
    gateway: options.WithGatewayTools = False,
    decisions: Annotated[
        Path | None, typer.Option(help="A decisions.jsonl to apply, for example from a bundle.")
    ] = None,
    correct: Annotated[
        bool, typer.Option("--correct/--no-correct", help="Correct clusters (Auto-Correction).")
    ] = True,
    expanded: Annotated[
        bool,
        typer.Option(
            "--expanded", help="Write accepted document variants as the tools' descriptions."
        ),
    ] = False,
    by_server: Annotated[
        bool,
        typer.Option(
            "--by-server",
            help="First switch off servers whose calls other servers can take over completely; "
            "`inspect` says which.",
        ),
    ] = False,
    embedder: options.EmbedderName = None,
    judge: options.ChosenJudge = "offline",
    ask: options.AskRequest = options.SAVED,
    embeddings_model: Annotated[
        str | None,
        typer.Option(
            help="An embedding model of the endpoint; default: TOOLSCOPE_EMBEDDINGS_MODEL."
        ),
    ] = None,
    paper: options.AskAsPaper = False,
    documents: Annotated[
        bool,
        typer.Option(
            "--documents",
            help="Let the model write the documents of merged tools. Rejected ones are listed and "
            "replaced by those made offline.",
        ),
    ] = False,
    leave_out_refused: Annotated[
        bool,
        typer.Option(
            "--leave-out-refused",
            help="Leave out every tool that the format does not accept, and write the others.",
        ),
    ] = False,
    eager_tokens: options.EagerTokens = None,
    usage: options.CallLogs = None,
    queries: options.OwnQueries = None,
    searched_as: options.SearchedAs = "claude-bm25",
    settings: own_files.OwnFiles = None,
    on: options.EngineChoice = options.HERE,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(help="Exit with 1 if the outgoing tools have a finding this severe or worse."),
    ] = None,
) -> None:
    """Merge the tools that do the same job and write the export bundle.

    Example: toolscope merge tools.json --out bundle --format openai-chat
    """
    of_a_model = replace(ask, base_url=None).options  # embeddings may come from the same endpoint
    options.refuse_offline(
        judge, [*of_a_model, *(["paper"] if paper else []), *(["documents"] if documents else [])]
    )
    _refuse_without_budget(eager_tokens, usage or (), queries)
    files_of_client = own_files.read_own_files(settings or ())
    show = terminal.progress()
    with on.start() as engine:
        catalog = with_names_of(on.read(catalogs, engine, show), out)
        lines, of_others = _read_decisions(catalog, decisions)
        log = tuple(lines.values())
        analysis_config = AnalysisConfig(threshold)
        encoder, cache = encoder_and_cache(embedder, embeddings_model, ask.base_url)
        config = PlanConfig(accept, gateway, correct, expanded, leave_out_refused)
        analysis = with_owners(
            analyse(catalog, analysis_config, encoder, cache, show, engine), owners(catalog, log)
        )
        if judge == "llm":
            from toolscope_core.cli.asking import with_model_verdicts  # loads the store
            from toolscope_core.llm.document_answers import with_edits

            questions, document_config = QuestionConfig(paper=paper), config if documents else None
            analysis = with_model_verdicts(analysis, log, questions, ask, document_config)
            log = with_edits(analysis, log)
        log = _without_servers(analysis, log, config) if by_server else log
        plan = plan_merge(analysis, log, config)
        if eager_tokens is not None:
            from toolscope_core.cli.findability_report import with_eager_tools  # loads the search

            plan = with_eager_tools(plan, log, eager_tokens, usage or (), queries, searched_as)
        bundle = bundle_of(analysis, plan, log, config, format, fix)
        write_folder(bundle.files(), out)
    with suppress(ConfigError):  # the bundle is written; without the cache, pairs are judged again
        analysis.cached_judge.save()
    plan = bundle.plan
    outgoing = [item.tool for item in plan.tools]
    _tell_plan(plan, config, analysis.syntheses.costs)
    _tell_toolset(bundle)
    _tell_servers(plan.catalog)
    _tell_decisions(lines, of_others, unapplied_edits(plan, tuple(lines.values())), decisions)
    if analysis.model_verdicts:
        _tell_model(analysis.model_verdicts)
    of_profiles = [one for profile, _ in bundle.profiles for one in profile.findings]
    tell_findings((*hidden_in(outgoing), *of_profiles))
    for sentence in held_back(plan):
        terminal.say_error(sentence)
    terminal.say(
        f"bundle: {out}"
        f"{terminal.more(len(plan.dangling), 'dangling references', 'dangling reference')}"
    )
    own_files.tell_own_files(plan, files_of_client, out)
    if fail_on:
        findings = (*scan_catalog(outgoing, plan.outgoing_servers), *of_profiles)
        terminal.fail_for(why_failing(findings, fail_on))


def _refuse_without_budget(budget: int | None, usage: Sequence[Path], queries: Path | None) -> None:
    """Raises ``ConfigError`` for options that have no effect without a budget."""
    if budget is None and (usage or queries):
        option = "--usage" if usage else "--queries"
        raise ConfigError(f"{option} only works with --eager-tokens; add --eager-tokens too")


def _read_decisions(catalog: Catalog, file: Path | None) -> tuple[Mapping[int, Decision], int]:
    """The decisions in a file by line number, and how many of them name other tools.

    Raises ``DecisionError`` if all of them name other tools.
    """
    from toolscope_core.decisions.decision_lines import count_of_others, numbered_decisions

    lines = numbered_decisions(catalog, file) if file else {}
    of_others = count_of_others(catalog, tuple(lines.values()))
    if of_others and of_others == sum(bool(one.fingerprints) for one in lines.values()):
        raise DecisionError(
            f"no decision in {file} names a tool of this catalog (decisions read: "
            f"{len(lines):,}); use the decisions.jsonl that belongs to this catalog"
        )
    return lines, of_others


def _without_servers(
    analysis: Analysis, log: tuple[Decision, ...], config: PlanConfig
) -> tuple[Decision, ...]:
    """The log with further decisions that switch off servers whose loss costs nothing.

    These servers are reported.
    """
    clusters = plan_merge(analysis, log, config).clusters
    covered = without_loss(advise(server_coverage(analysis, clusters, log)), clusters)
    for one in covered:
        terminal.say(one.in_words.replace("Switch off", "switched off", 1))
    if not covered:
        terminal.say("no server is switched off: none can be replaced without losing something")
    return switched_off(analysis.catalog, log, covered, clusters)


def _tell_model(verdicts: ModelVerdicts) -> None:
    """Report the model's cost, how many documents it wrote, and why some documents were refused."""
    terminal.tell_spent(verdicts.judge, verdicts.costs)
    if verdicts.documents or verdicts.refused:
        refusals = terminal.more(
            len(verdicts.refused), "rejected, so the documents made offline stay"
        )
        terminal.say(f"documents: {len(verdicts.documents):,} by the model{refusals}")
    for members, why in sorted(verdicts.refused.items()):
        terminal.say(f"refused: {', '.join(members)}: {'; '.join(why)}")


def _tell_decisions(
    lines: Mapping[int, Decision], of_others: int, unapplied: Mapping[int, str], path: Path | None
) -> None:
    """Report how many decisions count, and each edit that has no effect on the toolset, with its
    line.
    """
    if len(lines) > of_others:
        unknown = terminal.more(of_others, "about tools that are not in this catalog")
        not_applied = terminal.more(len(unapplied), "edits not applied", "edit not applied")
        terminal.say(f"decisions: {len(lines) - of_others:,} of this catalog{unknown}{not_applied}")
    for number, edit in lines.items():
        if edit.seq in unapplied:
            place = f"{path}, line {number}: the edit of {', '.join(edit.ids)}"
            terminal.say_error(f"{place} is not applied: {unapplied[edit.seq]}")


def _tell_plan(plan: MergePlan, config: PlanConfig, costs: Costs) -> None:
    states = {
        state: sum(c.state == state for c in plan.clusters)
        for state in ("proposed", "stale", "conflict")
    }
    families = sum(c.state == "proposed" and c.relation == "family" for c in plan.clusters)
    among = f" ({quantity(families, 'family')})" if families else ""
    routed = sum(c.state == "accepted" for c in plan.clusters) - len(plan.applied)
    terminal.say(
        f"{quantity(len(plan.catalog.tools), 'tool')} in, {len(plan.tools):,} out; "
        f"{quantity(len(plan.applied), 'cluster')} merged"
        f"{terminal.more(routed, 'accepted that need --gateway', 'accepted that needs --gateway')}"
        f", {states['proposed']:,} proposed for review{among}"
        f"{terminal.more(states['stale'], 'to be reviewed again')}"
        f"{terminal.more(states['conflict'], 'in conflict')}"
        f"{terminal.more(len(plan.edited), 'edited')}{terminal.more(len(plan.removed), 'left out')}"
    )
    if config.accept == "all" and config.gateway:
        _tell_larger(plan, costs)


def _tell_larger(plan: MergePlan, costs: Costs) -> None:
    """Report, with reasons, the gateway tools that nobody accepted because agents would have to
    read more.
    """
    tools, format = plan.catalog.by_id, PROMPT_FORMATS[0]
    for one in plan.clusters:
        if is_larger_gateway(one, size := merge_size(one, tools, format, costs)):
            why = f"{one.document.name}, {size.in_words}: {size_reason(one, tools, size)}"
            terminal.say(f"left for you to decide: {for_terminal(why)}")


def _tell_toolset(bundle: Bundle) -> None:
    sizes = bundle.sizes
    terminal.say(f"about {sizes.formats[0].in_words} ({tokenizer().label})")
    if sizes.loading:
        eager, deferred = sizes.loading
        terminal.say(
            f"in every prompt, as {sizes.formats[-1].name}: {eager.tokens:,} tokens of "
            f"{quantity(len(bundle.plan.eager or ()), 'tool')}; deferred to the client's "
            f"search: {deferred.tokens:,}"
        )
    if len(bundle.toolsets) > 1:
        terminal.say(
            f"too many tools for one file: the toolset is split into {len(bundle.toolsets)} "
            "files by server; manifest.json lists them"
        )
    for tools, own in bundle.profiles:
        notes = len(tools.notes)
        changes = terminal.more(notes, "changes since it was saved", "change since it was saved")
        terminal.say(f"profile {tools.profile.name}: {quantity(len(own.tools), 'tool')}{changes}")


def _tell_servers(catalog: Catalog) -> None:
    implied = {tool.implied_server for tool in catalog.tools} - {""}
    tell_files(catalog)
    for label in (file.label for file in catalog.files if not file.tools):
        terminal.say(f"{label}: no tool could be read from it; `inspect` says why")
    if implied:
        terminal.say(
            f"tool names suggest {quantity(len(implied), 'server')}, {some(implied)}: nothing "
            "is merged across them without review; manifest.json lists their tools"
        )

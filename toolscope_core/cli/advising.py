"""Computes and reports which servers of a catalog are made unnecessary by the others."""

from collections.abc import Collection
from dataclasses import asdict

from toolscope_core.cli.terminal import progress, say, say_error
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.merging.analysing import analyse, plan_merge
from toolscope_core.merging.coverage import ServerCoverage, server_coverage
from toolscope_core.merging.server_choice import Advice, advise
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError, ModelError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.protocols import Engine
from toolscope_core.model.tool import JsonObject

_MOST_ADVICE = 8


def advice_on(catalog: Catalog, engine: Engine) -> Advice | None:
    """Advice on the servers that the others make unnecessary; ``None`` if ``coverage_on`` is
    ``None``.
    """
    servers = coverage_on(catalog, engine)
    return advise(servers) if servers else None


def coverage_on(catalog: Catalog, engine: Engine) -> ServerCoverage | None:
    """How much the servers cover each other, measured with the local encoder.

    ``None`` if there are fewer than two servers, or if they cannot be compared; the latter is
    reported.
    """
    if len({tool.server for tool in catalog.tools} - {""}) < 2:
        return None

    settings = read_environment()
    try:
        encoder, cache = MiniLmEmbedder(), VectorCache(settings.cache_dir)
        analysis = analyse(catalog, AnalysisConfig(), encoder, cache, progress(), engine)
    except (ConfigError, ModelError) as error:
        say_error(f"servers could not be compared: {error}")
        return None
    clusters = plan_merge(analysis, (), PlanConfig(accept="none")).clusters
    return server_coverage(analysis, clusters)


def advice_json(advice: Advice) -> JsonObject:
    return {
        "switch_off": [
            {
                "server": one.server,
                "others": list(one.others),
                "tools": one.tools,
                "does": len(one.done),
                "perhaps": len(one.perhaps_done),
                "lost": len(one.lost_tools),
                "served": [asdict(served) for served in one.served],
                "lost_tools": list(one.lost_tools),
                "tokens": one.tokens,
                "keeps": list(one.keeps),
            }
            for one in advice.switch_off
        ],
        "needless": [one.server for one in advice.needless],
        "copies": [list(group) for group in advice.copies],
    }


def tell_advice(advice: Advice) -> None:
    for server in advice.switch_off[:_MOST_ADVICE]:
        say(server.in_words)
        for sentence in server.keeps:
            say(f"    {sentence}")
    if (more := len(advice.switch_off) - _MOST_ADVICE) > 0:
        say(f"{quantity(more, 'more server')} can be switched off; --json lists them")
    if advice.needless_in_words:
        say(advice.needless_in_words)
    for group in advice.copies[:_MOST_ADVICE]:
        say(f"{len(group):,} copies of one server: {some(group)}")


def some(names: Collection[str]) -> str:
    """The first five names in sorted order, and the number of other names."""
    first = ", ".join(sorted(names)[:5])
    return f"{first} and {len(names) - 5:,} more" if len(names) > 5 else first

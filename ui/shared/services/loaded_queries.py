"""Query sets on the screen: previewed, stored with a catalog, and read again."""

from dataclasses import dataclass, replace

from toolscope_core.evaluation import query_sets
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.store.named_rows import delete_query_file, keep_query_file, list_query_files
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot

MOST_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class QuerySetView:
    """A query set, checked against a catalog.

    ``unknown`` are the names in gold answers that the catalog lacks: first tools, then servers,
    each with likely matches. ``judged`` is the number of queries with gold answers.
    """

    name: str
    at: str
    content: query_sets.QuerySet
    judged: int
    with_steps: int
    unknown: tuple[str, ...]


@kept(limit=16)
def preview(catalog: Catalog, content: bytes, name: str, at: str = "") -> QuerySetView:
    """What a file contains. Nothing is stored.

    Raises ``ConfigError`` if the file is not a query set or has no query.
    """
    if len(content) > MOST_BYTES:
        raise ConfigError(f"{name} is {len(content):,} bytes; use at most {MOST_BYTES:,} bytes")
    query_set = query_sets.queries_of(content, name)
    if not query_set.queries:
        first = query_set.problems[:1]
        why = "".join(f" (line {one.line}: {one.reason})" for one in first)
        raise ConfigError(f"{name} has no queries{why}; use JSON Lines or CSV with `query`")
    query_set = replace(query_set, queries=query_sets.with_ids(query_set.queries, catalog.tools))
    owners = {tool.owner for tool in catalog.tools}
    tools = query_sets.unknown_gold((one.gold for one in query_set.queries), catalog.by_id)
    servers = query_sets.unknown_gold((one.servers for one in query_set.queries), owners)
    return QuerySetView(
        name=name,
        at=at,
        content=query_set,
        judged=sum(bool(one.gold or one.servers) for one in query_set.queries),
        with_steps=sum(bool(one.steps) for one in query_set.queries),
        unknown=(
            *(query_sets.or_near(one, catalog.by_id) for one in sorted(tools)),
            *(query_sets.or_near(one, owners) for one in sorted(servers)),
        ),
    )


def add(snapshot: Snapshot, content: bytes, name: str) -> None:
    """Store a query set for all versions of the catalog. A set with the same name is replaced.

    Raises the errors of ``preview``.
    """
    preview(snapshot.catalog, content, name)
    keep_query_file(snapshot.work.store, snapshot.id, name, content)


@kept()
def sets(snapshot: Snapshot) -> tuple[QuerySetView, ...]:
    """The query sets of a catalog, sorted by name."""
    if not snapshot.state.query_files:
        return ()
    files = list_query_files(snapshot.work.store, snapshot.id)
    return tuple(preview(snapshot.catalog, file.content, file.name, file.at) for file in files)


def queries(snapshot: Snapshot, without: str = "") -> tuple[query_sets.Query, ...]:
    """Every query of a catalog, in the order of the query sets. The set ``without`` is left out."""
    views = (view for view in sets(snapshot) if view.name != without)
    return tuple(query for view in views for query in view.content.queries)


def delete(snapshot: Snapshot, name: str) -> None:
    """Delete a query set."""
    delete_query_file(snapshot.work.store, snapshot.id, name)


def texts(snapshot: Snapshot) -> tuple[tuple[str, str], ...]:
    """Every query of a catalog, in the order of the query sets, as the name of the set and the
    request.
    """
    return tuple(
        (view.name, query.text) for view in sets(snapshot) for query in view.content.queries
    )


def of_text(snapshot: Snapshot, text: str) -> query_sets.Query | None:
    """The first query with exactly this text. A query with gold answers is preferred."""
    twins = [one for one in queries(snapshot) if one.text.strip() == text.strip()]
    return next((one for one in twins if one.gold or one.servers), twins[0] if twins else None)

"""Query sets on the screen: previewed, kept with a catalog, read again."""

import hashlib
from dataclasses import dataclass, replace

from toolscope_core.evaluation.query_sets import (
    Query,
    QuerySet,
    or_near,
    queries_of,
    unknown_gold,
    with_ids,
)
from toolscope_core.model.errors import ConfigError
from toolscope_core.store.named_rows import delete_query_file, keep_query_file, list_query_files
from ui.shared.services.page_service import PageService

MOST_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class QuerySetView:
    """A query set against a catalog. ``unknown`` is what gold answers name and the catalog does not
    have, tools and then servers, each with what may be meant; ``judged`` counts the queries with
    gold answers.
    """

    name: str
    at: str
    content: QuerySet
    judged: int
    with_steps: int
    unknown: tuple[str, ...]


class LoadedQueries(PageService):
    """The query sets of catalogs."""

    def preview(self, catalog_id: int, content: bytes, name: str) -> QuerySetView:
        """What a file holds, without keeping it. Raises ``ConfigError`` for one that is no query
        set, or without any query.
        """
        return self._view(catalog_id, content, name, "")

    def add(self, catalog_id: int, content: bytes, name: str) -> None:
        """Keep a query set for all versions of the catalog, in place of one of this name. Raises as
        ``preview`` does.
        """
        self.preview(catalog_id, content, name)
        keep_query_file(self._store, catalog_id, name, content)

    def sets(self, catalog_id: int) -> tuple[QuerySetView, ...]:
        """The query sets of a catalog, by name."""
        return tuple(
            self._view(catalog_id, file.content, file.name, file.at)
            for file in list_query_files(self._store, catalog_id)
        )

    def queries(self, catalog_id: int, without: str = "") -> tuple[Query, ...]:
        """Every query of a catalog in the order of its sets, but those of the set ``without``."""
        sets = (view for view in self.sets(catalog_id) if view.name != without)
        return tuple(query for view in sets for query in view.content.queries)

    def delete(self, catalog_id: int, name: str) -> None:
        """Delete a query set."""
        delete_query_file(self._store, catalog_id, name)

    def texts(self, catalog_id: int) -> tuple[tuple[str, str], ...]:
        """Every query of a catalog in the order of its sets: the set's name, the request."""
        return tuple(
            (view.name, query.text)
            for view in self.sets(catalog_id)
            for query in view.content.queries
        )

    def of_text(self, catalog_id: int, text: str) -> Query | None:
        """The first query of any set that asks exactly this, with gold answers if one has."""
        same = [one for one in self.queries(catalog_id) if one.text.strip() == text.strip()]
        return next((one for one in same if one.gold or one.servers), same[0] if same else None)

    def _view(self, catalog_id: int, content: bytes, name: str, at: str) -> QuerySetView:
        key = (catalog_id, name, at, hashlib.sha256(content).hexdigest())
        return self._cached(
            ("views", key), (), lambda: self._read(catalog_id, content, name, at), most=16
        )

    def _read(self, catalog_id: int, content: bytes, name: str, at: str) -> QuerySetView:
        if len(content) > MOST_BYTES:
            raise ConfigError(
                f"{name} has {len(content):,} bytes; give a query set of at most {MOST_BYTES:,}"
            )
        queries = queries_of(content, name)
        if not queries.queries:
            first = queries.problems[:1]
            why = "".join(f" (line {one.line}: {one.reason})" for one in first)
            raise ConfigError(
                f"{name} has no queries{why}; give one JSON object a line, or CSV, with `query`"
            )
        catalog = self._catalogs.open(catalog_id)
        queries = replace(queries, queries=with_ids(queries.queries, catalog.tools))
        owners = {tool.owner for tool in catalog.tools}
        tools = unknown_gold((one.gold for one in queries.queries), catalog.by_id)
        servers = unknown_gold((one.servers for one in queries.queries), owners)
        return QuerySetView(
            name=name,
            at=at,
            content=queries,
            judged=sum(bool(one.gold or one.servers) for one in queries.queries),
            with_steps=sum(bool(one.steps) for one in queries.queries),
            unknown=(
                *(or_near(one, catalog.by_id) for one in sorted(tools)),
                *(or_near(one, owners) for one in sorted(servers)),
            ),
        )

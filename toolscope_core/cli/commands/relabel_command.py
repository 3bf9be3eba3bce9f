"""An evaluation set rewritten after a bundle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolscope_core.files.json_lines import read_rows, write_rows
from toolscope_core.merging.calls import RelabelledQuery, relabel_query
from toolscope_core.merging.relabelling import read_relabelling


@dataclass(frozen=True, slots=True)
class RelabelReport:
    """What relabelling did to each query, in order."""

    queries: tuple[RelabelledQuery, ...]

    @property
    def changed(self) -> int:
        return sum(query.changed for query in self.queries)

    @property
    def shrunk(self) -> tuple[RelabelledQuery, ...]:
        return tuple(query for query in self.queries if query.shrunk)

    @property
    def emptied(self) -> tuple[RelabelledQuery, ...]:
        return tuple(query for query in self.queries if query.emptied)

    @property
    def removed(self) -> tuple[str, ...]:
        """Ids of the tools that were asked for and left out of the toolset, sorted."""
        return tuple(sorted({name for query in self.queries for name in query.removed}))

    @property
    def lost(self) -> tuple[str, ...]:
        return tuple(name for query in self.queries for name in query.lost)

    @property
    def unknown(self) -> tuple[str, ...]:
        return tuple(sorted({name for query in self.queries for name in query.unknown}))

    @property
    def unread(self) -> int:
        """How many calls do not say which tool they call."""
        return sum(query.unread for query in self.queries)


def relabel_file(queries: Path, bundle: Path, out: Path) -> RelabelReport:
    """An evaluation set after φ and α of a bundle: as many rows, in the same order."""
    relabelling = read_relabelling(bundle)
    rows = [
        relabel_query(row, relabelling.phi, relabelling.arguments, relabelling.names)
        for _, row in read_rows(queries)
    ]
    write_rows(out, [query.row for query in rows])
    return RelabelReport(tuple(rows))

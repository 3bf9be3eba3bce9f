"""Tools that plausibly serve one request, drawn so that each tool of a catalog gets its turn.

ToolBank draws its ten tools from the whole of one library (appendix C.3). A catalog of many servers
is no such library: ten of its tools at random seldom have anything to do with each other. So a
sample is drawn around one tool, from its server and from the tools nearest to it, and a few at
random, so that requests across servers are made too.
"""

from collections.abc import Iterator, Mapping
from itertools import count as numbers
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.groups import grouped
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool

TOOLS = 10
"""T: how many tools are shown (Tool2Vec, appendix C.3)."""
WITH_OWN, WITH_NEAR = 6, 8
"""How many of them are there once its own server's are drawn, and once the nearest are too."""
NEAR = 30
"""Of so many nearest tools those from elsewhere are drawn."""
ALIKE = 0.95
"""Of two tools at this cosine only one is shown: either would do what is asked."""


def tool_samples(
    catalog: Catalog,
    vectors: Vectors,
    count: int,
    seed: int = 0,
    queries: Mapping[str, int] | None = None,
) -> tuple[tuple[Tool, ...], ...]:
    """``count`` samples of up to ten tools, each led by the tool that it was drawn around.

    ``vectors`` is float32 of shape (n, d), unit rows in the order of the tools. A tool leads again
    only when all others have led, those with the fewest ``queries`` (by id) first. The samples of a
    smaller count are the first ones of a larger. Of exact copies one is shown; tools with a *block*
    finding never are. Raises ``ConfigError`` where fewer than two tools are left.
    """
    pool = _Pool(catalog, vectors)
    if len(pool.rows) < 2:
        raise ConfigError(
            f"{len(pool.rows)} different tools can be shown to a model; queries are written about "
            "two to five tools, so give a catalog of more"
        )
    leaders = islice(pool.leaders(queries or {}, seed), count)
    return tuple(
        tuple(catalog.tools[row] for row in pool.around(leader, np.random.default_rng((seed, at))))
        for at, leader in enumerate(leaders)
    )


class _Pool:
    """The tools that can be shown, by their rows in the catalog."""

    def __init__(self, catalog: Catalog, vectors: Vectors) -> None:
        first: dict[str, int] = {}
        for row, tool in enumerate(catalog.tools):
            if tool.id not in catalog.blocked:
                first.setdefault(tool.content_hash, row)
        self.rows = np.array(sorted(first.values()), dtype=np.int64)
        self._tools, self._vectors = catalog.tools, vectors
        self._of_owner = grouped(self.rows.tolist(), lambda row: self._tools[row].owner)

    def leaders(self, queries: Mapping[str, int], seed: int) -> Iterator[int]:
        """All rows in an order drawn anew each time round; one with more queries joins later."""
        have = np.array([queries.get(self._tools[row].id, 0) for row in self.rows.tolist()])
        for turn in numbers():
            due = self.rows[have <= have.min() + turn]
            yield from np.random.default_rng((seed, turn, 1)).permutation(due).tolist()

    def around(self, leader: int, chance: np.random.Generator) -> list[int]:
        """The leader, tools of its server, tools near it, and any others, up to ``TOOLS``."""
        owner = self._tools[leader].owner
        own = self._of_owner[owner] if owner else []
        cosine = self._vectors[self.rows] @ self._vectors[leader]
        nearest = self.rows[np.argsort(-cosine, kind="stable")]
        chosen = [leader]
        for group, most in (
            (np.array(own, dtype=np.int64), WITH_OWN),
            (nearest[: NEAR + 1], WITH_NEAR),
            (self.rows, TOOLS),
        ):
            self._fill(chosen, chance.permutation(group), most)
        if len(chosen) == 1:  # all others are like it
            chosen += [int(row) for row in nearest if row != leader][: TOOLS - 1]
        return chosen

    def _fill(self, chosen: list[int], group: NDArray[np.int64], most: int) -> None:
        for row in group.tolist():
            if len(chosen) >= most:
                return
            if row not in chosen and (self._vectors[chosen] @ self._vectors[row]).max() < ALIKE:
                chosen.append(row)

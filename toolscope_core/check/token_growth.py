"""How many tokens the tools cost before and now: in every shape of a prompt, by server."""

from collections import Counter
from dataclasses import dataclass

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import Costs, tokenizer
from toolscope_core.model.catalog import Catalog


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens before and now of what ``name`` says: a shape, or a server (empty for none)."""

    name: str
    before: int
    now: int

    @property
    def growth(self) -> int:
        return self.now - self.before


@dataclass(frozen=True, slots=True)
class TokenGrowth:
    """Tokens of the whole catalog by shape, the one that totals are given in first, and in that
    shape by server, sorted; ``counted`` says whether they are estimates.
    """

    shapes: tuple[TokenCount, ...]
    servers: tuple[TokenCount, ...]
    counted: str

    @property
    def total(self) -> TokenCount:
        return self.shapes[0]


def token_growth(old: Catalog, new: Catalog) -> TokenGrowth:
    """The tokens of both catalogs; a tool that is in both is counted once."""
    costs = Costs()

    def of(catalog: Catalog, shape: str) -> Counter[str]:
        by_server: Counter[str] = Counter()
        for tool in catalog.tools:
            by_server[tool.server] += costs.of(tool, shape)
        return by_server

    shapes = [(shape, of(old, shape), of(new, shape)) for shape in PROMPT_SHAPES]
    _, before, now = shapes[0]
    return TokenGrowth(
        tuple(TokenCount(shape, a.total(), b.total()) for shape, a, b in shapes),
        tuple(TokenCount(name, before[name], now[name]) for name in sorted(before | now)),
        tokenizer().label,
    )

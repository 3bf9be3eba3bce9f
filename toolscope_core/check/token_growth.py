"""What the tools take before and now: in every shape of a prompt, by server; and limits on it."""

import re
from collections import defaultdict
from dataclasses import dataclass

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import KILO, Costs, SizeChange, tokenizer
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool

_LIMIT = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*(%|kB|tokens|)")


@dataclass(frozen=True, slots=True)
class GrowthLimit:
    """At most so much ``more``: percent of the tokens, kB, or tokens by number."""

    more: float
    unit: str

    @property
    def in_words(self) -> str:
        return f"{self.more:,.10g} {self.unit or 'tokens'}"

    def is_kept(self, change: SizeChange) -> bool:
        if self.unit == "kB":
            return change.after.bytes - change.before.bytes <= self.more * KILO
        share = change.before.tokens / 100 if self.unit == "%" else 1
        return change.added <= self.more * share


def growth_limit(text: str) -> GrowthLimit:
    """The limit as it is typed: ``500``, ``5%`` or ``2kB``. Raises ``ConfigError``."""
    match = _LIMIT.fullmatch(text.strip())
    if match is None:
        raise ConfigError(
            f"--max-growth is {text!r}; give tokens (500), percent (5%) or kilobytes (2kB)"
        )
    return GrowthLimit(float(match[1]), match[2])


@dataclass(frozen=True, slots=True)
class TokenGrowth:
    """The whole catalog by shape, the one that totals are given in first, and in that shape by
    server, sorted; ``counted`` says whether tokens are estimates.
    """

    shapes: tuple[SizeChange, ...]
    servers: tuple[SizeChange, ...]
    counted: str

    @property
    def total(self) -> SizeChange:
        return self.shapes[0]


def token_growth(old: Catalog, new: Catalog) -> TokenGrowth:
    """The sizes of both catalogs; a tool that is in both is counted once."""
    costs = Costs()
    by_server: defaultdict[str, tuple[list[Tool], list[Tool]]] = defaultdict(lambda: ([], []))
    for side, catalog in enumerate((old, new)):
        for tool in catalog.tools:
            by_server[tool.server][side].append(tool)
    return TokenGrowth(
        tuple(costs.change(old.tools, new.tools, shape) for shape in PROMPT_SHAPES),
        tuple(
            SizeChange(name, change.before, change.after)
            for name, tools in sorted(by_server.items())
            for change in [costs.change(*tools, PROMPT_SHAPES[0])]
        ),
        tokenizer().label,
    )

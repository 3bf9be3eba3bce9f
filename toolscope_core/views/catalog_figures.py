"""A catalog in figures, as it is and as a merge would leave it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CatalogFigures:
    """A catalog in numbers; ``counted`` says whether ``tokens`` is an estimate, ``blocked`` counts
    tools with a *block* finding, ``problems`` the records that could not be read.
    """

    tools: int
    servers: int
    tokens: int
    blocked: int
    problems: int
    counted: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """What merging brings: clusters found, those that wait for a person, and tools and
    tokens left once the decided and the safe ones are merged.
    """

    clusters: int
    waiting: int
    tools_after: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class Closest:
    """The two nearest tools of a catalog, by name, and their cosine."""

    left: str
    right: str
    similarity: float

"""The address of a pair on the Overlap page of an app that others reach."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from toolscope_core.model.address_keys import pair_key
from toolscope_core.model.environment import origin_of
from toolscope_core.model.pair import Pair


@dataclass(frozen=True, slots=True)
class AppPlace:
    """Where the app is, and the name that the catalog has there. Raises ``ConfigError`` for what is
    no http address.
    """

    url: str
    catalog: str

    def __post_init__(self) -> None:
        origin_of(self.url)

    def address(self, pair: Pair) -> str:
        """The address of the pair; no text of a catalog but its own name, encoded, is in it."""
        query = urlencode({"catalog": self.catalog, "pair": pair_key(pair)}, errors="replace")
        return f"{quote(self.url.rstrip('/'), safe=':/[]@%')}/overlap?{query}"

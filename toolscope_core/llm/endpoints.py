"""The endpoint to ask, saved in the store without its key, and the prices of models."""

import ipaddress
from collections.abc import Mapping
from dataclasses import asdict, replace
from urllib.parse import urlsplit

from toolscope_core.llm.chat import Connection, check_connection
from toolscope_core.model.configuration import Budget, Endpoint, Prices
from toolscope_core.model.environment import ApiKey, Settings, key_for
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject
from toolscope_core.store.engine import Store, rebuilt
from toolscope_core.store.stored_state import ENDPOINT, setting_as, write_setting

PRICES = "prices"


class Endpoints:
    """The endpoint of a store: the saved one, or else the one from the environment."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store

    def get(self) -> Endpoint | None:
        """The endpoint; ``None`` if none was chosen."""
        endpoint = setting_as(self._store, ENDPOINT, _endpoint)
        base_url, model = self._settings.base_url, self._settings.model
        if endpoint is None and base_url and model:
            endpoint = Endpoint(base_url, model)
        return endpoint and self.priced(endpoint)

    def save(self, endpoint: Endpoint) -> None:
        """Save the endpoint to ask from now on, without its key.

        If it has prices, they go into the price table.
        """
        row = asdict(endpoint)
        del row["prices"]
        write_setting(self._store, ENDPOINT, row)
        if endpoint.prices:
            self.save_prices({**self.prices(), endpoint.model: endpoint.prices})

    def prices(self) -> dict[str, Prices]:
        """The price table, by the endpoint's name for the model."""
        return setting_as(self._store, PRICES, _price_table) or {}

    def save_prices(self, table: Mapping[str, Prices]) -> None:
        """Replace the price table."""
        rows = {model: asdict(prices) for model, prices in table.items()}
        write_setting(self._store, PRICES, rows)

    def priced(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with its model's prices from the table."""
        return replace(endpoint, prices=self.prices().get(endpoint.model))

    def forget(self) -> None:
        """Return to the environment's endpoint, if it names one."""
        write_setting(self._store, ENDPOINT, None)

    def test(self, endpoint: Endpoint | None = None) -> Connection:
        """Ask one small question of an endpoint, saved or not. This costs a call or two."""
        endpoint = endpoint or self.required()
        return check_connection(endpoint, self.key(endpoint))

    def required(self) -> Endpoint:
        """The endpoint. Raises ``ConfigError`` if there is none."""
        endpoint = self.get()
        if endpoint is None:
            raise ConfigError(
                "no model is chosen; set its address and name on the Settings page, or in "
                "TOOLSCOPE_BASE_URL and TOOLSCOPE_MODEL"
            )
        return endpoint

    def key(self, endpoint: Endpoint) -> ApiKey:
        """The key for the endpoint's origin; if there is none, a key with an empty secret."""
        return key_for(endpoint.origin, self._settings.keys)


def on_this_machine(origin: str) -> bool:
    """Whether an origin is a loopback address, where models need no key."""
    host = urlsplit(origin).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _endpoint(saved: JsonObject) -> Endpoint:
    return rebuilt(Endpoint, {**saved, "budget": rebuilt(Budget, saved["budget"])})


def _price_table(saved: JsonObject) -> dict[str, Prices]:
    return {model: rebuilt(Prices, row) for model, row in saved.items()}

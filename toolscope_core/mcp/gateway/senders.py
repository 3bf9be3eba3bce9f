"""What a server sends beside its results, on its way to the agent's client: it says whose it is,
leads to no address but one of the web, and shows nothing that a profile fixes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from mcp import MCPError
from mcp_types import INVALID_PARAMS, URL_ELICITATION_REQUIRED

from toolscope_core.catalog.scan.hidden import for_agent, for_terminal
from toolscope_core.mcp.gateway.preset_values import NOTHING_FIXED, FixedValues
from toolscope_core.model.tool import JsonObject, with_texts

ELICITATION, SAMPLING = "elicitation/create", "sampling/createMessage"
ASKER = "toolscope/server"
"""Under this name the ``_meta`` of a request says which server asks."""


@dataclass(frozen=True, slots=True)
class Sender:
    """A server by its name in the catalog, and what no message of it may show."""

    name: str
    fixed: FixedValues = NOTHING_FIXED

    def request(self, method: str, params: JsonObject) -> JsonObject:
        """The parameters of what it asks: a person reads its name in the message of an elicitation,
        and before the prompt of a sampling.

        Raises ``MCPError`` for an address that is not one of the web.
        """
        if method == SAMPLING:
            params = self._shown(params)
            own = params.get("systemPrompt")
            prompt = own if isinstance(own, str) else ""
            who = f"The server {for_terminal(self.name)} asks this, not the user.\n\n"
            params = {**params, "systemPrompt": f"{who}{prompt}".rstrip()}
        elif method == ELICITATION:
            if "url" in params or params.get("mode") == "url":
                self._check(params.get("url"))
            params = self._shown(params)
            # one paragraph: what follows a line break could pass for another server's
            message = " ".join(str(params.get("message") or "").split())
            params = {**params, "message": f"{for_terminal(self.name)} asks: {message}"}
        else:
            return params
        meta = params.get("_meta")
        return {**params, "_meta": {**(meta if isinstance(meta, dict) else {}), ASKER: self.name}}

    def result(self, result: JsonObject) -> dict[str, Any]:
        """A result as it came; but one that is an error without what is fixed, and what it asks for
        as ``request`` has it.
        """
        if result.get("isError"):
            return {**self.fixed.cut_all(result), "isError": True}
        asked = result.get("inputRequests")
        if result.get("resultType") != "input_required" or not isinstance(asked, dict):
            return dict(result)
        return {**result, "inputRequests": {key: self._asked(one) for key, one in asked.items()}}

    def error(self, error: Exception) -> Exception:
        """What it failed with, as far as it may be shown."""
        error = self.fixed.cut_error(error)
        if not isinstance(error, MCPError) or error.error.code != URL_ELICITATION_REQUIRED:
            return error
        data = error.error.data if isinstance(error.error.data, dict) else {}
        try:
            asked = [
                self.request(ELICITATION, {"mode": "url", **one})
                for one in _listed(data.get("elicitations"))
                if isinstance(one, dict)
            ]
        except MCPError as refused:
            return refused
        return MCPError(error.error.code, error.error.message, {**data, "elicitations": asked})

    def _shown(self, params: JsonObject) -> JsonObject:
        """Each text without what is fixed, and with nothing hidden in it."""
        shown: JsonObject = with_texts(self.fixed.cut_all(params), for_agent)
        return shown

    def _asked(self, request: Any) -> Any:
        if not isinstance(request, dict) or not isinstance(request.get("params"), dict):
            return request
        return {**request, "params": self.request(str(request.get("method")), request["params"])}

    def _check(self, url: Any) -> None:
        try:
            parts = urlsplit(url) if isinstance(url, str) and url.isprintable() else urlsplit("")
            is_of_web = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_of_web = False
        if isinstance(url, str) and self.fixed.cut(url) != url:
            raise MCPError(
                INVALID_PARAMS,
                f"{for_terminal(self.name)} wants its user to open an address that holds what a "
                "profile fixes; it is not passed on",
            )
        if not is_of_web or parts.username is not None or set(url) & set(" \\"):
            raise MCPError(
                INVALID_PARAMS,
                f"{for_terminal(self.name)} wants its user to open {ascii(url)[:200]}; only http "
                "and https addresses without a user name in them are passed on",
            )


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []

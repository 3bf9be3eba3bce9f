"""The listings of a server as it sent them, with the fields that the SDK does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream
    from mcp.shared.message import SessionMessage


class RawPages:
    """A stream of messages that passes everything on and keeps the last page of tools.

    The SDK's models drop unknown fields, and refuse a page for one bad record; both are for the
    reader of catalogs to judge.
    """

    def __init__(self, inner: ReadStream[SessionMessage | Exception]) -> None:
        self._inner = inner
        self.last: dict[str, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        """What else the SDK looks for: how to close it, the sender's context."""
        return getattr(self._inner, name)

    async def receive(self) -> SessionMessage | Exception:
        return self._seen(await self._inner.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._seen(await self._inner.__anext__())

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self._inner.__aexit__(*error)

    def _seen(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        result = None if isinstance(item, Exception) else getattr(item.message, "result", None)
        is_call = isinstance(result, dict) and "content" in result  # it may have any field
        if isinstance(result, dict) and not is_call and isinstance(result.get("tools"), list):
            self.last = result
        return item

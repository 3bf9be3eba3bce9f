"""The listings of a server as it sent them, with the fields that the SDK does not know."""

from __future__ import annotations

import contextvars
from types import TracebackType
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

    @property
    def last_context(self) -> contextvars.Context | None:
        """The sender's context, which the SDK looks for here."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return self._seen(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    def close(self) -> None:
        close = getattr(self._inner, "close", None)
        if close is not None:
            close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._seen(await self._inner.__anext__())

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

    def _seen(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        result = None if isinstance(item, Exception) else getattr(item.message, "result", None)
        is_call = isinstance(result, dict) and "content" in result  # it may have any field
        if isinstance(result, dict) and not is_call and isinstance(result.get("tools"), list):
            self.last = result
        return item

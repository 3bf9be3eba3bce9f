"""TOML as a JSON value: dates as text, numbers that JSON lacks as flaws."""

import math
import tomllib
from typing import Any

from toolscope_core.catalog.flaws import TOO_DEEP, Flaw


def read_toml(text: str) -> Any:
    """The document of a TOML text; a ``Flaw`` where it is none."""
    try:
        return _plain(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        return Flaw(f"is not TOML: {error}; correct it or export it again")
    except RecursionError:
        return Flaw(TOO_DEEP)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in sorted(value.items())}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return Flaw(f"is {value}, which JSON does not have")
    return value if isinstance(value, (str, int, float)) else str(value)

"""What stands for a tool or a pair in an address."""

from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import digest


def tool_key(tool_id: str) -> str:
    """What stands for a tool in an address: a hash of its id, so that no text of a catalog gets
    there.
    """
    return digest(tool_id)[:12]


def pair_key(pair: Pair) -> str:
    """What stands for a pair in an address: the keys of both tools."""
    return f"{tool_key(pair.left)}~{tool_key(pair.right)}"

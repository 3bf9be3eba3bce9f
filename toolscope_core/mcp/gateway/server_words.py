"""What the servers say of themselves, joined for the agent: cleaned, fairly cut, all of it said."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolscope_core.catalog.scan.hidden import cleaned, visible
from toolscope_core.mcp.gateway.bundle_routes import ServedBundle
from toolscope_core.model.numbers import quantity

MOST_BYTES = 2_000
"""Clients cut instructions at 2 KB, wherever that falls."""
FEWEST_BYTES = 60
"""A share that is smaller tells an agent nothing."""
NOTE_BYTES = 80
"""Room for the sentence on servers whose words are not there."""


@dataclass(frozen=True, slots=True)
class ServerWords:
    """The instructions of a gateway; ``notes`` say by server, in a sentence, what of its words is
    not in them.
    """

    text: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


def server_words(bundle: ServedBundle) -> ServerWords:
    """The words of the servers that calls may reach, at most ``MOST_BYTES`` in UTF-8. Each gets a
    fair share, and what short ones do not need the others have. Blocked words are left out.
    """
    blocking = [one for one in bundle.catalog.findings if one.severity == "block" and one.server]
    blocked = {one.server: one.message for one in blocking[::-1]}
    reached, notes, texts = set(bundle.table.servers), dict[str, str](), dict[str, str]()
    for server in bundle.catalog.servers:
        if server.description.strip() and server.name in reached:
            if server.name in blocked:
                notes[server.name] = f"its words are left out: {blocked[server.name]}"
            else:
                texts[server.name] = _paragraph(server.name, server.description)
    sizes = {name: len(text.encode()) for name, text in texts.items()}
    most = MOST_BYTES - (NOTE_BYTES if notes or sum(sizes.values()) > MOST_BYTES else 0)
    shown = _with_room(sizes, most)
    for name in sizes.keys() - shown.keys():
        notes[name] = "its words are left out: there is no room for those of so many servers"
    lines = []
    for name, room in shown.items():
        if room < sizes[name]:
            notes[name] = f"its words are cut: {sizes[name]:,} bytes, {room:,} of them have room"
        lines.append(_cut(texts[name], room))
    if left := notes.keys() - shown.keys():
        lines.append(f"[The words of {quantity(len(left), 'server')} are left out.]")
    return ServerWords("\n\n".join(lines), notes)


def _paragraph(name: str, description: str) -> str:
    """The words under the server's name; a paragraph of them cannot pass for another server's."""
    lines = cleaned(description).replace("\r", "\n").split("\n")
    text = "\n  ".join(line for line in map(str.strip, lines) if line)
    return f"{' '.join(visible(name).split())}: {text}"


def _with_room(sizes: Mapping[str, int], most: int) -> dict[str, int]:
    """The bytes for each server, in their order, with two between them; none for those that
    together would leave less than ``FEWEST_BYTES`` to each.
    """
    named, needed = list[str](), 0
    for name, size in sizes.items():
        needed += min(size, FEWEST_BYTES) + 2
        if needed > most:
            break
        named.append(name)
    rooms, left = dict[str, int](), most - 2 * len(named)
    for number, name in enumerate(sorted(named, key=lambda one: (sizes[one], one))):
        rooms[name] = min(sizes[name], left // (len(named) - number))
        left -= rooms[name]
    return {name: rooms[name] for name in named}


def _cut(text: str, room: int) -> str:
    """The text in at most so many bytes, with how much of it is missing."""
    whole = text.encode()
    if len(whole) <= room:
        return text
    mark = f"… [{len(whole) - room:,} bytes more]"
    kept = whole[: room - len(mark.encode())].decode("utf-8", "ignore").rstrip()
    return f"{kept}{mark}"

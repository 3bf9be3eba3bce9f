"""Implied servers on the screen: which there are, and people's changes to them."""

from collections.abc import Sequence

from toolscope_core.judging.implied_servers import present_servers
from toolscope_core.model.catalog import ImpliedServer
from toolscope_core.model.decision import Decision
from ui.shared.kept import kept
from ui.shared.services import review
from ui.shared.snapshot import Snapshot


@kept()
def of(snapshot: Snapshot) -> tuple[ImpliedServer, ...]:
    """The implied servers as the judge uses them, by name, each with the reason."""
    return present_servers(snapshot.catalog.tools, snapshot.owners)


def change(snapshot: Snapshot, ids: Sequence[str], owner: str, reviewer: str) -> Decision:
    """Count these tools as those of ``owner``, or of none where it is empty: all of a server
    renames or dismisses it, some of them split it. Raises ``DecisionError``.
    """
    return review.say(snapshot, "owner", ids, reviewer, {"owner": owner.strip()})

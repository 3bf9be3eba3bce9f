"""Implied servers on the screen: which there are, and people's changes to them."""

from collections.abc import Sequence

from toolscope_core.judging.implied_servers import present_servers
from toolscope_core.model.catalog import ImpliedServer
from toolscope_core.model.decision import Decision
from ui.shared.services.page_service import PageService


class ImpliedServers(PageService):
    """The servers that names imply in a catalog, with the changes that were decided."""

    def of(self, catalog_id: int) -> tuple[ImpliedServer, ...]:
        """The implied servers as the judge uses them, by name, each with the reason."""
        chosen = self._analyses.chosen_owners(catalog_id)
        return self._cached(
            ("servers", catalog_id),
            (),
            lambda: present_servers(self._catalogs.open(catalog_id).tools, chosen),
            state=chosen,
        )

    def change(self, catalog_id: int, ids: Sequence[str], owner: str, reviewer: str) -> Decision:
        """Count these tools as those of ``owner``, or of none where it is empty: all of a server
        renames or dismisses it, some of them split it. Raises ``DecisionError``.
        """
        return self._review.say(catalog_id, "owner", ids, reviewer, {"owner": owner.strip()})

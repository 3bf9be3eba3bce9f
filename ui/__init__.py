"""Parts of the screen, grouped by purpose; a page combines them.

Nothing here computes: a part calls one method of the workspace and draws the result.
"""

PAGES = {
    "catalog": "inventory_2",
    "overlap": "join_inner",
    "graph": "hub",
    "review": "rule",
    "documents": "edit_note",
    "profiles": "badge",
    "export": "ios_share",
    "retrieval": "search",
    "evaluation": "query_stats",
    "history": "history",
    "settings": "settings",
}
"""Each page with its icon, in the order of the menu."""

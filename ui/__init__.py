"""Parts of the screen, grouped by purpose. A page combines them.

Nothing is computed here: each part calls one method of the workspace and draws the result.
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
"""The icon of each page, in the order of the menu."""

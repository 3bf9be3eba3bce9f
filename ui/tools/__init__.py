"""One tool: in full in the drawer, left out of the toolset."""

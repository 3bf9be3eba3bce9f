"""What every page stands in: sidebar, current catalog, the selection, safe text."""

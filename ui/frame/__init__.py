"""What every page shares: sidebar, current catalog, the selection, safe text."""

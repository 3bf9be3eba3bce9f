"""The merge graph and its table of clusters."""

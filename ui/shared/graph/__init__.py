"""The merge graph of a cluster, on any page; lines and dots as vis-network draws them."""

FEWEST = 3
"""Of fewer tools nothing is drawn: two have one link."""

"""The merge graph of a cluster, on any page; edges and nodes as vis-network draws them."""

FEWEST = 3
"""Of fewer tools nothing is drawn: two have one link."""

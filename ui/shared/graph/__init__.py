"""The merge graph of a cluster, on any page; edges and nodes as vis-network draws them."""

FEWEST = 3
"""Smaller clusters are not drawn: two tools have one link."""

"""The merge graph of a cluster, for any page. vis-network draws its nodes and edges."""

FEWEST = 3
"""Smaller clusters are not drawn, because two tools have only one link."""

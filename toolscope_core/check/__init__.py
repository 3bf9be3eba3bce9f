"""Finds what is new in a catalog, compared with a catalog or bundle that was accepted before."""

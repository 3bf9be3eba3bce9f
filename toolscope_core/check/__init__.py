"""Finds what is new in a catalog compared with one or a bundle that was accepted before."""

"""Reads, names, scans and writes tool catalogs in their native formats, and counts their tokens."""

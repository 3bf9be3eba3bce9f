"""What changed between two versions of a catalog, and which changes break callers."""

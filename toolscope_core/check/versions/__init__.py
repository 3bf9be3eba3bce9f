"""The changes between two versions of a catalog, and which of them break callers."""

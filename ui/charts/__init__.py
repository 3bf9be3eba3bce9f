"""Charts of a catalog, each with its table and its downloads."""

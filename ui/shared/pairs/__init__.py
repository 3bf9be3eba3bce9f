"""A pair of tools on the pages."""

"""A pair of tools as pages show it."""

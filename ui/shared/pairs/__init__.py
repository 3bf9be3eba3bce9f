"""A pair of tools, as several pages show it."""

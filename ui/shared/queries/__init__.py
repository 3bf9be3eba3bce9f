"""Queries and what was measured with them, as several pages show it."""

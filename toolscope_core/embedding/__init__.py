"""Vectors of tools: encoders, their cache, neighbours and two-dimensional maps."""

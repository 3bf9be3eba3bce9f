"""Vectors of tools: encoders, their cache, neighbours and pictures in two dimensions."""

"""Encoders that are trained here, on the CPU: with ``providers`` all that imports torch."""

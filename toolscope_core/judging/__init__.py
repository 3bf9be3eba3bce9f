"""Decides whether two tools do the same job: tools as words, signals, and the judge."""

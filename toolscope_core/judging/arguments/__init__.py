"""Matches the arguments of one tool with those of another."""

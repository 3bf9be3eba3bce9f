"""Checks whether two tools answer the same calls alike.

It writes calls, sends them to both tools and compares the results.
"""
